#pragma once
// The handlers that rows name. Each executes one instruction of one wave.

#include "emulator/isa/Row.h"

namespace wavesmith::emulator {

#define WAVESMITH_HANDLER(name) void name(Machine &machine, Wave &wave, const Inst &inst)

// Vector.cpp, VectorForms.cpp, Matrix.cpp, LaneAccess.cpp
WAVESMITH_HANDLER(runVector);
WAVESMITH_HANDLER(runWide);
WAVESMITH_HANDLER(runPacked16);
WAVESMITH_HANDLER(runPacked32);
WAVESMITH_HANDLER(runPackedMove);
WAVESMITH_HANDLER(runMix);
WAVESMITH_HANDLER(runMatrix);
WAVESMITH_HANDLER(readFirstLane);
WAVESMITH_HANDLER(readLane);
WAVESMITH_HANDLER(writeLane);
WAVESMITH_HANDLER(swapRegisters);
WAVESMITH_HANDLER(moveRegister);
WAVESMITH_HANDLER(permlaneSwap);
// Control.cpp
WAVESMITH_HANDLER(doNothing);
WAVESMITH_HANDLER(endProgram);
WAVESMITH_HANDLER(branchAlways);
WAVESMITH_HANDLER(branchScc0);
WAVESMITH_HANDLER(branchScc1);
WAVESMITH_HANDLER(branchVccz);
WAVESMITH_HANDLER(branchVccnz);
WAVESMITH_HANDLER(branchExecz);
WAVESMITH_HANDLER(branchExecnz);
WAVESMITH_HANDLER(barrier);
WAVESMITH_HANDLER(waitCounters);
WAVESMITH_HANDLER(trap);
WAVESMITH_HANDLER(getPc);
WAVESMITH_HANDLER(setPc);
WAVESMITH_HANDLER(swapPc);
WAVESMITH_HANDLER(callRelative);
WAVESMITH_HANDLER(moveRelative);
WAVESMITH_HANDLER(getRegister);
WAVESMITH_HANDLER(setRegister);
WAVESMITH_HANDLER(notAnInstruction);
WAVESMITH_HANDLER(refused);
WAVESMITH_HANDLER(setKill);
WAVESMITH_HANDLER(forkTo);
WAVESMITH_HANDLER(forkRelative);
WAVESMITH_HANDLER(join);
// Redirect.cpp
WAVESMITH_HANDLER(setIndexOn);
WAVESMITH_HANDLER(setIndexOff);
WAVESMITH_HANDLER(setIndexMode);
WAVESMITH_HANDLER(setIndexValue);
WAVESMITH_HANDLER(setSkip);
// ScalarMemory.cpp
WAVESMITH_HANDLER(scalarLoad);
WAVESMITH_HANDLER(scalarBufferLoad);
WAVESMITH_HANDLER(scalarStore);
WAVESMITH_HANDLER(scalarBufferStore);
WAVESMITH_HANDLER(scalarAtomic);
WAVESMITH_HANDLER(scalarBufferAtomic);
WAVESMITH_HANDLER(readClock);
// VectorMemory.cpp
WAVESMITH_HANDLER(vectorMemory);
// Lds.cpp, LdsExchange.cpp
WAVESMITH_HANDLER(ldsAccess);
WAVESMITH_HANDLER(swizzleLanes);
WAVESMITH_HANDLER(permuteLanes);
WAVESMITH_HANDLER(bpermuteLanes);

} // namespace wavesmith::emulator
