// Lane functions of the rows in isa/rows/Vop1.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {

#define ROW(name, opcode, ...) laneFunctionOf([] __VA_ARGS__),
#define VOP1 ROW
#define VOP1_950 ROW
extern const LaneFunction kVop1[];
const LaneFunction kVop1[] = {
#include "emulator/isa/rows/Vop1.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
