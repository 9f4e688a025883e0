// The text forms of the options and of a fault: what command lines, variables and reports show.

#include <algorithm>
#include <array>

#include "emulator/Emulator.h"

namespace wavesmith::emulator {
namespace {

constexpr std::array<std::string_view, kCheckKinds> kCheckNames = {
    "memory", "uninitialised", "waits", "races", "barriers", "hazards", "alignment", "registers"};

/// Calls `use` for each item of a comma list; stops at the first error. An empty text has none.
template <typename Use> Status forEachItem(std::string_view what, std::string_view text, Use use) {
  if (text.empty())
    return Status::ok();
  for (std::size_t begin = 0, index = 1; begin <= text.size(); ++index) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    if (comma == begin)
      return error(StatusCode::InvalidArgument, "{} '{}': item {} of the comma list is empty", what,
                   text, index);
    WAVESMITH_TRY(use(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return Status::ok();
}

/// One choice among alternatives; a list may repeat it, but not contradict itself.
template <typename Value> struct Choice {
  Value &value;
  std::string_view chosen = {};

  Status choose(std::string_view item, Value to) {
    if (!chosen.empty() && value != to)
      return error(StatusCode::InvalidArgument,
                   "the orders '{}' and '{}' contradict each other; want one of them", chosen,
                   item);
    chosen = item;
    value = to;
    return Status::ok();
  }
};

} // namespace

std::string_view checkName(CheckKind kind) { return kCheckNames[static_cast<int>(kind)]; }

Expected<Checks> Checks::parse(std::string_view text) {
  if (text == "all")
    return all();
  if (text == "none")
    return none();
  Checks checks = none();
  WAVESMITH_TRY(forEachItem("checks", text, [&](std::string_view item) -> Status {
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
  Choice<Landing> vectorMemory{order.vectorMemory}, lds{order.lds};
  Choice<Waves> waves{order.waves};
  WAVESMITH_TRY(forEachItem("order", text, [&](std::string_view item) -> Status {
    if (item == "vmem-early")
      return vectorMemory.choose(item, Landing::Early);
    if (item == "vmem-late")
      return vectorMemory.choose(item, Landing::Late);
    if (item == "lds-early")
      return lds.choose(item, Landing::Early);
    if (item == "lds-late")
      return lds.choose(item, Landing::Late);
    if (item == "lockstep")
      return waves.choose(item, Waves::Lockstep);
    if (item == "run-to-barrier")
      return waves.choose(item, Waves::RunToBarrier);
    if (item == "preemptive")
      return waves.choose(item, Waves::Preemptive);
    if (item == "poison") {
      order.poison = true;
      return Status::ok();
    }
    return error(StatusCode::InvalidArgument,
                 "unknown order '{}': expected default or a comma list of vmem-early, "
                 "vmem-late, lds-early, lds-late, lockstep, run-to-barrier, preemptive, poison",
                 item);
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
  const auto offset = static_cast<std::uint64_t>(pc);
  return fmt::format("{}: {}{}{:#x}: {} [workgroup {},{},{}{}]: {}{}", checkName(kind), kernel,
                     pc < 0 ? '-' : '+', pc < 0 ? 0 - offset : offset, disassembly, workgroup[0],
                     workgroup[1], workgroup[2], where, message,
                     source.empty() ? "" : " (source: " + source + ")");
}

} // namespace wavesmith::emulator
