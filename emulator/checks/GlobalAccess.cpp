// What a workgroup tells the race check about its accesses to device memory, when they land.

#include <bit>

#include "emulator/checks/GlobalRaces.h"
#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {
namespace {

u32 accessBy(const Wave &wave, const Inst &inst, int lane) {
  return Access32::pack(inst.number, wave.id, lane);
}

void changeAtomically(GroupLog &log, GlobalRaces *races, const Inst &inst, u64 address,
                      bool returns, u32 by) {
  if (races && returns)
    races->acquire(log, address);
  log.footprint.atomic(address, inst.row->access.bytes, by);
  if (races)
    races->release(log, address);
}

} // namespace

// sc1 makes an access coherent over the device: how compilers spell atomic and volatile loads and
// stores. Such a load conflicts with nothing.

void Machine::noteLoads(const Wave &wave, const PendingOp &op, u64 lanes, unsigned bytes) {
  const u32 by = accessBy(wave, *op.inst, 0);
  while (lanes) {
    const int first = std::countr_zero(lanes);
    const u64 address = op.address[first];
    int next = first + 1; // behind the lanes that read one behind the other
    while (next < kLanes && (lanes >> next & 1) &&
           op.address[next] == address + u64{bytes} * static_cast<u64>(next - first))
      ++next;
    const auto count = static_cast<unsigned>(next - first);
    if (!op.inst->sc1)
      log_->footprint.readRun(address, bytes, count, by | static_cast<u32>(first));
    for (u64 done = 0; op.inst->sc1 && races_ && done < u64{bytes} * count; done += 4)
      races_->acquire(*log_, address + done);
    lanes &= next < kLanes ? ~u64{0} << next : 0;
  }
}

void Machine::noteStore(const Wave &wave, const PendingOp &op, int lane, unsigned bytes,
                        const std::byte *stored) {
  u64 address = op.address[lane];
  u32 by = accessBy(wave, *op.inst, lane);
  if (!op.inst->sc1)
    return log_->footprint.write(address, bytes, by, stored);
  log_->footprint.atomic(address, bytes, by);
  for (unsigned done = 0; races_ && done < bytes; done += 4)
    races_->release(*log_, address + done);
}

void Machine::noteAtomic(const Wave &wave, const PendingOp &op, int lane) {
  changeAtomically(*log_, races_, *op.inst, op.address[lane],
                   op.inst->destination.kind == OperandKind::Vector,
                   accessBy(wave, *op.inst, lane));
}

void Machine::noteScalarAtomic(const Wave &wave, const Inst &inst, u64 address) {
  changeAtomically(*log_, races_, inst, address, inst.sc0, accessBy(wave, inst, 0));
}

void Machine::noteScalarLoad(const Wave &wave, const Inst &inst, u64 address) {
  if (!inst.sc0) // glc
    log_->footprint.read(address, 4, accessBy(wave, inst, 0));
  else if (races_)
    races_->acquire(*log_, address);
}

void Machine::noteScalarStore(const Wave &wave, const Inst &inst, u64 address,
                              const std::byte *stored) {
  log_->footprint.write(address, 4, accessBy(wave, inst, 0), stored);
}

} // namespace wavesmith::emulator
