// Compiling and loading ahead: kernels of descriptions, deferred plans and specs by name, in
// parallel, while the caller's thread reports progress and may cancel.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/capi/Attention.h"
#include "runtime/capi/Call.h"
#include "runtime/dispatch/RowKernel.h"

namespace wavesmith::capi {
namespace {

constexpr std::uint32_t kMaxThreads = 64, kDefaultThreads = 8;
constexpr std::uint64_t kMaxItems = 1 << 20;
constexpr std::chrono::milliseconds kReportEvery{500};

void addOnce(std::vector<KernelSpec> &specs, const KernelSpec &spec) {
  if (std::ranges::find(specs, spec) == specs.end())
    specs.push_back(spec);
}

/// An attention kernel with its variant for split keys and the merge that goes with it.
void addAttention(std::vector<KernelSpec> &specs, const KernelSpec &spec, std::int32_t splits) {
  addOnce(specs, spec);
  if (splits == 1)
    return;
  KernelSpec split = spec;
  split.attention.splitKv = true;
  addOnce(specs, split);
  addOnce(specs, combineSpec(spec.target, spec.attention));
}

/// What calls of this kind may need, whatever their lengths and whatever the policy says of them.
Status addKernelsOf(const Context &context, const wavesmith_attention *given,
                    std::vector<KernelSpec> &specs) {
  wavesmith_attention attention;
  WAVESMITH_TRY(readAttention(given, attention));
  WAVESMITH_ASSIGN(DispatchRequest request, requestOf(attention, context));
  if (request.path != policy::Path::Fp8 || request.problem.dtype == DType::FP8) {
    AttentionProblem plain = request.problem;
    if (plain.dtype != DType::FP8)
      plain.sharedDescales = {};
    WAVESMITH_ASSIGN(const CheckedProblem checked, checkProblem(plain));
    const bool onDevice = attention.lengths == WAVESMITH_LENGTHS_ON_DEVICE;
    addAttention(specs, checked.spec, onDevice ? 1 : attention.splits);
    if (onDevice)
      addOnce(specs, workListSpec(plain.target));
  }
  if (request.path == policy::Path::Bf16 || !request.quantization)
    return Status::ok();
  // Any lengths will do: those of the smallest call give the kernels of all.
  request.problem.lengths = {{1, 1}};
  request.path = policy::Path::Fp8;
  WAVESMITH_ASSIGN(const Decisions decisions, context.decide(request));
  WAVESMITH_ASSIGN(const DispatchPlan plan, planDispatch(request, decisions, {.splits = 1}));
  for (const KernelSpec &spec : plan.list().kernels())
    if (spec.isRowKernel())
      addOnce(specs, spec);
    else
      addAttention(specs, spec, attention.splits);
  return Status::ok();
}

/// The kernels that are still to be had, taken by several threads.
class Work {
public:
  Work(Device &device, std::vector<KernelSpec> specs) : device_(device), specs_(std::move(specs)) {}

  /// One thread's part: until nothing is left, something failed or it was cancelled.
  void run() noexcept {
    for (;;) {
      std::size_t mine = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopped_ || next_ == specs_.size())
          break;
        mine = next_++;
      }
      Status status;
      std::string name;
      try {
        const auto kernel = device_.kernel(specs_[mine]);
        status = kernel.status();
        if (kernel)
          name = kernel->kernel->info().name;
      } catch (const std::exception &exception) {
        status = Status(StatusCode::ResourceExhausted, exception.what());
      }
      const std::lock_guard lock(mutex_);
      if (status.isOk()) {
        ++done_;
        last_ = std::move(name);
      } else if (failure_.isOk()) {
        failure_ = std::move(status);
        stopped_ = true;
      }
      changed_.notify_all();
    }
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }

  /// The first report, before any work.
  Status begin(const wavesmith_prepare_options &options) {
    return report(options, 0, "") || specs_.empty() ? Status::ok() : cancelled();
  }

  /// Reports until `threads` have ended.
  Status wait(std::size_t threads, const wavesmith_prepare_options &options) {
    std::size_t reported = 0; // by begin()
    bool goesOn = true;
    std::unique_lock lock(mutex_);
    for (bool ended = false; !ended;) {
      changed_.wait_for(lock, kReportEvery, [&] { return done_ != reported || ended_ == threads; });
      ended = ended_ == threads;
      const std::size_t done = done_;
      if (goesOn && !(ended && reported == done)) {
        const std::string kernel = last_;
        lock.unlock();
        goesOn = report(options, done, kernel);
        lock.lock();
        stopped_ = stopped_ || !goesOn;
      }
      reported = done;
    }
    if (!failure_.isOk())
      return failure_;
    return goesOn || done_ == specs_.size() ? Status::ok() : cancelled();
  }

private:
  /// False when the caller wants no more.
  bool report(const wavesmith_prepare_options &options, std::size_t done,
              const std::string &kernel) const {
    if (!options.progress)
      return true;
    wavesmith_progress progress{};
    progress.size = sizeof progress;
    progress.done = static_cast<std::uint32_t>(done);
    progress.total = static_cast<std::uint32_t>(specs_.size());
    progress.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    progress.kernel = kernel.c_str();
    return options.progress(options.user, &progress) == 0;
  }
  Status cancelled() const {
    return error(StatusCode::Cancelled, "cancelled when {} of {} kernels were ready", done_,
                 specs_.size());
  }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Device &device_;
  const std::vector<KernelSpec> specs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, done_ = 0, ended_ = 0;
  bool stopped_ = false;
  std::string last_;
  Status failure_;
};

Status checkList(const void *list, std::uint64_t count, std::string_view name) {
  if (count > kMaxItems)
    return error(StatusCode::InvalidArgument, "{} has {} entries; at most {}", name, count,
                 kMaxItems);
  if (count > 0 && !list)
    return isNull(name);
  return Status::ok();
}

Status prepare(const Context &context, const wavesmith_prepare_options &options) {
  WAVESMITH_TRY(checkList(options.attentions, options.attention_count, "attentions"));
  WAVESMITH_TRY(checkList(options.plans, options.plan_count, "plans"));
  WAVESMITH_TRY(checkList(options.specs, options.spec_count, "specs"));
  if (options.threads > kMaxThreads || options.reserved != 0)
    return error(StatusCode::InvalidArgument, "threads is {}, reserved {}; want 0 to {}, and 0",
                 options.threads, options.reserved, kMaxThreads);

  std::vector<KernelSpec> specs;
  for (std::uint64_t i = 0; i < options.attention_count; ++i)
    if (const Status status = addKernelsOf(context, options.attentions[i], specs); !status.isOk())
      return status.withContext(fmt::format("attentions[{}]", i));
  std::vector<HandleTable<Plan>::Use> deferred;
  for (std::uint64_t i = 0; i < options.plan_count; ++i) {
    Expected<HandleTable<Plan>::Use> plan = use(options.plans[i]);
    if (!plan)
      return plan.status().withContext(fmt::format("plans[{}]", i));
    if (&(*plan)->device() != context.device.get())
      return error(StatusCode::InvalidArgument, "plans[{}] is of another context", i);
    for (const KernelSpec &spec : (*plan)->kernels())
      addOnce(specs, spec);
    deferred.push_back(*std::move(plan));
  }
  for (std::uint64_t i = 0; i < options.spec_count; ++i) {
    if (!options.specs[i])
      return isNull(fmt::format("specs[{}]", i));
    const Expected<KernelSpec> spec = KernelSpec::parse(options.specs[i]);
    if (!spec)
      return spec.status().withContext(fmt::format("specs[{}]", i));
    if (spec->target != context.device->info().target)
      return error(StatusCode::InvalidArgument, "specs[{}] is for {}, the device is a {}", i,
                   spec->target, context.device->info().target);
    addOnce(specs, *spec);
  }

  const std::uint32_t cpus = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t threads = std::min<std::size_t>(
      specs.size(), options.threads ? options.threads : std::min(cpus, kDefaultThreads));
  Work work(*context.device, std::move(specs));
  WAVESMITH_TRY(work.begin(options));
  std::vector<std::jthread> pool;
  Status waited;
  try {
    while (pool.size() < threads)
      pool.emplace_back([&] { work.run(); });
  } catch (const std::system_error &) {
    // No further thread is to be had: those that are there do the work, or this one.
    if (pool.empty()) {
      work.run();
      return work.wait(1, options);
    }
  }
  waited = work.wait(pool.size(), options);
  pool.clear();
  WAVESMITH_TRY(waited);
  for (const HandleTable<Plan>::Use &plan : deferred)
    WAVESMITH_TRY(plan->makeReady());
  return Status::ok();
}

} // namespace
} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_prepare(wavesmith_context context,
                                   const wavesmith_prepare_options *options) {
  return call("wavesmith_prepare", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    wavesmith_prepare_options given;
    WAVESMITH_TRY(
        readStruct(options, given, offsetof(wavesmith_prepare_options, plans), "options"));
    return prepare(*found, given);
  });
}
