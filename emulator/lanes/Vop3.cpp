// Lane functions of the rows in isa/rows/Vop3.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {

#define ROW(name, opcode, ...) laneFunctionOf([] __VA_ARGS__),
#define VOP3 ROW
#define VOP3_950 ROW
#define VOP3_VCC ROW
#define VOP3_BITOP ROW
#define VOP3_HALF ROW
#define VOP3_BYTE ROW
#define SCALE ROW
#define SCALE_TO_HALF ROW
#define SCALE_TO_BYTE ROW
#define SCALE_FROM_BYTE ROW
#define SCALE_BYTE_TO_HALF ROW
extern const LaneFunction kVop3[];
const LaneFunction kVop3[] = {
#include "emulator/isa/rows/Vop3.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
