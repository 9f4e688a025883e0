#include "emulator/machine/TypedBuffer.h"

#include <algorithm>
#include <bit>

namespace wavesmith::emulator {
namespace {

/// The bits of an element.
struct Fields {
  u64 words[2] = {};

  u32 at(unsigned shift, unsigned bits) const {
    u64 value = words[shift / 64] >> (shift % 64);
    return static_cast<u32>(value & ((u64{1} << bits) - 1));
  }
  void set(unsigned shift, unsigned bits, u32 field) {
    u64 mask = (u64{1} << bits) - 1;
    words[shift / 64] |= (field & mask) << (shift % 64);
  }
};

/// All bits of a field valid?
bool fieldValid(const Fields &valid, unsigned shift, unsigned bits) {
  return valid.at(shift, bits) == static_cast<u32>((u64{1} << bits) - 1);
}

/// Validity bits of what was read.
Fields validityOf(Machine &machine, const Reach &at, u64 address, unsigned bytes) {
  Fields valid;
  valid.words[0] = valid.words[1] = ~u64{0};
  if (!machine.tracksValidity() || !at.allocation || at.allocation->fullyWritten())
    return valid;
  u32 written = at.allocation->written(address, bytes);
  for (unsigned byte = 0; byte < bytes; ++byte)
    if (!((written >> byte) & 1))
      valid.words[byte / 8] &= ~(u64{0xff} << (8 * (byte % 8)));
  return valid;
}

} // namespace

TypedAccess typedAccess(const Inst &inst, u32 descriptor) {
  TypedAccess typed;
  if (inst.row->format == Format::Mtbuf) {
    typed.dfmt = inst.dataFormat;
    typed.number = static_cast<NumberFormat>(inst.numberFormat);
    return typed;
  }
  typed.dfmt = (descriptor >> 15) & 15;
  typed.number = static_cast<NumberFormat>((descriptor >> 12) & 7);
  for (int i = 0; i < 4; ++i)
    typed.select[i] = (descriptor >> (3 * i)) & 7;
  return typed;
}

namespace {

/// The components of one lane as its registers get them, and whether each is defined.
struct Components {
  u32 value[4] = {};
  bool valid[4] = {true, true, true, true};
};

Components loadComponents(Machine &machine, Wave &wave, const PendingOp &op, int lane) {
  const TypedAccess &typed = op.typed;
  const DataFormat &format = dataFormat(typed.dfmt);
  unsigned bytes = format.bytes();
  Components element, result;
  Fields fields, valid;
  if (((op.inRange[0] >> lane) & 1) && bytes) {
    Reach at = reach(machine, wave, *op.inst, lane, op.address[lane], bytes, "load");
    if (at.bytes) {
      if (machine.log() && at.allocation)
        machine.noteLoads(wave, op, u64{1} << lane, bytes);
      std::memcpy(fields.words, at.bytes, bytes);
      valid = validityOf(machine, at, op.address[lane], bytes);
      for (unsigned i = 0, shift = 0; i < format.components; shift += format.bits[i++]) {
        element.value[i] =
            decodeComponent(fields.at(shift, format.bits[i]), format.bits[i], typed.number);
        element.valid[i] = fieldValid(valid, shift, format.bits[i]);
      }
    }
  }
  for (int i = 0; i < 4; ++i) {
    unsigned select = typed.select[i];
    if (select >= 4) {
      result.value[i] = element.value[select - 4];
      result.valid[i] = element.valid[select - 4];
    } else if (select == 1) {
      bool integer = typed.number == NumberFormat::Uint || typed.number == NumberFormat::Sint;
      result.value[i] = integer ? 1 : std::bit_cast<u32>(1.0f);
    }
  }
  return result;
}

} // namespace

u32 typedStoreBits(const Inst &inst, const TypedAccess &typed, int word) {
  const Access &access = inst.row->access;
  u32 mask = 0;
  for (int i = 0; i < access.components; ++i) {
    bool stored = typed.select[i] >= 4 && typed.select[i] - 4 < dataFormat(typed.dfmt).components;
    if (stored && (access.half ? i / 2 : i) == word)
      mask |= !access.half ? ~0u : (access.high || i % 2 ? 0xffff0000u : 0xffffu);
  }
  return mask;
}

void landTypedLoad(Machine &machine, Wave &wave, PendingOp &op) {
  const Inst &inst = *op.inst;
  const Access &access = inst.row->access;
  bool toLds = isLdsDma(inst);
  alignas(64) u32 result[4][kLanes] = {};
  // The defined bits of each word.
  alignas(64) u32 valid[4][kLanes];
  std::memset(valid, 0xff, sizeof(valid));
  int words = toLds ? 1 : inst.destination.words;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!((op.lanes >> lane) & 1))
      continue;
    Components got = loadComponents(machine, wave, op, lane);
    if (!access.half) {
      for (int i = 0; i < words; ++i) {
        result[i][lane] = got.value[i];
        valid[i][lane] = got.valid[i] ? ~0u : 0;
      }
      continue;
    }
    for (int i = 0; i < words && !toLds; ++i) {
      // Halves that no component fills keep what the register held.
      int reg = inst.destination.index + i;
      result[i][lane] = wave.lanes(reg)[lane];
      bool defined = !(wave.vectorState[reg] & kInvalid);
      valid[i][lane] = defined ? ~0u : wave.vectorValid[reg][lane];
    }
    for (int i = 0; i < access.components; ++i) {
      int half = access.high ? 1 : i % 2;
      u32 mask = 0xffffu << (16 * half);
      u32 bits = narrowComponent(got.value[i], op.typed.number) << (16 * half);
      result[i / 2][lane] = (result[i / 2][lane] & ~mask) | bits;
      valid[i / 2][lane] = (valid[i / 2][lane] & ~mask) | (got.valid[i] ? mask : 0);
    }
  }
  if (toLds) {
    Workgroup &group = machine.group;
    for (int lane = 0; lane < kLanes; ++lane) {
      u64 to = u64{op.ldsBase} + u64(lane) * 4;
      if (!((op.lanes >> lane) & 1) || to + 4 > group.ldsBytes)
        continue;
      std::memcpy(&group.lds[to], &result[0][lane], 4);
      if (machine.tracksValidity())
        std::memcpy(&group.ldsValid[to], &valid[0][lane], 4);
    }
    return;
  }
  for (int i = 0; i < words; ++i) {
    int reg = inst.destination.index + i;
    machine.lanes.blend(wave.lanes(reg), result[i], op.lanes);
    if (!machine.tracksValidity())
      continue;
    LaneValidity bits;
    std::copy_n(valid[i], kLanes, bits.begin());
    machine.setValid(wave, reg, op.lanes, bits);
  }
}

void landTypedStore(Machine &machine, Wave &wave, PendingOp &op) {
  const Access &access = op.inst->row->access;
  const TypedAccess &typed = op.typed;
  const DataFormat &format = dataFormat(typed.dfmt);
  unsigned bytes = format.bytes();
  if (!bytes)
    return; // an unbound resource
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!((op.lanes & op.inRange[0]) >> lane & 1))
      continue;
    Reach at = reach(machine, wave, *op.inst, lane, op.address[lane], bytes, "store");
    if (!at.bytes)
      continue;
    Fields fields;
    for (unsigned i = 0, shift = 0; i < format.components; shift += format.bits[i++]) {
      // The component of the registers that is selected for this one of the element; none: zero.
      const u8 *from = std::find(typed.select, typed.select + access.components, 4 + i);
      if (from == typed.select + access.components)
        continue;
      auto source = static_cast<unsigned>(from - typed.select);
      u32 value =
          access.half
              ? widenComponent(op.data[source / 2][lane] >> (16 * (access.high ? 1 : source % 2)),
                               typed.number)
              : op.data[source][lane];
      fields.set(shift, format.bits[i], encodeComponent(value, format.bits[i], typed.number));
    }
    std::memcpy(at.bytes, fields.words, bytes);
    if (machine.log() && at.allocation)
      machine.noteStore(wave, op, lane, bytes, reinterpret_cast<const std::byte *>(fields.words));
    if (at.allocation)
      at.allocation->markWritten(op.address[lane], bytes);
  }
}

} // namespace wavesmith::emulator
