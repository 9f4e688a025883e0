#include "runtime/judge/VerifyKernel.h"

#include <functional>

#include <fmt/ranges.h>

#include "runtime/judge/RowRun.h"
#include "runtime/session/Session.h"
#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

/// One in which everything happens as early as it may, one in which everything is late and what was
/// not waited for is poison.
constexpr const char *kOrders[] = {"default", "vmem-late,poison"};

struct AttentionCall {
  std::int64_t heads, kvHeads, padding;
  std::vector<SequenceLength> lengths;
  Distribution distribution = Distribution::Normal;
  bool ownKeyLast = false; ///< windows end with each query's own key
};

/// The second in particular has rows without keys, empty sides and tails of every tile. The third
/// shows whether 16-bit weights are in a range that holds light ones too; FP8 has none.
std::vector<AttentionCall> attentionCalls(const AttentionSpec &spec) {
  std::vector<AttentionCall> calls;
  if (spec.splitKv) // long enough that blocks are cut
    calls = {{1, 1, 0, {{1, 1500}}}, {2, 1, 16, {{70, 1333}, {3, 0}, {300, 1100}}}};
  else
    calls = {{1, 1, 0, {{1, 1}}},
             {4, 2, 16, {{1, 129}, {70, 200}, {0, 5}, {3, 0}, {40, 17}, {257, 300}}}};
  if (spec.window) // the usual one, whose right side binds under a causal mask too
    calls.push_back(
        {1, 1, 0, {{70, spec.splitKv ? 1500 : 200}}, Distribution::Normal, /*ownKeyLast=*/true});
  if (spec.dtype != DType::FP8)
    calls.push_back({1, 1, 0, {{40, spec.splitKv ? 1000 : 100}}, Distribution::Faint});
  return calls;
}

AttentionProblem problemOf(const KernelSpec &spec, const AttentionCall &call) {
  AttentionProblem problem;
  problem.target = spec.target;
  problem.dtype = spec.attention.dtype;
  problem.f16Out = spec.attention.f16Out;
  problem.headDimQk = spec.attention.headDimQk;
  problem.headDimV = spec.attention.headDimV;
  problem.causal = spec.attention.causal;
  problem.writeLse = spec.attention.writeLse;
  if (spec.attention.softCap)
    problem.softCap = 1.5; // bends most scores
  // Steps inside, across and outside of both edges; wide enough for cuts where keys are cut.
  if (spec.attention.window)
    problem.window = {.left = spec.attention.splitKv ? 700 : 90,
                      .right = call.ownKeyLast          ? 0
                               : spec.attention.splitKv ? 200
                                                        : 40};
  problem.sink = spec.attention.sink;
  problem.schedule = spec.schedule;
  problem.heads = call.heads;
  problem.kvHeads = call.kvHeads;
  problem.lengths = call.lengths;
  return problem;
}

std::string describe(const AttentionCall &call, std::string_view order) {
  std::vector<std::string> lengths;
  for (const SequenceLength &length : call.lengths)
    lengths.push_back(fmt::format("{}:{}", length.q, length.kv));
  std::string text = fmt::format("{} heads over {}, lens {}, padding {}, order {}", call.heads,
                                 call.kvHeads, fmt::join(lengths, ","), call.padding, order);
  if (call.distribution != Distribution::Normal)
    text += fmt::format(", {} inputs", distributionName(call.distribution));
  return text;
}

/// The reducer of split kernels comes from bundles or the compiler; this process stores nothing.
Expected<std::shared_ptr<KernelStore>> readOnlyStore() {
  WAVESMITH_ASSIGN(KernelStoreOptions options, KernelStoreOptions::fromEnvironment());
  options.disk.reset();
  options.remote.reset();
  return std::make_shared<KernelStore>(std::move(options));
}

Status verifyAttention(const KernelSpec &spec, const SharedCodeObject &object,
                       std::vector<std::string> &cases) {
  WAVESMITH_ASSIGN(HipTablePtr table, HipTable::open(DeviceChoice::Emulator));
  WAVESMITH_ASSIGN(std::shared_ptr<KernelStore> store, readOnlyStore());
  Session session(std::move(table), std::move(store));
  for (const char *order : kOrders)
    for (const AttentionCall &call : attentionCalls(spec.attention)) {
      RunRequest request;
      request.problem = problemOf(spec, call);
      request.splits = spec.attention.splitKv ? 3 : 1;
      request.padding = call.padding;
      request.distribution = call.distribution;
      request.order = order;
      request.object = object;
      WAVESMITH_ASSIGN(const AttentionPlan plan,
                       planAttention(request.problem, {.splits = request.splits}));
      if (plan.spec() != spec)
        return error(StatusCode::Unsupported, "there are no calls to verify [{}] with",
                     spec.text());
      const std::string text = describe(call, order);
      WAVESMITH_ASSIGN(const RunReport report, session.run(request));
      if (!report.ok())
        return error(StatusCode::VerificationFailed, "{}: {}", text,
                     fmt::join(report.failures, "; "));
      cases.push_back(text);
    }
  return Status::ok();
}

Status verifyRows(const KernelSpec &spec, const SharedCodeObject &object,
                  std::vector<std::string> &cases) {
  using Verify = Status (*)(judge::RowRun &, int);
  constexpr std::pair<std::string_view, Verify> kCalls[] = {
      {"combine_splits", judge::verifyCombine},
      {"merge_states", judge::verifyMerge},
      {"quantize", judge::verifyQuantizer},
      {"quantize_concat", judge::verifyQuantizer},
      {"amax", judge::verifyAmax},
      {"histogram", judge::verifyHistogram},
      {"work_list", judge::verifyWorkList},
  };
  for (const auto &[name, verify] : kCalls) {
    if (name != spec.row.kernel)
      continue;
    for (const char *order : kOrders)
      for (const int variant : {0, 1}) {
        const std::string text =
            fmt::format("{}, order {}", variant == 0 ? "one row" : "ragged rows", order);
        WAVESMITH_ASSIGN(const std::unique_ptr<judge::RowRun> run,
                         judge::RowRun::open(spec, object, order));
        WAVESMITH_TRY(verify(*run, variant).withContext(text));
        cases.push_back(text);
      }
    return Status::ok();
  }
  return error(StatusCode::Unsupported, "there are no calls to verify [{}] with", spec.text());
}

} // namespace

Expected<VerificationRecord> verifyKernel(const KernelSpec &spec, const SharedCodeObject &object) {
  WAVESMITH_TRY(spec.validate());
  VerificationRecord record{
      .objectSha256 = sha256Hex(object->bytes), .judge = "emulator", .cases = {}};
  Status status = spec.isRowKernel() ? verifyRows(spec, object, record.cases)
                                     : verifyAttention(spec, object, record.cases);
  // A kernel that the emulator stops is as wrong as one with wrong numbers.
  if (status.code() == StatusCode::EmulationFault)
    status = Status(StatusCode::VerificationFailed, status.message());
  if (!status.isOk())
    return status;
  return record;
}

} // namespace wavesmith
