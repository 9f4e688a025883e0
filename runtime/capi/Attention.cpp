// Attention through the C interface: a description becomes a checked problem and a plan, kept by
// value; a launch gives it addresses.

#include "runtime/capi/Attention.h"

#include <cstddef>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/capi/Call.h"

namespace wavesmith::capi {
namespace {

constexpr std::uint32_t kFlags = WAVESMITH_CAUSAL | WAVESMITH_LSE | WAVESMITH_SHARED_DESCALE_Q |
                                 WAVESMITH_SHARED_DESCALE_K | WAVESMITH_SHARED_DESCALE_V |
                                 WAVESMITH_DEFER | WAVESMITH_FP8_CONTEXT |
                                 WAVESMITH_COUNT_SATURATED | WAVESMITH_WINDOW | WAVESMITH_SINKS;
constexpr std::uint32_t kSharedDescales =
    WAVESMITH_SHARED_DESCALE_Q | WAVESMITH_SHARED_DESCALE_K | WAVESMITH_SHARED_DESCALE_V;

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

Expected<std::optional<Fp8Format>> formatOf(std::int32_t format) {
  switch (format) {
  case WAVESMITH_FP8_NONE:
    return std::optional<Fp8Format>();
  case WAVESMITH_FP8_E4M3_FNUZ:
    return std::optional(Fp8Format::E4M3Fnuz);
  case WAVESMITH_FP8_E4M3_OCP:
    return std::optional(Fp8Format::E4M3Ocp);
  default:
    return invalid("fp8_format is {}; want 0 (the device's), 1 (e4m3fnuz) or 2 (e4m3)", format);
  }
}

/// What the FP8 path may do, and whether the caller chose.
Status addChoice(const wavesmith_attention &attention, DispatchRequest &request) {
  switch (attention.path) {
  case 0:
    break;
  case WAVESMITH_PATH_BF16:
    request.path = policy::Path::Bf16;
    break;
  case WAVESMITH_PATH_FP8:
    request.path = policy::Path::Fp8;
    break;
  default:
    return invalid("path is {}; want 0 (as the policy says), 1 (the inputs as they are) or 2 (fp8)",
                   attention.path);
  }
  request.fp8Context = (attention.flags & WAVESMITH_FP8_CONTEXT) != 0;
  if (attention.scales < WAVESMITH_SCALES_NONE || attention.scales > WAVESMITH_SCALES_UNIT)
    return invalid("scales is {}; want 0 (none), 1 (static), 2 (dynamic) or 3 (unit)",
                   attention.scales);
  const bool fp8 = request.problem.dtype == DType::FP8;
  if (fp8 && (attention.scales != WAVESMITH_SCALES_NONE || attention.rotation != 0))
    return invalid("scales is {}, rotation {}; both are for 16-bit inputs, these are fp8",
                   attention.scales, attention.rotation);
  if (fp8 && request.path == policy::Path::Bf16)
    return Status(StatusCode::InvalidArgument,
                  "path is 1 (16-bit inputs as they are), these are fp8");
  if ((attention.flags & WAVESMITH_COUNT_SATURATED) &&
      (fp8 || attention.scales == WAVESMITH_SCALES_NONE))
    return invalid("flags are 0x{:x}: there is nothing to count, since nothing is quantised",
                   attention.flags);
  if (!fp8 && attention.scales == WAVESMITH_SCALES_NONE) {
    if (attention.flags & kSharedDescales)
      return invalid("flags are 0x{:x}: descales belong to fp8, and scales is 0 (none)",
                     attention.flags);
    if (attention.rotation != 0)
      return invalid("rotation is {}; it is of the FP8 path, and scales is 0 (none)",
                     attention.rotation);
    return Status::ok();
  }
  if (fp8)
    return Status::ok();
  Quantization how;
  how.scales = attention.scales == WAVESMITH_SCALES_STATIC    ? Quantization::Scales::Given
               : attention.scales == WAVESMITH_SCALES_DYNAMIC ? Quantization::Scales::Dynamic
                                                              : Quantization::Scales::Unit;
  how.input = dtypeName(request.problem.dtype);
  how.rotationQ = how.rotationK = attention.rotation;
  how.countsGiven = (attention.flags & WAVESMITH_COUNT_SATURATED) != 0;
  request.quantization = how;
  return Status::ok();
}

/// The bytes of what is in a plan's cache key besides the lengths.
wavesmith_attention keyOf(wavesmith_attention attention) {
  attention.size = 0;
  attention.flags &= ~std::uint32_t{WAVESMITH_DEFER};
  attention.cu_seqlens_q = attention.cu_seqlens_kv = nullptr;
  return attention;
}

std::int32_t splitsOf(const AttentionPlan &plan) {
  std::int32_t most = 1;
  for (const CombineUnit &merge : plan.list.merges)
    most = std::max(most, merge.slots);
  return most;
}

std::string valuesOf(const AttentionProblem &problem) {
  const nlohmann::ordered_json values = {
      {"target", problem.target},
      {"head_dim", fmt::format("{}x{}", problem.headDimQk, problem.headDimV)},
      {"heads", problem.heads},
      {"kv_heads", problem.kvHeads},
      {"causal", problem.causal}};
  return values.dump();
}

/// Lengths that only the device knows: no rule can ask for them.
Expected<std::shared_ptr<Plan>> buildOnDevice(const Context &context,
                                              const DispatchRequest &request,
                                              const wavesmith_attention &attention) {
  if (request.path == policy::Path::Fp8 && request.problem.dtype != DType::FP8)
    return error(StatusCode::Unsupported,
                 "path is 2 (fp8) and the inputs are {}: nothing is quantised while lengths are on "
                 "the device",
                 dtypeName(request.problem.dtype));
  WAVESMITH_ASSIGN(const DeviceLengthsPlan plan,
                   planDeviceLengths(request.problem, {.sequences = attention.batch,
                                                       .queries = attention.max_total_q,
                                                       .keys = attention.max_total_kv}));
  const CheckedProblem &checked = plan.checked;
  Explanation explanation;
  explanation.inputs = checked.problem.dtype;
  explanation.path = explanation.inputs == DType::FP8 ? WAVESMITH_PATH_FP8 : WAVESMITH_PATH_BF16;
  explanation.rule = "lengths";
  explanation.reason = fmt::format("the lengths are on the device, so the inputs stay {}",
                                   dtypeName(explanation.inputs));
  explanation.values = valuesOf(checked.problem);
  explanation.sequences = attention.batch;
  return std::make_shared<Plan>(Plan::Kind::Attention, context.device, launchList(plan),
                                std::move(explanation));
}

/// FP8 inputs: there is nothing to decide.
Expected<std::shared_ptr<Plan>> buildFp8(const Context &context, const AttentionProblem &problem,
                                         const PlanOptions &options) {
  WAVESMITH_ASSIGN(const AttentionPlan plan, planAttention(problem, options));
  Explanation explanation;
  explanation.path = WAVESMITH_PATH_FP8;
  explanation.rule = "inputs";
  explanation.reason = "the inputs are fp8";
  explanation.splits = splitsOf(plan);
  explanation.values = valuesOf(plan.checked.problem);
  explanation.sequences = static_cast<std::int64_t>(problem.lengths.size());
  return std::make_shared<Plan>(Plan::Kind::Attention, context.device, launchList(plan),
                                std::move(explanation));
}

Expected<std::shared_ptr<Plan>> build(const Context &context, const wavesmith_attention &attention,
                                      const Settled *settled) {
  WAVESMITH_ASSIGN(DispatchRequest request, requestOf(attention, context));
  if (attention.lengths == WAVESMITH_LENGTHS_ON_DEVICE)
    return buildOnDevice(context, request, attention);
  WAVESMITH_ASSIGN(request.problem.lengths, lengthsOf(attention));
  const DeviceInfo &device = context.device->info();
  const PlanOptions options{.splits = attention.splits,
                            .device = deviceShape(device.target, device.computeUnits)};
  if (request.problem.dtype == DType::FP8)
    return buildFp8(context, request.problem, options);
  Settled settledHere;
  if (!settled) {
    WAVESMITH_ASSIGN(settledHere.decisions, context.decide(request));
    settled = &settledHere;
  }
  WAVESMITH_ASSIGN(const DispatchPlan plan,
                   planDispatch(request, settled->decisions, options, settled->work));
  Explanation explanation = explanationOf(settled->decisions, context.policy);
  if (plan.plain)
    explanation.splits = splitsOf(*plan.plain);
  if (plan.fp8) {
    const QuantizedPlan &fp8 = *plan.fp8;
    explanation.splits = std::max(explanation.splits, splitsOf(fp8.attention));
    const QuantizedTensor *tensors[] = {&fp8.q, &fp8.k, &fp8.v};
    for (std::size_t i = 0; i < std::size(tensors); ++i)
      if (tensors[i]->saturated > 0)
        explanation.saturated[i] = plan.fp8Workspace + tensors[i]->saturated;
    explanation.qCodes = plan.fp8Workspace + fp8.q.data;
    explanation.qCodesDescale = plan.fp8Workspace + fp8.q.descale;
  }
  return std::make_shared<Plan>(Plan::Kind::Attention, context.device, plan.list(),
                                std::move(explanation));
}

} // namespace

TensorStrides tensorStrides(const wavesmith_strides &strides) {
  TensorStrides result;
  if (strides.row != 0)
    result.row = strides.row;
  if (strides.head != 0)
    result.head = strides.head;
  return result;
}

Status readAttention(const wavesmith_attention *given, wavesmith_attention &attention) {
  WAVESMITH_TRY(readStruct(given, attention, offsetof(wavesmith_attention, scale), "attention"));
  if (attention.flags & ~kFlags)
    return invalid("flags are 0x{:x}; this library knows 0x{:x}", attention.flags, kFlags);
  if ((attention.flags & WAVESMITH_WINDOW) &&
      given->size < offsetof(wavesmith_attention, window_right) + sizeof(attention.window_right))
    return invalid(
        "attention.size is {}, which ends before the window of WAVESMITH_WINDOW; want {}",
        given->size, sizeof(wavesmith_attention));
  return Status::ok();
}

Status readBuffers(const wavesmith_attention_buffers *given, AttentionBuffers &addresses,
                   std::uint64_t &workspaceBytes) {
  wavesmith_attention_buffers buffers;
  WAVESMITH_TRY(
      readStruct(given, buffers, offsetof(wavesmith_attention_buffers, descale_q), "buffers"));
  const auto address = [](const void *pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  addresses.q = address(buffers.q);
  addresses.k = address(buffers.k);
  addresses.v = address(buffers.v);
  addresses.out = address(buffers.out);
  addresses.lse = address(buffers.lse);
  addresses.workspace = address(buffers.workspace);
  addresses.descaleQ = address(buffers.descale_q);
  addresses.descaleK = address(buffers.descale_k);
  addresses.descaleV = address(buffers.descale_v);
  addresses.qOffsets = address(buffers.cu_seqlens_q);
  addresses.kvOffsets = address(buffers.cu_seqlens_kv);
  addresses.saturatedQ = address(buffers.saturated_q);
  addresses.saturatedK = address(buffers.saturated_k);
  addresses.saturatedV = address(buffers.saturated_v);
  addresses.sinks = address(buffers.sinks);
  workspaceBytes = buffers.workspace_bytes;
  return Status::ok();
}

Expected<DispatchRequest> requestOf(const wavesmith_attention &attention, const Context &context) {
  DispatchRequest request;
  AttentionProblem &problem = request.problem;
  problem.target = context.device->info().target;
  switch (attention.dtype) {
  case WAVESMITH_BF16:
    problem.dtype = DType::BF16;
    break;
  case WAVESMITH_FP8:
    problem.dtype = DType::FP8;
    break;
  case WAVESMITH_F16:
    problem.dtype = DType::F16;
    break;
  default:
    return invalid("dtype is {}; attention takes 1 (bf16), 2 (fp8) or 3 (f16)", attention.dtype);
  }
  WAVESMITH_ASSIGN(problem.fp8, formatOf(attention.fp8_format));
  if (problem.fp8 && problem.dtype != DType::FP8)
    return invalid("fp8_format is {} for {} inputs; want 0, as they are quantised to the device's",
                   attention.fp8_format, dtypeName(problem.dtype));
  problem.sharedDescales = {.q = (attention.flags & WAVESMITH_SHARED_DESCALE_Q) != 0,
                            .k = (attention.flags & WAVESMITH_SHARED_DESCALE_K) != 0,
                            .v = (attention.flags & WAVESMITH_SHARED_DESCALE_V) != 0};
  problem.headDimQk = attention.head_dim_qk;
  problem.headDimV = attention.head_dim_v;
  problem.causal = (attention.flags & WAVESMITH_CAUSAL) != 0;
  problem.writeLse = (attention.flags & WAVESMITH_LSE) != 0;
  problem.heads = attention.heads;
  problem.kvHeads = attention.kv_heads;
  if (attention.scale != 0)
    problem.scale = attention.scale;
  problem.q = tensorStrides(attention.q);
  problem.k = tensorStrides(attention.k);
  problem.v = tensorStrides(attention.v);
  problem.out = tensorStrides(attention.out);
  if (attention.lse_head_stride != 0)
    problem.lseHeadStride = attention.lse_head_stride;
  if (attention.soft_cap != 0)
    problem.softCap = attention.soft_cap;
  if (attention.flags & WAVESMITH_WINDOW)
    problem.window = {.left = attention.window_left, .right = attention.window_right};
  else if (attention.window_left != 0 || attention.window_right != 0)
    return invalid("window_left is {}, window_right {}; both are for WAVESMITH_WINDOW",
                   attention.window_left, attention.window_right);
  problem.sink = (attention.flags & WAVESMITH_SINKS) != 0;
  WAVESMITH_TRY(addChoice(attention, request));
  return request;
}

Status checkLengths(const wavesmith_attention &attention) {
  if (attention.batch < 0 || attention.batch > kMaxTokens)
    return invalid("batch is {}; 0 to {} sequences are supported", attention.batch, kMaxTokens);
  const std::pair<const char *, const std::int32_t *> lists[] = {
      {"cu_seqlens_q", attention.cu_seqlens_q}, {"cu_seqlens_kv", attention.cu_seqlens_kv}};
  switch (attention.lengths) {
  case WAVESMITH_LENGTHS_ON_HOST:
    if (attention.max_total_q != 0 || attention.max_total_kv != 0)
      return invalid("max_total_q is {}, max_total_kv {}; both are for lengths on the device",
                     attention.max_total_q, attention.max_total_kv);
    for (const auto &[name, list] : lists) {
      if (attention.batch > 0 && !list)
        return isNull(name);
      if (reinterpret_cast<std::uintptr_t>(list) % alignof(std::int32_t) != 0)
        return invalid("{} is at {}; it must be aligned to 4 bytes", name,
                       static_cast<const void *>(list));
    }
    return Status::ok();
  case WAVESMITH_LENGTHS_ON_DEVICE:
    for (const auto &[name, list] : lists)
      if (list)
        return invalid("{} is host memory; with lengths on the device it is null here, and device "
                       "memory in the buffers",
                       name);
    if (attention.scales != WAVESMITH_SCALES_NONE)
      return error(StatusCode::Unsupported,
                   "scales is {}: nothing is quantised while lengths are on the device; want 0",
                   attention.scales);
    if (attention.splits > 1)
      return error(StatusCode::Unsupported,
                   "splits is {}: keys are not split while lengths are on the device; want 0 or 1",
                   attention.splits);
    return Status::ok();
  default:
    return invalid("lengths is {}; want 0 (on the host) or 1 (on the device)", attention.lengths);
  }
}

Expected<std::vector<SequenceLength>> lengthsOf(const wavesmith_attention &attention) {
  if (attention.batch == 0)
    return std::vector<SequenceLength>();
  const auto entries = static_cast<std::size_t>(attention.batch) + 1;
  return lengthsFromOffsets({attention.cu_seqlens_q, entries}, {attention.cu_seqlens_kv, entries});
}

Expected<std::shared_ptr<Plan>> planOf(Context &context, const wavesmith_attention &attention,
                                       const Settled *settled) {
  WAVESMITH_TRY(checkLengths(attention));
  const wavesmith_attention value = keyOf(attention);
  const bool onHost = attention.lengths == WAVESMITH_LENGTHS_ON_HOST && attention.batch > 0;
  const std::size_t entries = onHost ? static_cast<std::size_t>(attention.batch) + 1 : 0;
  std::vector<std::uint8_t> paths; // and what is to be done of them
  if (settled) {
    paths.assign(entries, static_cast<std::uint8_t>(settled->work));
    for (const Decisions::Choice &choice : settled->decisions.choices)
      for (const std::size_t sequence : choice.sequences)
        paths[sequence] = static_cast<std::uint8_t>(choice.decision.path);
  }
  const PlanCache::Key key{std::as_bytes(std::span(&value, 1)),
                           std::as_bytes(std::span(attention.cu_seqlens_q, entries)),
                           std::as_bytes(std::span(attention.cu_seqlens_kv, entries)),
                           std::as_bytes(std::span(paths))};
  const std::uint64_t hash = PlanCache::hash(key);
  std::shared_ptr<Plan> plan = context.plans.find(key, hash);
  Counters &counters = context.device->counters;
  if (plan) {
    counters.planHits.fetch_add(1, std::memory_order_relaxed);
  } else {
    WAVESMITH_ASSIGN(plan, build(context, attention, settled));
    counters.plans.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t bytes = plan->memoryBytes();
    plan = context.plans.add(key, hash, std::move(plan), bytes);
  }
  if (!(attention.flags & WAVESMITH_DEFER))
    WAVESMITH_TRY(plan->makeReady());
  return plan;
}

} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_plan_attention(wavesmith_context context,
                                          const wavesmith_attention *attention,
                                          wavesmith_plan *plan, wavesmith_plan_info *info) {
  return call("wavesmith_plan_attention", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    if (!plan)
      return isNull("plan");
    wavesmith_attention description;
    WAVESMITH_TRY(readAttention(attention, description));
    WAVESMITH_ASSIGN(std::shared_ptr<Plan> made, planOf(*found, description));
    return giveOut(std::move(made), plan, info);
  });
}

wavesmith_status wavesmith_launch_attention(wavesmith_plan plan,
                                            const wavesmith_attention_buffers *buffers,
                                            void *stream) {
  return call("wavesmith_launch_attention", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(plan));
    const auto launch = [&]() -> Status {
      if (found->kind() != Plan::Kind::Attention)
        return invalid("the plan is one of {}, not of attention", planKindName(found->kind()));
      AttentionBuffers addresses;
      std::uint64_t workspaceBytes = 0;
      WAVESMITH_TRY(readBuffers(buffers, addresses, workspaceBytes));
      return found->launch(addresses, workspaceBytes, static_cast<hipStream_t>(stream));
    };
    return counted(found->device(), launch());
  });
}
