#include "runtime/session/RunTensors.h"

#include <span>

#include "runtime/verify/Float8.h"
#include "runtime/verify/Random.h"

namespace wavesmith {
namespace {

constexpr std::byte kCanary{0xa5};

/// A byte that makes NaN of every input element.
std::byte nanFill(const CheckedProblem &c) {
  return std::byte{c.problem.dtype == DType::FP8 ? fp8Nan(c.fp8) : std::uint8_t{0xff}};
}

void fill(HostTensor &tensor, std::vector<float> &descales, bool shared, const CheckedProblem &c,
          std::uint64_t seed, std::uint64_t stream) {
  if (c.problem.dtype == DType::FP8)
    descales = tensor.fillNormalFp8(c.fp8, shared, seed, stream);
  else
    tensor.fillNormal(c.problem.dtype, seed, stream);
}

std::uint64_t origin(const DeviceBuffer &buffer) {
  return buffer.address() + HostTensor::originOffset();
}

template <typename T>
Expected<std::vector<T>> read(const DeviceBuffer &workspace, std::uint64_t offset,
                              std::int64_t count) {
  std::vector<T> values(static_cast<std::size_t>(count));
  WAVESMITH_TRY(workspace.download(std::as_writable_bytes(std::span(values)), offset));
  return values;
}

} // namespace

RunTensors::RunTensors(const CheckedProblem &c, std::uint64_t seed)
    : q(c.q, nanFill(c)), k(c.k, nanFill(c)), v(c.v, nanFill(c)), out(c.out, kCanary),
      lse(c.problem.writeLse ? c.lse : TensorShape{.elementBytes = 4}, kCanary) {
  const SharedDescales &shared = c.problem.sharedDescales;
  fill(q, descales.q, shared.q, c, seed, 0);
  fill(k, descales.k, shared.k, c, seed, 1);
  fill(v, descales.v, shared.v, c, seed, 2);
  // Around the LSE of some hundred keys: few heads ignore theirs, few are ruled by it.
  for (std::int64_t head = 0; c.problem.sink && head < c.problem.heads; ++head)
    sinks.push_back(
        static_cast<float>(5 + 2 * randomNormals(seed, 3, static_cast<std::uint64_t>(head)).first));
}

Status RunTensors::upload(const HipTablePtr &table, std::uint64_t workspaceBytes) {
  for (const Pair &pair : pairs()) {
    WAVESMITH_ASSIGN(*pair.device, DeviceBuffer::allocate(table, pair.host->bytes().size()));
    WAVESMITH_TRY(pair.device->upload(pair.host->bytes()));
  }
  WAVESMITH_ASSIGN(workspace_, DeviceBuffer::allocate(table, workspaceBytes));
  std::vector<float> all;
  for (const std::vector<float> *some : {&descales.q, &descales.k, &descales.v})
    all.insert(all.end(), some->begin(), some->end());
  WAVESMITH_ASSIGN(ddescales_, DeviceBuffer::allocate(table, all.size() * sizeof(float)));
  WAVESMITH_TRY(ddescales_.upload(std::as_bytes(std::span(all))));
  WAVESMITH_ASSIGN(dsinks_, DeviceBuffer::allocate(table, sinks.size() * sizeof(float)));
  return dsinks_.upload(std::as_bytes(std::span(sinks)));
}

Status RunTensors::download() {
  for (const Pair &pair : pairs())
    WAVESMITH_TRY(pair.device->download(pair.host->bytes()));
  return Status::ok();
}

AttentionBuffers RunTensors::addresses() const {
  const std::uint64_t ofQ = ddescales_.address(), ofK = ofQ + descales.q.size() * sizeof(float);
  return {.q = origin(dq_),
          .k = origin(dk_),
          .v = origin(dv_),
          .out = origin(dout_),
          .lse = origin(dlse_),
          .workspace = workspace_.address(),
          .descaleQ = ofQ,
          .descaleK = ofK,
          .descaleV = ofK + descales.k.size() * sizeof(float),
          .sinks = dsinks_.address()};
}

Expected<QuantizedInputs> readQuantized(const QuantizedPlan &plan, const DeviceBuffer &workspace,
                                        const Descales &given) {
  QuantizedInputs inputs;
  inputs.descales = given;
  const struct {
    const QuantizedTensor &tensor;
    HostTensor &host;
    std::vector<float> &descales;
  } rows[] = {{plan.q, inputs.q, inputs.descales.q},
              {plan.k, inputs.k, inputs.descales.k},
              {plan.v, inputs.v, inputs.descales.v}};
  const std::byte nan{fp8Nan(plan.attention.checked.fp8)};
  const bool empty = plan.attention.list.units.empty(); // there is no workspace then
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const QuantizedTensor &tensor = rows[i].tensor;
    const TensorShape &codes = tensor.codes;
    rows[i].host = HostTensor(codes, nan);
    inputs.saturated[i].resize(static_cast<std::size_t>(codes.heads));
    if (empty)
      continue;
    WAVESMITH_TRY(workspace.download(
        rows[i].host.bytes().subspan(static_cast<std::size_t>(HostTensor::originOffset()),
                                     static_cast<std::size_t>(codes.extentBytes())),
        tensor.data));
    WAVESMITH_ASSIGN(inputs.saturated[i],
                     read<std::uint64_t>(workspace, tensor.saturated, codes.heads));
    // Without rows no quantiser ran, and no descale was made.
    if (plan.quantization.scales == Quantization::Scales::Unit || codes.rows == 0) {
      rows[i].descales = {1};
    } else if (plan.quantization.scales == Quantization::Scales::Dynamic) {
      WAVESMITH_ASSIGN(rows[i].descales, read<float>(workspace, tensor.descale, codes.heads));
    }
  }
  return inputs;
}

} // namespace wavesmith
