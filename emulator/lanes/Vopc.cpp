// Lane functions of the rows in isa/rows/Vopc.def, in row order.
#include "emulator/lanes/Prologue.h"

namespace wavesmith::emulator::WAVESMITH_LANES {

#define ROW(name, opcode, ...) laneFunctionOf([] __VA_ARGS__),
#define VOPC ROW
#define VOPCX ROW
extern const LaneFunction kVopc[];
const LaneFunction kVopc[] = {
#include "emulator/isa/rows/Vopc.def"
};

} // namespace wavesmith::emulator::WAVESMITH_LANES
