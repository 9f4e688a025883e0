#include "tests/mutation/Trial.h"

namespace wavesmith::testing {

std::vector<emulator::ExecutionOrder> allExecutionOrders() {
  using Order = emulator::ExecutionOrder;
  std::vector<Order> orders;
  for (const auto vectorMemory : {Order::Landing::Late, Order::Landing::Early})
    for (const auto lds : {Order::Landing::Early, Order::Landing::Late})
      for (const auto waves :
           {Order::Waves::Lockstep, Order::Waves::RunToBarrier, Order::Waves::Preemptive})
        for (const bool poison : {false, true})
          orders.push_back({vectorMemory, lds, waves, poison});
  return orders;
}

} // namespace wavesmith::testing
