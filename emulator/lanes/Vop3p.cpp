// Lane functions of the rows in isa/rows/Vop3p.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {

#define ROW(name, opcode, ...) laneFunctionOf([] __VA_ARGS__),
#define PK16 ROW
#define PK16_950 ROW
#define PK32 ROW
#define PK32_MOV ROW
#define MIX ROW
#define DOT ROW
#define DOT_950 ROW
extern const LaneFunction kVop3p[];
const LaneFunction kVop3p[] = {
#include "emulator/isa/rows/Vop3p.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
