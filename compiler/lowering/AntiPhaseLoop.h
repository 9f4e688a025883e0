#pragma once
// Two groups of four waves, two waves to a SIMD, one phase apart: while group A multiplies, group B
// does softmax, and the other way round. A also brings K to LDS, B brings V. Softmax phase V(t) and
// matrix phase M(t) = PV(t), QK(t+1) alternate, each closed by one barrier; both groups execute the
// same number of barriers whatever the tile counts are.
//
//   A: prologue | V(0) | M(0) | V(1) | M(1) ...        | closing
//   B: prologue | QK(0)| V(0) | M(0) | V(1) ... | M(last)
//
// By DMA, a tile is requested in M(t) into the buffer that its readers left one phase before: A
// requests K[t + buffers], B V[t + buffers - 1]. Through registers, B loads V[t + 2] in M(t), or as
// V(t + 1) starts, and stores it at the end of its V(t + 1). The wait at the end of a softmax phase
// publishes K[t + 1] to A's next phase, V[t + 1] one phase before A needs it, hence reads of V may
// precede the barrier of M.

#include "compiler/lowering/MatrixPhase.h"
#include "compiler/lowering/OnlineSoftmax.h"
#include "compiler/lowering/QueryFragments.h"
#include "compiler/lowering/ScoreFunctions.h"
#include "compiler/lowering/TileStream.h"

namespace wavesmith::compiler {

enum class WaveGroup : std::uint8_t { Keys, Values }; ///< A and B, by what they bring

/// Full: every score is visible. Masked: some are not. Idle: the group's rows see nothing more
/// (they lie before the tile, or do not exist); it only brings tiles for the other and keeps the
/// barriers.
enum class TileKind : std::uint8_t { Full, Masked, Idle };

/// Everything that the loops carry.
struct LoopState {
  mlir::SmallVector<mlir::Value> outputs; ///< O^T, an accumulator for each block of columns
  mlir::SmallVector<mlir::Value> scores;  ///< S^T of the next softmax phase, for each block of keys
  SoftmaxState softmax;
  StreamState stream;                 ///< of the stream that the group brings
  mlir::Value tile;                   ///< t, of the next softmax phase
  mlir::Value keyBuffer, valueBuffer; ///< LDS bytes of K[t+1] and V[t]

  mlir::SmallVector<mlir::Value> flatten() const;
  /// The same shape with other values, in flatten's order.
  LoopState rebuilt(mlir::ValueRange values) const;
};

class AntiPhaseLoop {
public:
  using Value = mlir::Value;

  AntiPhaseLoop(KernelFrame &frame, QueryFragments &query, TileStream &keys, TileStream &values,
                ScoreFunctions scoreFunctions);

  /// First tiles on their way, QK(0) done; ends where both groups enter their loop.
  LoopState emitPrologue(WaveGroup group);
  /// Loops while state.tile < tiles; emits in a block of its own and continues after it.
  LoopState emitLoop(WaveGroup group, LoopState state, Value tiles, TileKind kind);
  /// Balances the barriers and lets no DMA outlive the workgroup.
  void emitClosing(WaveGroup group);

  /// One tile, V(t) to M(t) with both barriers: the loops' body.
  void emitTile(WaveGroup group, LoopState &state, TileKind kind);

private:
  void emitIdleTile(WaveGroup group, LoopState &state);
  mlir::SmallVector<Value> emitSoftmax(LoopState &state, bool masked,
                                       mlir::function_ref<void()> halfway);
  /// Returns the sum's accumulator.
  int addRowSum(MatrixPhase &phase, const LoopState &state, mlir::ArrayRef<Value> probabilities);
  /// Returns the first of the accumulators, in the order of the outputs.
  int addOutputProducts(MatrixPhase &phase, const LoopState &state,
                        mlir::SmallVector<Value> valueBases, mlir::ArrayRef<Value> probabilities);
  /// Returns the first of the accumulators, one for each block of keys.
  int addScoreProducts(MatrixPhase &phase, mlir::SmallVector<Value> keyBases);
  /// Wait states between the last MFMAs and the next softmax phase, which asks for the blocks of
  /// scores in their order.
  int statesBeforeSoftmax() const;
  mlir::SmallVector<Value> scoresOf(const MatrixPhase &phase, int first) const;
  /// The next tile of the group's own stream, a transfer in each slot.
  void addRequests(MatrixPhase &phase, WaveGroup group, const LoopState &state, StreamState &next);

  TileStream &ownStream(WaveGroup group) { return group == WaveGroup::Keys ? keys_ : values_; }
  /// LDS byte of the buffer before that of the own tile, in the order of reading: nobody reads it.
  Value ownTarget(WaveGroup group, const LoopState &state);
  /// LDS byte of the next or the last buffer of a ring, from one's.
  Value following(const LdsImage &image, Value buffer);
  Value preceding(const LdsImage &image, Value buffer);

  KernelFrame &frame_;
  QueryFragments &query_;
  TileStream &keys_, &values_;
  ScoreFunctions scoreFunctions_;
  OnlineSoftmax softmax_;
  Value sumSelector_; ///< null: the vector ALU adds
  RowKeys rowKeys_;   ///< of the loop over masked tiles that is emitted
};

} // namespace wavesmith::compiler
