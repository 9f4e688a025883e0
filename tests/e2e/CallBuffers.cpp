#include "tests/e2e/CallBuffers.h"

#include <span>
#include <utility>

namespace wavesmith::testing {

AttentionBuffers CallBuffers::addresses() const {
  const auto origin = [](const DeviceBuffer &buffer) {
    return buffer.size() ? buffer.address() + HostTensor::originOffset() : 0;
  };
  return {.q = origin(q),
          .k = origin(k),
          .v = origin(v),
          .out = origin(out),
          .lse = origin(lse),
          .workspace = workspace.address(),
          .sinks = sinks.size() ? sinks.address() : 0,
          .kRope = origin(kRope)};
}

Expected<std::vector<std::byte>> CallBuffers::results() const {
  std::vector<std::byte> bytes(out.size() + lse.size());
  WAVESMITH_TRY(out.download(std::span(bytes).first(out.size())));
  WAVESMITH_TRY(lse.download(std::span(bytes).subspan(out.size())));
  return bytes;
}

HostTensor normal(const TensorShape &shape, std::uint64_t seed, std::uint64_t stream) {
  HostTensor tensor(shape, std::byte{0xff});
  tensor.fillNormal(DType::BF16, seed, stream);
  return tensor;
}

Expected<CallBuffers> buffersOf(RowDevice &device, const CheckedProblem &inputs,
                                std::uint64_t workspaceBytes, std::uint64_t seed) {
  CallBuffers buffers;
  HostTensor q = normal(inputs.q, seed, 0), k = normal(inputs.k, seed, 1),
             v = normal(inputs.v, seed, 2);
  HostTensor out(inputs.out, std::byte{0xa5}), lse(inputs.lse, std::byte{0xa5});
  for (const auto &[to, from] : {std::pair{&buffers.q, &q},
                                 {&buffers.k, &k},
                                 {&buffers.v, &v},
                                 {&buffers.out, &out},
                                 {&buffers.lse, &lse}}) {
    WAVESMITH_ASSIGN(*to, device.upload(*from));
  }
  if (inputs.problem.sink) {
    std::vector<float> sinks;
    for (std::int64_t head = 0; head < inputs.problem.heads; ++head)
      sinks.push_back(static_cast<float>(head) - 1.5f);
    WAVESMITH_ASSIGN(buffers.sinks, device.upload(std::span<const float>(sinks)));
  }
  WAVESMITH_ASSIGN(buffers.workspace, device.allocate(workspaceBytes));
  return buffers;
}

CheckedProblem bf16Of(AttentionProblem problem) {
  problem.dtype = DType::BF16;
  problem.sharedDescales = {};
  return *checkProblem(problem);
}

Expected<std::vector<std::byte>> runOnce(RowDevice &device, const LoadedLaunchList &list,
                                         const CallBuffers &buffers) {
  WAVESMITH_TRY(list.uploadWork(buffers.workspace.address(), device.stream()));
  WAVESMITH_TRY(list.launch(buffers.addresses(), device.stream()));
  WAVESMITH_TRY(device.finish());
  return buffers.results();
}

} // namespace wavesmith::testing
