// The context pass: one plan for each segment, one for the causal part, the merge that brings each
// into the caller's out and lse, and where FP8 is chosen one that quantises the queries. The first
// part writes there itself, later ones into the workspace. Parts of the same plan share their
// lists: they follow each other on the stream.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/capi/Attention.h"
#include "runtime/capi/Call.h"
#include "runtime/capi/RowOps.h"

namespace wavesmith::capi {
namespace {

constexpr std::uint64_t kMaxSegments = 4096;
/// Segments are seen whole, and sinks count once.
constexpr std::uint32_t kOfTheLastPart = WAVESMITH_CAUSAL | WAVESMITH_SINKS;

template <typename... Args> Status invalid(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

class Pass {
public:
  static Expected<std::shared_ptr<Pass>> create(Context &context,
                                                const wavesmith_pass_options &options);

  Device &device() const { return last_.plan->device(); }
  void fill(wavesmith_pass_info &info) const {
    info.workspace_bytes = workspaceBytes_;
    info.workspace_alignment = kWorkspaceAlignment;
    info.segments = static_cast<std::uint32_t>(segments_.size());
    info.launches = launches_;
    info.path = explanation_.path;
    info.rule = explanation_.rule.c_str();
    info.reason = explanation_.reason.c_str();
    if (queries_.plan)
      info.saturated_q = queries_.workspace + queries_.plan->explanation().saturated[0];
  }
  const Explanation &explanation() const { return explanation_; }
  /// Valid as long as the pass.
  const char *explain();

  Status upload(std::uint64_t workspace, std::uint64_t bytes, hipStream_t stream) const {
    WAVESMITH_TRY(checkWorkspace(workspace, bytes));
    if (workspaceBytes_ > 0) {
      WAVESMITH_TRY(checkStream(device().table(), stream));
      device().owners.set(workspace, 0); // nobody's until all parts are there
    }
    for (const Part &part : distinct_)
      WAVESMITH_TRY(
          part.plan->upload(workspace + part.workspace, part.plan->workspaceBytes(), stream));
    if (workspaceBytes_ > 0)
      device().owners.set(workspace, id_);
    return Status::ok();
  }

  Status segment(std::uint64_t index, const AttentionBuffers &buffers, std::uint64_t bytes,
                 hipStream_t stream) const {
    if (index >= segments_.size())
      return invalid("segment is {}; the pass has {}", index, segments_.size());
    return run(segments_[index], index == 0, buffers, bytes, stream);
  }
  Status finish(const AttentionBuffers &buffers, std::uint64_t bytes, hipStream_t stream) const {
    return run(last_, segments_.empty(), buffers, bytes, stream);
  }

private:
  struct Part {
    std::shared_ptr<Plan> plan;
    std::uint64_t workspace = 0; ///< where its own begins
  };

  Status settle(Context &context, const wavesmith_attention &last,
                const wavesmith_pass_options &options);
  Expected<Part> part(Context &context, const wavesmith_attention &attention, std::string name);
  Status run(const Part &part, bool first, AttentionBuffers buffers, std::uint64_t bytes,
             hipStream_t stream) const;
  Status checkWorkspace(std::uint64_t workspace, std::uint64_t bytes) const;

  const std::uint64_t id_ = WorkspaceOwners::nextOwner();
  std::optional<Settled> settled_; ///< none of FP8 inputs: there is nothing to decide
  Explanation explanation_;
  Part queries_; ///< quantises the queries for all parts; no plan when none has need of it
  std::vector<Part> segments_;
  Part last_;
  std::vector<Part> distinct_;  ///< of these, each plan once
  std::shared_ptr<Plan> merge_; ///< of a part in the workspace into out; none without segments
  std::uint64_t partOut_ = 0, partLse_ = 0;
  /// Parts begin behind the first place, whose owner is the pass: whatever else is put into this
  /// workspace later takes it over.
  std::uint64_t workspaceBytes_ = kWorkspaceAlignment;
  std::uint32_t launches_ = 0;
  std::mutex mutex_; ///< of what follows
  std::string explained_;
};

/// Decides by all lengths of the pass, and has the queries quantised once if that is needed.
Status Pass::settle(Context &context, const wavesmith_attention &last,
                    const wavesmith_pass_options &options) {
  WAVESMITH_ASSIGN(DispatchRequest request, requestOf(last, context));
  if (request.problem.dtype == DType::FP8)
    return Status::ok();
  WAVESMITH_ASSIGN(request.problem.lengths, lengthsOf(last));
  for (std::uint64_t i = 0; i < options.segment_count; ++i) {
    wavesmith_attention attention = last;
    attention.cu_seqlens_kv = options.segments[i];
    Status status = checkLengths(attention);
    if (status.isOk()) {
      const auto lengths = lengthsOf(attention);
      status = lengths.status();
      for (std::size_t s = 0; status.isOk() && s < lengths->size(); ++s)
        request.problem.lengths[s].kv += (*lengths)[s].kv;
    }
    if (!status.isOk())
      return status.withContext(fmt::format("segments[{}]", i));
  }
  settled_.emplace();
  WAVESMITH_ASSIGN(settled_->decisions, context.decide(request));
  explanation_ = explanationOf(settled_->decisions, context.policy);
  if (options.segment_count == 0 || settled_->decisions.of(policy::Path::Fp8).empty())
    return Status::ok();
  // Without keys: of the attention only the queries' shape counts.
  const std::vector<std::int32_t> none(static_cast<std::size_t>(last.batch) + 1);
  wavesmith_attention queries = last;
  queries.cu_seqlens_kv = none.data();
  settled_->work = QuantizedWork::Queries;
  WAVESMITH_ASSIGN(queries_, part(context, queries, "queries"));
  settled_->work = QuantizedWork::Rest;
  return Status::ok();
}

Expected<Pass::Part> Pass::part(Context &context, const wavesmith_attention &attention,
                                std::string name) {
  Part made;
  Expected<std::shared_ptr<Plan>> plan =
      planOf(context, attention, settled_ ? &*settled_ : nullptr);
  if (!plan)
    return plan.status().withContext(name);
  made.plan = *std::move(plan);
  launches_ += made.plan->launches();
  for (const Part &other : distinct_)
    if (other.plan == made.plan)
      return other;
  made.workspace = workspaceBytes_;
  workspaceBytes_ = alignWorkspace(workspaceBytes_ + made.plan->workspaceBytes());
  distinct_.push_back(made);
  return made;
}

Expected<std::shared_ptr<Pass>> Pass::create(Context &context,
                                             const wavesmith_pass_options &options) {
  auto pass = std::make_shared<Pass>();
  wavesmith_attention last;
  WAVESMITH_TRY(readAttention(options.attention, last));
  WAVESMITH_TRY(checkLengths(last));
  if (last.lengths != WAVESMITH_LENGTHS_ON_HOST)
    return error(StatusCode::Unsupported,
                 "attention.lengths is {}; a pass needs its lengths on the host", last.lengths);
  if (!(last.flags & WAVESMITH_LSE))
    return invalid("attention.flags are 0x{:x}; a pass accumulates by lse and needs WAVESMITH_LSE",
                   last.flags);
  if (last.flags & WAVESMITH_DEFER)
    return invalid("attention.flags are 0x{:x}; a pass cannot be deferred", last.flags);
  if (last.flags & WAVESMITH_WINDOW)
    return error(StatusCode::Unsupported,
                 "attention.flags are 0x{:x}; a pass takes no window, whose positions are those of "
                 "one call over all keys",
                 last.flags);
  if (options.segment_count > kMaxSegments)
    return invalid("segment_count is {}; at most {}", options.segment_count, kMaxSegments);
  if (options.segment_count > 0 && !options.segments)
    return isNull("segments");

  WAVESMITH_TRY(pass->settle(context, last, options));
  // What the later parts write goes to the workspace, packed.
  const auto packed = [](wavesmith_attention attention) {
    attention.out = {};
    attention.lse_head_stride = 0;
    return attention;
  };
  for (std::uint64_t i = 0; i < options.segment_count; ++i) {
    const std::string name = fmt::format("segments[{}]", i);
    wavesmith_attention attention = i == 0 ? last : packed(last);
    attention.flags &= ~kOfTheLastPart;
    attention.cu_seqlens_kv = options.segments[i];
    WAVESMITH_ASSIGN(Part made, pass->part(context, attention, name));
    pass->segments_.push_back(std::move(made));
  }
  WAVESMITH_ASSIGN(
      pass->last_,
      pass->part(context, options.segment_count == 0 ? last : packed(last), "attention"));
  if (!pass->settled_)
    pass->explanation_ = pass->last_.plan->explanation();
  if (pass->launches_ == 0 || pass->workspaceBytes_ == kWorkspaceAlignment)
    pass->workspaceBytes_ = 0; // nothing lies there
  if (options.segment_count == 0)
    return pass;

  const std::int64_t tokens = last.batch == 0 ? 0 : last.cu_seqlens_q[last.batch];
  wavesmith_merge merge{};
  merge.element = last.dtype == WAVESMITH_F16 ? WAVESMITH_F16 : WAVESMITH_BF16; // as out
  merge.head_dim_v = last.head_dim_v;
  merge.heads = last.heads;
  merge.tokens = tokens;
  merge.a = merge.out = last.out;
  merge.lse_a_head_stride = merge.lse_head_stride = last.lse_head_stride;
  WAVESMITH_ASSIGN(pass->merge_, planMerge(context, merge));
  pass->launches_ += pass->merge_->launches() * static_cast<std::uint32_t>(options.segment_count);
  const auto take = [&](std::uint64_t bytes) {
    const std::uint64_t begin = pass->workspaceBytes_;
    pass->workspaceBytes_ = alignWorkspace(begin + bytes);
    return begin;
  };
  const auto rows = static_cast<std::uint64_t>(tokens) * static_cast<std::uint64_t>(last.heads);
  pass->partOut_ = take(rows * static_cast<std::uint64_t>(last.head_dim_v) * 2);
  pass->partLse_ = take(rows * sizeof(float));
  return pass;
}

const char *Pass::explain() {
  const std::lock_guard lock(mutex_);
  if (!explained_.empty())
    return explained_.c_str();
  nlohmann::ordered_json json = explanation_.json("pass", device());
  json["segments"] = segments_.size();
  json["launches"] = launches_;
  json["workspace_bytes"] = workspaceBytes_;
  auto &kernels = json["kernels"] = nlohmann::ordered_json::array();
  if (queries_.plan)
    putKernels(*queries_.plan->ready(), kernels);
  for (const Part &segment : segments_) {
    putKernels(*segment.plan->ready(), kernels);
    putKernels(*merge_->ready(), kernels); // as many as there are segments
  }
  putKernels(*last_.plan->ready(), kernels);
  explained_ = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return explained_.c_str();
}

Status Pass::checkWorkspace(std::uint64_t workspace, std::uint64_t bytes) const {
  return workspaceBytes_ == 0 ? Status::ok()
                              : capi::checkWorkspace("pass", workspaceBytes_, workspace, bytes);
}

Status Pass::run(const Part &part, bool first, AttentionBuffers buffers, std::uint64_t bytes,
                 hipStream_t stream) const {
  WAVESMITH_TRY(checkWorkspace(buffers.workspace, bytes));
  const std::uint64_t workspace = buffers.workspace;
  if (workspaceBytes_ > 0)
    WAVESMITH_TRY(checkOwner(device(), workspace, id_, "wavesmith_pass_upload"));
  AttentionBuffers merging;
  const bool merges = !first && merge_->launches() > 0;
  if (merges) {
    // The merge's names are not the caller's: what is wrong with its addresses is said here.
    for (const auto &[name, address, alignment] :
         {std::tuple{"out", buffers.out, std::uint64_t{16}},
          {"lse", buffers.lse, std::uint64_t{4}}})
      if (address == 0 || address % alignment != 0)
        return invalid("{} is at 0x{:x}; it must be an address that is aligned to {} bytes", name,
                       address, alignment);
    merging.q = merging.out = buffers.out;
    merging.descaleQ = merging.lse = buffers.lse;
    buffers.out = merging.k = workspace + partOut_;
    buffers.lse = merging.descaleK = workspace + partLse_;
  }
  if (queries_.plan) {
    const std::uint64_t own = workspace + queries_.workspace;
    buffers.qCodes = own + queries_.plan->explanation().qCodes;
    buffers.qCodesDescale = own + queries_.plan->explanation().qCodesDescale;
    if (first) {
      buffers.workspace = own;
      WAVESMITH_TRY(queries_.plan->launch(buffers, queries_.plan->workspaceBytes(), stream,
                                          /*counts=*/false));
    }
  }
  buffers.workspace = workspace + part.workspace;
  WAVESMITH_TRY(part.plan->launch(buffers, part.plan->workspaceBytes(), stream));
  return merges ? merge_->launch(merging, 0, stream, /*counts=*/false) : Status::ok();
}

HandleTable<Pass> &passes() {
  static auto &table = *new HandleTable<Pass>(HandleKind::Pass); // outlives every caller
  return table;
}

Expected<HandleTable<Pass>::Use> use(wavesmith_pass pass) {
  const auto handle = reinterpret_cast<std::uint64_t>(pass);
  HandleTable<Pass>::Use found = passes().use(handle);
  if (!found)
    return badHandle(handle, HandleKind::Pass);
  return found;
}

/// What upload, segment and finish have in common.
template <typename Body>
wavesmith_status withPass(const char *function, wavesmith_pass pass, Body &&body) {
  return call(function, [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(pass));
    return counted(found->device(), body(*found));
  });
}

} // namespace
} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_pass_begin(wavesmith_context context,
                                      const wavesmith_pass_options *options, wavesmith_pass *pass,
                                      wavesmith_pass_info *info) {
  return call("wavesmith_pass_begin", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    if (!pass)
      return isNull("pass");
    wavesmith_pass_options given;
    WAVESMITH_TRY(readStruct(options, given, sizeof given, "options"));
    WAVESMITH_ASSIGN(const std::shared_ptr<Pass> made, Pass::create(*found, given));
    WAVESMITH_ASSIGN(const std::uint64_t handle, passes().add(made));
    if (info) {
      wavesmith_pass_info filled{};
      made->fill(filled);
      if (Status status = writeStruct(info, filled, "info"); !status.isOk()) {
        passes().remove(handle);
        return status;
      }
    }
    *pass = reinterpret_cast<wavesmith_pass>(handle);
    return Status::ok();
  });
}

wavesmith_status wavesmith_pass_destroy(wavesmith_pass pass) {
  return call("wavesmith_pass_destroy", [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(pass);
    return passes().remove(handle) ? Status::ok() : badHandle(handle, HandleKind::Pass);
  });
}

wavesmith_status wavesmith_pass_get_decision(wavesmith_pass pass, int64_t sequence,
                                             wavesmith_decision *decision) {
  return call("wavesmith_pass_get_decision", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(pass));
    wavesmith_decision filled{};
    WAVESMITH_TRY(found->explanation().decisionOf(sequence, filled));
    return writeStruct(decision, filled, "decision");
  });
}

wavesmith_status wavesmith_pass_explain(wavesmith_pass pass, const char **json) {
  return call("wavesmith_pass_explain", [&]() -> Status {
    if (!json)
      return isNull("json");
    WAVESMITH_ASSIGN(const auto found, use(pass));
    *json = found->explain();
    return Status::ok();
  });
}

wavesmith_status wavesmith_pass_upload(wavesmith_pass pass, void *workspace,
                                       uint64_t workspace_bytes, void *stream) {
  return withPass("wavesmith_pass_upload", pass, [&](const Pass &found) {
    return found.upload(reinterpret_cast<std::uint64_t>(workspace), workspace_bytes,
                        static_cast<hipStream_t>(stream));
  });
}

wavesmith_status wavesmith_pass_segment(wavesmith_pass pass, uint64_t segment,
                                        const wavesmith_attention_buffers *buffers, void *stream) {
  return withPass("wavesmith_pass_segment", pass, [&](const Pass &found) -> Status {
    AttentionBuffers addresses;
    std::uint64_t bytes = 0;
    WAVESMITH_TRY(readBuffers(buffers, addresses, bytes));
    return found.segment(segment, addresses, bytes, static_cast<hipStream_t>(stream));
  });
}

wavesmith_status wavesmith_pass_finish(wavesmith_pass pass,
                                       const wavesmith_attention_buffers *buffers, void *stream) {
  return withPass("wavesmith_pass_finish", pass, [&](const Pass &found) -> Status {
    AttentionBuffers addresses;
    std::uint64_t bytes = 0;
    WAVESMITH_TRY(readBuffers(buffers, addresses, bytes));
    return found.finish(addresses, bytes, static_cast<hipStream_t>(stream));
  });
}
