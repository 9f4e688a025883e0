#pragma once
// What the long, SDWA and DPP forms add around a lane function: source selection and modifiers
// before, clamping and partial writes after.

#include "emulator/machine/Machine.h"

namespace wavesmith::emulator {

LaneFunction laneFunctionFor(const LaneSet &lanes, const Row &row);

/// Calls the row's lane function under the rounding that MODE asks for.
void callLanes(Machine &machine, const Wave &wave, const Inst &inst, LaneIo &io);

/// Applies DPP or SDWA selection, op_sel, abs and neg to the sources (into `scratch`) and narrows
/// the write mask where DPP says so.
void prepareSources(Machine &machine, Wave &wave, const Inst &inst, LaneIo &io,
                    u32 (*scratch)[2 * kLanes], u64 &mask);
/// omod, clamp, op_sel and SDWA destinations.
void finishResult(Machine &machine, Wave &wave, const Inst &inst, const LaneIo &io, u32 *result);
void clampHalves(u32 *values, bool nanToZero);
/// The result of an integer sum under clamp, from its sources; false when the row has none.
bool saturate(const Inst &inst, const LaneIo &io, u32 *result);

/// The halves and signs that the modifiers of a sum of products of 16-bit items choose; and its
/// clamp.
void prepareDot(const Inst &inst, LaneIo &io, u32 (*scratch)[2 * kLanes]);
void finishDot(Machine &machine, const Inst &inst, const LaneIo &io, u32 *result);
/// Which lane each lane reads under a DPP control, -1 for none.
void dppSources(u16 control, int *from);

} // namespace wavesmith::emulator
