// The text forms of the options and of a fault: what command lines, variables and reports show.

#include <array>

#include "emulator/Emulator.h"

namespace wavesmith::emulator {
namespace {

constexpr std::array<std::string_view, kCheckKinds> kCheckNames = {
    "memory", "uninitialised", "waits", "races", "barriers", "hazards", "alignment", "registers"};

/// Calls `use` for each item of a comma list; stops at the first error.
template <typename Use> Status forEachItem(std::string_view text, Use use) {
  while (!text.empty()) {
    std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    WAVESMITH_TRY(use(item));
  }
  return Status::ok();
}

} // namespace

std::string_view checkName(CheckKind kind) { return kCheckNames[static_cast<int>(kind)]; }

Expected<Checks> Checks::parse(std::string_view text) {
  if (text == "all")
    return all();
  if (text == "none")
    return none();
  Checks checks = none();
  WAVESMITH_TRY(forEachItem(text, [&](std::string_view item) -> Status {
    for (int i = 0; i < kCheckKinds; ++i)
      if (item == kCheckNames[i]) {
        checks.mask |= 1u << i;
        return Status::ok();
      }
    return error(StatusCode::InvalidArgument,
                 "unknown check '{}': expected all, none or a comma list of memory, "
                 "uninitialised, waits, races, barriers, hazards, alignment, registers",
                 item);
  }));
  return checks;
}

Expected<ExecutionOrder> ExecutionOrder::parse(std::string_view text) {
  ExecutionOrder order;
  if (text == "default")
    return order;
  WAVESMITH_TRY(forEachItem(text, [&](std::string_view item) -> Status {
    if (item == "vmem-early")
      order.vectorMemory = Landing::Early;
    else if (item == "vmem-late")
      order.vectorMemory = Landing::Late;
    else if (item == "lds-early")
      order.lds = Landing::Early;
    else if (item == "lds-late")
      order.lds = Landing::Late;
    else if (item == "lockstep")
      order.waves = Waves::Lockstep;
    else if (item == "run-to-barrier")
      order.waves = Waves::RunToBarrier;
    else if (item == "preemptive")
      order.waves = Waves::Preemptive;
    else if (item == "poison")
      order.poison = true;
    else
      return error(StatusCode::InvalidArgument,
                   "unknown order '{}': expected default or a comma list of vmem-early, "
                   "vmem-late, lds-early, lds-late, lockstep, run-to-barrier, preemptive, poison",
                   item);
    return Status::ok();
  }));
  return order;
}

std::string ExecutionOrder::text() const {
  std::string result = vectorMemory == Landing::Early ? "vmem-early" : "vmem-late";
  result += lds == Landing::Early ? ",lds-early" : ",lds-late";
  result += waves == Waves::Lockstep       ? ",lockstep"
            : waves == Waves::RunToBarrier ? ",run-to-barrier"
                                           : ",preemptive";
  if (poison)
    result += ",poison";
  return result;
}

std::string Fault::text() const {
  std::string where = wave < 0 ? "" : fmt::format(" wave {}", wave);
  if (lane >= 0)
    where += fmt::format(" lane {}", lane);
  return fmt::format("{}: {}+{:#x}: {} [workgroup {},{},{}{}]: {}", checkName(kind), kernel, pc,
                     disassembly, workgroup[0], workgroup[1], workgroup[2], where, message);
}

} // namespace wavesmith::emulator
