#pragma once
// From the C description of an attention call to a plan. Pure but for the context's plan cache; any
// thread.

#include <memory>
#include <vector>

#include "runtime/capi/Context.h"
#include "runtime/capi/Plan.h"

namespace wavesmith::capi {

/// 0 is packed.
TensorStrides tensorStrides(const wavesmith_strides &strides);
/// Copies the caller's struct and checks what needs no context.
Status readAttention(const wavesmith_attention *given, wavesmith_attention &attention);
/// The same for the addresses of a launch.
Status readBuffers(const wavesmith_attention_buffers *given, AttentionBuffers &addresses,
                   std::uint64_t &workspaceBytes);
/// What is to be decided and planned, without the lengths.
Expected<DispatchRequest> requestOf(const wavesmith_attention &attention, const Context &context);
/// Ok, or why the lengths cannot be read, or not be left to the device.
Status checkLengths(const wavesmith_attention &attention);
/// The lengths of arrays that were found readable.
Expected<std::vector<SequenceLength>> lengthsOf(const wavesmith_attention &attention);

/// What a context pass has settled before its parts are planned.
struct Settled {
  Decisions decisions; ///< by all lengths of the pass
  QuantizedWork work = QuantizedWork::All;
};

/// The plan of that value, from the cache or made; ready unless deferred.
Expected<std::shared_ptr<Plan>> planOf(Context &context, const wavesmith_attention &attention,
                                       const Settled *settled = nullptr);

} // namespace wavesmith::capi
