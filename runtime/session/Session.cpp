#include "runtime/session/Session.h"

#include <array>
#include <chrono>
#include <span>

#include <unistd.h>

#include "runtime/support/Hash.h"
#include "runtime/verify/Float8.h"

namespace wavesmith {
namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

constexpr std::byte kCanary{0xa5};

/// A byte that makes NaN of every input element.
std::byte nanFill(const CheckedProblem &c) {
  return std::byte{c.problem.dtype == DType::FP8 ? fp8Nan(c.fp8) : std::uint8_t{0xff}};
}

/// The tensors of a run on both sides.
struct Tensors {
  HostTensor q, k, v, out, lse;
  Descales descales; ///< empty for bf16
  DeviceBuffer dq, dk, dv, dout, dlse, dwork, ddescales;

  struct Pair {
    HostTensor *host;
    DeviceBuffer *device;
  };
  std::array<Pair, 5> pairs() {
    return {{{&q, &dq}, {&k, &dk}, {&v, &dv}, {&out, &dout}, {&lse, &dlse}}};
  }

  Tensors(const CheckedProblem &c, std::uint64_t seed)
      : q(c.q, nanFill(c)), k(c.k, nanFill(c)), v(c.v, nanFill(c)), out(c.out, kCanary),
        lse(c.problem.writeLse ? c.lse : TensorShape{.elementBytes = 4}, kCanary) {
    const SharedDescales &shared = c.problem.sharedDescales;
    fill(q, descales.q, shared.q, c, seed, 0);
    fill(k, descales.k, shared.k, c, seed, 1);
    fill(v, descales.v, shared.v, c, seed, 2);
  }

  static void fill(HostTensor &tensor, std::vector<float> &descales, bool shared,
                   const CheckedProblem &c, std::uint64_t seed, std::uint64_t stream) {
    if (c.problem.dtype == DType::FP8)
      descales = tensor.fillNormalFp8(c.fp8, shared, seed, stream);
    else
      tensor.fillNormalBf16(seed, stream);
  }

  Status upload(const HipTablePtr &table, const AttentionPlan &plan) {
    for (const Pair &pair : pairs()) {
      WAVESMITH_ASSIGN(*pair.device, DeviceBuffer::allocate(table, pair.host->bytes().size()));
      WAVESMITH_TRY(pair.device->upload(pair.host->bytes()));
    }
    WAVESMITH_ASSIGN(dwork, DeviceBuffer::allocate(table, plan.workspaceBytes()));
    std::vector<float> all;
    for (const std::vector<float> *some : {&descales.q, &descales.k, &descales.v})
      all.insert(all.end(), some->begin(), some->end());
    WAVESMITH_ASSIGN(ddescales, DeviceBuffer::allocate(table, all.size() * sizeof(float)));
    return ddescales.upload(std::as_bytes(std::span(all)));
  }

  AttentionBuffers addresses() const {
    const auto origin = [](const DeviceBuffer &buffer) {
      return buffer.address() + HostTensor::originOffset();
    };
    const auto q = ddescales.address(), k = q + descales.q.size() * sizeof(float);
    return {.q = origin(dq),
            .k = origin(dk),
            .v = origin(dv),
            .out = origin(dout),
            .lse = origin(dlse),
            .workspace = dwork.address(),
            .descaleQ = q,
            .descaleK = k,
            .descaleV = k + descales.k.size() * sizeof(float)};
  }
};

/// Asked before anything is filled: the kernel would let us start and then end the process.
Status checkMemory(const AttentionPlan &plan, bool emulated) {
  const CheckedProblem &c = plan.checked;
  std::uint64_t bytes = plan.workspaceBytes();
  for (const TensorShape &shape : {c.q, c.k, c.v, c.out, c.lse})
    bytes += static_cast<std::uint64_t>(shape.extentBytes());
  if (emulated)
    bytes *= 2; // its device memory is the host's
  const long pages = ::sysconf(_SC_PHYS_PAGES), pageBytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0)
    return Status::ok();
  const std::uint64_t memory =
      static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageBytes);
  if (bytes <= memory)
    return Status::ok();
  constexpr double kGigabyte = 1e9;
  return error(
      StatusCode::ResourceExhausted,
      "{} query and {} key tokens of {} heads need {:.1f} GB of host memory, the machine has "
      "{:.1f} GB; want fewer tokens or heads",
      c.totalQ, c.totalKv, c.problem.heads, static_cast<double>(bytes) / kGigabyte,
      static_cast<double>(memory) / kGigabyte);
}

} // namespace

AttentionProblem withPadding(AttentionProblem problem, std::int64_t padding) {
  const std::int64_t kvHeads = problem.kvHeads ? problem.kvHeads : problem.heads;
  const auto pad = [&](TensorStrides &strides, std::int64_t heads, std::int64_t dim) {
    if (!strides.head)
      strides.head = dim + padding;
    if (!strides.row)
      strides.row = heads * *strides.head + padding;
  };
  if (padding == 0)
    return problem;
  pad(problem.q, problem.heads, problem.headDimQk);
  pad(problem.k, kvHeads, problem.headDimQk);
  pad(problem.v, kvHeads, problem.headDimV);
  pad(problem.out, problem.heads, problem.headDimV);
  if (!problem.lseHeadStride) {
    problem.lseHeadStride = padding;
    for (const SequenceLength &length : problem.lengths)
      *problem.lseHeadStride += length.q;
  }
  return problem;
}

Expected<std::unique_ptr<Session>> Session::create(SessionOptions options) {
  WAVESMITH_ASSIGN(HipTablePtr table, HipTable::open(options.device));
  if (!options.store) {
    WAVESMITH_ASSIGN(options.store, KernelStoreOptions::fromEnvironment());
  }
  return std::make_unique<Session>(std::move(table),
                                   std::make_shared<KernelStore>(*std::move(options.store)));
}

Session::Session(HipTablePtr table, std::shared_ptr<KernelStore> store)
    : table_(std::move(table)), store_(std::move(store)) {}

Status Session::configureEmulator(const RunRequest &request) {
  if (!table_->isEmulator())
    return Status::ok();
  const std::string settings = fmt::format(
      "{},order={},checks={},seed={},model={},coverage={}{}",
      request.chip.empty() ? "target=" + request.problem.target : "chip=" + request.chip,
      request.order, request.checks, request.seed, request.modelCycles ? "on" : "off",
      request.coverage ? 1 : 0, request.trace.empty() ? "" : ",trace=" + request.trace);
  if (table_->wavesmithEmulatorConfigure(settings.c_str()) != 0)
    return error(StatusCode::InvalidArgument, "emulator settings: {}",
                 table_->wavesmithEmulatorLastError());
  table_->wavesmithEmulatorLastReport(1);
  return Status::ok();
}

Expected<RunReport> Session::run(const RunRequest &request) {
  const auto tell = [&](std::string_view stage) {
    if (request.progress)
      request.progress(stage);
  };
  WAVESMITH_ASSIGN(CheckedProblem checked,
                   checkProblem(withPadding(request.problem, request.padding)));
  WAVESMITH_TRY(configureEmulator(request));
  WAVESMITH_ASSIGN(const DeviceInfo device, table_->queryDevice(table_->device().ordinal));
  WAVESMITH_ASSIGN(const AttentionPlan plan,
                   planAttention(std::move(checked),
                                 {.splits = request.splits,
                                  .device = deviceShape(device.target, device.computeUnits)}));
  WAVESMITH_TRY(checkMemory(plan, table_->isEmulator()));

  RunReport report;
  report.target = plan.spec().target;
  report.device = device.name + (table_->isEmulator() ? " (emulated)" : "");
  report.workUnits = plan.work().size();
  report.partials = static_cast<std::uint64_t>(plan.list.slots);
  report.flops = plan.flops();
  report.tolerance = request.tolerance.value_or(AttentionTolerance::of(plan.checked.problem.dtype));

  tell("compile");
  KernelLookup lookup;
  lookup.object = request.object;
  if (!lookup.object) {
    WAVESMITH_ASSIGN(lookup, store_->get(plan.spec()));
  }
  report.provider = lookup.provider;
  report.compileMs = lookup.compileMs;
  report.lookupMs = lookup.lookupMs;
  WAVESMITH_ASSIGN(AttentionKernel kernel,
                   AttentionKernel::load(table_, plan.spec(), lookup.object));
  report.kernels.push_back(kernel.info());
  if (plan.combineSpec) {
    WAVESMITH_ASSIGN(lookup, store_->get(*plan.combineSpec));
    report.compileMs += lookup.compileMs;
    report.lookupMs += lookup.lookupMs;
    WAVESMITH_ASSIGN(LoadedKernel combine,
                     LoadedKernel::load(table_, *plan.combineSpec, lookup.object));
    report.kernels.push_back(combine.info());
    kernel.setCombine(std::move(combine));
  }

  tell("upload");
  Tensors tensors(plan.checked, request.seed);
  if (request.inputs)
    request.inputs(tensors.q, tensors.k, tensors.v, tensors.descales);
  report.descales = tensors.descales;
  WAVESMITH_TRY(tensors.upload(table_, plan));
  WAVESMITH_ASSIGN(const Stream stream, Stream::create(table_));
  const AttentionBuffers buffers = tensors.addresses();
  WAVESMITH_TRY(kernel.uploadWork(plan, buffers.workspace, stream.get()));
  WAVESMITH_TRY(stream.synchronize());

  tell("run");
  const Clock::time_point start = Clock::now();
  WAVESMITH_TRY(kernel.launch(plan, buffers, stream.get()));
  const Status finished = stream.synchronize();
  report.launchMs = millisecondsSince(start);
  // A fault is a result of the run; any other error is one of the environment.
  if (!finished.isOk() && finished.code() != StatusCode::EmulationFault)
    return finished;
  for (const std::string &name : checkNames())
    report.checks.push_back({name, std::nullopt});
  if (table_->isEmulator())
    WAVESMITH_TRY(readEmulatorReport(table_->wavesmithEmulatorLastReport(1), report));
  if (!finished.isOk()) {
    report.failures.push_back(finished.message());
    return report;
  }
  for (const CheckCount &check : report.checks)
    if (check.faults.value_or(0) > 0)
      report.failures.push_back(fmt::format("{} faults of check {}", *check.faults, check.name));
  if (!request.verify)
    return report;

  tell("reference");
  const Clock::time_point referenceStart = Clock::now();
  const AttentionReference reference =
      attentionReference(plan.checked, tensors.q, tensors.k, tensors.v, tensors.descales);
  report.referenceSeconds = millisecondsSince(referenceStart) / 1e3;
  tell("compare");
  for (const Tensors::Pair &pair : tensors.pairs())
    WAVESMITH_TRY(pair.device->download(pair.host->bytes()));
  report.errors = compareWithReference(plan.checked, reference, tensors.out,
                                       plan.checked.problem.writeLse ? &tensors.lse : nullptr);
  const std::vector<std::byte> out = tensors.out.elements(), lse = tensors.lse.elements();
  const std::array<std::span<const std::byte>, 2> outputs{out, lse};
  report.outputDigest = sha256Hex(outputs);
  report.outDigest = sha256Hex(out);
  if (request.outputs)
    request.outputs(tensors.out, tensors.lse);
  std::vector<std::string> wrong = report.errors->failures(report.tolerance);
  for (auto [name, tensor] : {std::pair{"q", &tensors.q}, {"k", &tensors.k}, {"v", &tensors.v}})
    if (const auto damage = tensor->findDamage(name))
      wrong.push_back(*damage);
  report.failures.insert(report.failures.end(), wrong.begin(), wrong.end());
  return report;
}

} // namespace wavesmith
