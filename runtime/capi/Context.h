#pragma once
// What stands behind a wavesmith_context: a device, the policy in use and the plans remembered by
// value. Any thread.

#include <cstdint>
#include <memory>
#include <string>

#include "include/wavesmith/wavesmith.h"
#include "runtime/capi/Device.h"
#include "runtime/capi/Handles.h"
#include "runtime/capi/PlanCache.h"
#include "runtime/dispatch/Dispatch.h"
#include "runtime/dispatch/policy/Policy.h"

namespace wavesmith::capi {

struct Context : std::enable_shared_from_this<Context> {
  /// Opens what the options (null: all defaults) ask for.
  static Expected<std::shared_ptr<Context>> create(const wavesmith_context_options *options);

  Context(std::shared_ptr<Device> opened, policy::Policy chosen, policy::Crossovers known,
          std::size_t maxPlans)
      : device(std::move(opened)), policy(std::move(chosen)), crossovers(std::move(known)),
        plans(maxPlans) {}

  /// Which path each sequence takes.
  Expected<Decisions> decide(const DispatchRequest &request) const {
    return decideSequences(request, policy, crossovers);
  }

  const std::shared_ptr<Device> device;
  const policy::Policy policy;
  const policy::Crossovers crossovers; ///< of the tuning database
  PlanCache plans;
};

HandleTable<Context> &contexts();
/// Keeps the context while a call uses it; the error says what is wrong with the handle.
Expected<HandleTable<Context>::Use> use(wavesmith_context context);

} // namespace wavesmith::capi
