#pragma once
// What decides the emitted text of an attention kernel besides its algorithm: the shape, the
// schedule row and the LDS images of K and V. Plain values computed once per kernel by the layout
// passes and read by every emitter of this folder; no MLIR here, so tests check them on the host.

#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "compiler/target/TargetFacts.h"

namespace wavesmith::compiler {

/// What kernel it is.
struct KernelShape {
  int headDimQk = 192;
  int headDimV = 128;
  ElementType element = ElementType::BF16; ///< of q, k and v
  ElementType output = ElementType::BF16;  ///< of out: BF16 or F16
  bool scaled = false;                     ///< descales of q, k and v, for each head or for all
  bool causal = false;  ///< bottom-right aligned; the frame takes the limit itself
  bool writeLse = true; ///< store the natural-log LSE beside the output
  bool splitKv = false; ///< units with slot >= 0 write float32 partials
  bool softCap = false; ///< scaled scores are bounded: cap * tanh(score / cap)
  bool window = false;  ///< limits of keys take the arguments' window
  bool sink = false;    ///< a logit of the head joins each row's sum

  /// Takes ScoredAttentionArguments.
  bool isScored() const { return softCap || window || sink; }
};

/// How P is rounded to 16 bits. Nearest leaves ties of bf16 to what is cheapest: to even where the
/// target has a packed convert (1 VALU a pair), away from zero where it has none (3; ties to even
/// cost 11). Truncated is 1 there too, and makes weights larger by what it takes of them on
/// average.
enum class PRounding : std::uint8_t { Nearest, NearestEven, Truncated };

/// What the group that brings a stream waits for at the end of a softmax phase: how many of its own
/// vector-memory and LDS operations may still be in flight. -1: it does not ask.
struct StreamWaits {
  int vmem = -1, lds = -1;
};

/// Which unit adds up a row's weights: the vector ALU their float32 values, or the matrix core what
/// they were rounded to. The latter costs MFMAs and 1e-2 of the LSE, and saves an add a weight.
enum class RowSum : std::uint8_t { Vector, Matrix };

/// In which order the softmax's instructions stand: each kind a few elements behind the one before
/// it, or in groups of an exp2 and what fits beside it between two MFMAs of the other wave.
enum class SoftmaxOrder : std::uint8_t { Pipelined, Windowed };

/// One schedule row: the anti-phase loop of two groups of four waves, 32 query rows a wave.
struct Schedule {
  int blockM = 256; ///< query rows of a workgroup
  int blockN = 32;  ///< keys of a tile
  int waves = 8;
  int ring = 6; ///< operand fragments in flight in the matrix phase
  int pre = 3;  ///< fragments requested before the barrier that opens it
  int kBuffers = 2;
  int vBuffers = 2;
  /// Steps ahead that tiles through registers are requested: 2, in a matrix phase; or 1, as a
  /// softmax phase starts, which leaves their registers to the matrix phases.
  int registerAhead = 2;
  StreamWaits keyWaits{.vmem = 0, .lds = -1};
  StreamWaits valueWaits{.vmem = -1, .lds = 3};
  float rescaleThreshold = 8.0f; ///< log2 units that the maximum may outgrow its reference
  float weightExponent = 0.0f;   ///< log2 of the factor of all weights, which the sums cancel
  RowSum rowSum = RowSum::Vector;
  SoftmaxOrder order = SoftmaxOrder::Pipelined;
  PRounding pRounding = PRounding::Nearest;
  int pipelineDistance = 4; ///< elements between fma, exp2 and pack of the softmax
  int maxChains = 2;        ///< independent v_max3 chains
  int sumChains = 2;        ///< independent row-sum accumulators within a tile
  int matrixPriority = 1;   ///< s_setprio of the matrix phase
  int softmaxPriority = 0;
};

/// The factor of all weights besides 2^weightExponent. The mantissas m of 2^score are spread like
/// 1/m, so the mean of 1/m is 1 / (2 ln 2), and truncation, which takes half a step of a mantissa
/// on average, takes step / (4 ln 2) of a weight.
constexpr double weightGain(const Schedule &schedule, ElementType element) {
  if (schedule.pRounding != PRounding::Truncated)
    return 1;
  const double step = element == ElementType::F16 ? 0x1p-10 : 0x1p-7;
  return 1 / (1 - step / (4 * std::numbers::ln2));
}

/// ((x >> shift) & (2^bits - 1)) * scale.
struct BitField {
  int shift, bits, scale;
};

/// A byte offset or row number as a sum of fields of the lane and of the wave within its group.
/// Both the emitters and the host-side checker evaluate this same description.
struct LaneMap {
  std::vector<BitField> lane;
  std::vector<BitField> wave;

  int evaluate(int laneId, int waveId) const;
};

/// How the lanes of a wave meet one range of the rows' bytes: what they fetch and what they read.
struct Segment {
  LaneMap globalRow;    ///< row of a lane's bytes, Transfer::row excluded
  LaneMap globalColumn; ///< their first byte in the row, Transfer::column excluded
  LaneMap read;         ///< LDS byte of the segment's fragments, Fragment::immediate excluded
};

/// One memory instruction of a wave that brings a piece of the tile: 64 lanes, some bytes each.
struct Transfer {
  int segment;
  /// Added to Segment::globalRow: `base` by the descriptor, on the scalar unit, and `row` by the
  /// lanes, which keep an offset for each.
  int base = 0, row;
  int column; ///< bytes into the row, the instruction's immediate offset
  int lds; ///< LDS byte that lane 0 of wave 0 fills (DMA only), buffer and the wave's line excluded
};

/// What a wave reads of LDS at once: bytes of each lane, one operand or several.
struct Fragment {
  int segment;
  int immediate;
};

/// How one K or V tile travels from memory to LDS and how its operand fragments are read back.
/// RowLines (K): DMA in lines, each line = one segment of a few rows, padded between lines, or, of
/// tiles that leave no room for it, with the rows' chunks interleaved.
/// Transposed (V): rows go through registers, v_perm gathers the elements of one column from 4 / e
/// dwords of e-byte elements, and LDS holds 16 bytes of keys of one column contiguous.
/// TransposeReads (V): DMA in lines of whole rows; the reads transpose.
struct LdsImage {
  enum class Kind : std::uint8_t { RowLines, Transposed, TransposeReads };
  Kind kind = Kind::RowLines;
  int rows = 0;        ///< keys of a tile
  int rowBytes = 0;    ///< bytes of one row in memory
  int lineBytes = 0;   ///< LDS pitch of a line, padding included, or of a key group (Transposed)
  int bufferBytes = 0; ///< one tile; 0: there is no image for the combination
  int buffers = 0;
  int offset = 0; ///< LDS byte of the first buffer
  int lead = 0;   ///< 1: a matrix phase reads the tile of the next step (K), 0: of its own (V)

  std::vector<Segment> segments;
  std::vector<Transfer> transfers;
  int transferBytes = 4;  ///< of a lane
  int fragmentBytes = 16; ///< of a lane
  /// The reads that make a fragment: LDS bytes from its immediate.
  std::vector<int> pieces{0};
  /// In the order of use: of keys, block after block; of values, all column blocks of a piece of
  /// the keys.
  std::vector<Fragment> fragments;

  LaneMap write;      ///< Transposed: LDS byte of a lane's stores
  int writeBytes = 0; ///< of one store: 16, 8 or 4
  /// For the column of each element of a dword, of each part of a row.
  std::vector<int> writeImmediate;
  /// Values: column of row `lane` of block `wave`. Blocks of 32 columns, the rows of an A operand
  /// each, are cut so that a lane's accumulators make runs of 8 columns, which leave as 16-byte
  /// stores (4 and 8 bytes where transposing reads take whole bytes).
  LaneMap column;

  bool throughRegisters() const { return kind == Kind::Transposed; }
  int totalBytes() const { return bufferBytes * buffers; }
  /// Of one instruction and lane.
  int readBytes() const { return fragmentBytes / static_cast<int>(pieces.size()); }
  /// DMA: tiles that are requested before the first matrix phase, and those that may be in flight
  /// when a softmax phase ends. V is read one phase earlier than K, since reads of it precede the
  /// barrier.
  int firstTiles() const { return buffers - 1 + lead; }
  int tilesInFlight() const { return buffers - 3 + lead; }
};

/// The image of a K tile; fragment = (block of 32 keys, 32-byte chunk of a row), chunks fastest.
LdsImage keyImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                  const TargetFacts &target);
/// The image of a V tile; fragment = (piece of the keys, column block), blocks fastest.
LdsImage valueImage(const MfmaAtom &atom, const Schedule &schedule, int headDim,
                    const TargetFacts &target);

/// Extra bank cycles of the worst instruction over the conflict-free minimum; 0 = free.
struct BankConflicts {
  int reads = 0;
  int writes = 0;
};
BankConflicts bankConflicts(const LdsImage &image, const TargetFacts &target);

/// Empty, or why this folder cannot emit the combination, naming the value and what would be right.
std::string unsupportedReason(const KernelShape &shape, const Schedule &schedule,
                              const TargetFacts &target);

} // namespace wavesmith::compiler
