// Lane functions of the rows in isa/rows/Vop2.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {

#define ROW(name, opcode, ...) laneFunctionOf([] __VA_ARGS__),
#define VOP2 ROW
#define VOP2_950 ROW
#define VOP2_K ROW
extern const LaneFunction kVop2[];
const LaneFunction kVop2[] = {
#include "emulator/isa/rows/Vop2.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
