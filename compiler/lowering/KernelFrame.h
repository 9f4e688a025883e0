#pragma once
// The function around an attention kernel: attributes, arguments in the layout of
// runtime/spec/AttentionAbi.h, the LDS of K and V, the work unit and the ids that every other
// emitter starts from. Owns the builder; lives as long as the emission of one kernel.

#include <functional>
#include <memory>

#include <mlir/IR/BuiltinOps.h>

#include "compiler/lowering/Emitter.h"

namespace wavesmith::compiler {

/// AttentionArguments and, null unless the shape is scored, ScoreArguments, member by member. All
/// uniform.
struct KernelArguments {
  mlir::Value q, k, v, out, lse, partialOut, partialLse, work;
  mlir::Value descaleQ, descaleK, descaleV;
  mlir::Value qRowStride, qHeadStride, kRowStride, kHeadStride, vRowStride, vHeadStride;
  mlir::Value outRowStride, outHeadStride, lseHeadStride;
  mlir::Value scaleLog2, sharedDescales;
  mlir::Value softCapRange, softCapRate, windowLeft, windowRight, sinks;
};

class KernelFrame;

/// A key (i32) for the query of that index in its sequence; it does not fall when the query grows.
/// Arguments and unit are there.
using KeyLimit = std::function<mlir::Value(KernelFrame &, mlir::Value query)>;
/// The last and the first key that a query sees; one for each mask of the template.
struct KeyLimits {
  std::vector<KeyLimit> last, first;
};

/// AttentionWorkUnit, member by member. All uniform.
struct WorkUnit {
  mlir::Value qBegin, kvBegin, lenQ, lenKv, q0, kv0, kv1, head, kvHead, slot, sink;
};

/// Who a lane is.
struct LaneIds {
  mlir::Value lane;    ///< 0..63
  mlir::Value column;  ///< lane % 32: the query of this lane
  mlir::Value half;    ///< lane / 32
  mlir::Value unitRow; ///< this lane's query row within the unit
};

/// What a lane's row sees. Keys are less 4 * half, the accumulator rows' own offset.
struct RowKeys {
  mlir::Value limit; ///< the last key; null if there is a limit to the first one too
  mlir::Value floor; ///< then: the first key
  mlir::Value count; ///< and how many it sees
};

class KernelFrame {
public:
  using Value = mlir::Value;

  /// Appends function `name` and its LDS to the module and emits the common entry.
  KernelFrame(mlir::ModuleOp module, llvm::StringRef name, const KernelShape &shape,
              const Schedule &schedule, const TargetFacts &target, const KeyLimits &limits);

  const KernelShape &shape() const { return shape_; }
  const Schedule &schedule() const { return schedule_; }
  const MfmaAtom &atom() const { return atom_; }
  const MfmaAtom *rowSumAtom() const { return rowSumAtom_; } ///< null if there is none
  const LdsImage &keys() const { return keys_; }
  const LdsImage &values() const { return values_; }
  /// Wait states from an MFMA until other instructions may use its result.
  int resultStates() const { return atom_.passes + target_.mfmaResultStates; }

  mlir::LLVM::LLVMFuncOp function() { return function_; }
  Emitter &emit() { return *emit_; }
  const KernelArguments &arguments() const { return arguments_; }
  const WorkUnit &unit() const { return unit_; }
  Value lds() const { return lds_; }
  /// Uniform: what turns a score, as score functions leave it, into the exponent of 2; without a
  /// soft cap from a product of q and k, descales included.
  Value scoreScale() const { return scoreScale_; }
  /// Uniform: -2 / cap * log2(e) times the scale of the products; null without a soft cap.
  Value softCapRate() const { return softCapRate_; }
  Value outputScale() const { return outputScale_; } ///< V's descale; null without

  const LaneIds &ids() const { return ids_; }
  /// The same anew. What is needed only after the loops does not take registers through them.
  LaneIds emitIdsAgain();
  /// The same for all that follows in a wave group's code.
  void renewIds() { ids_ = emitIdsAgain(); }
  /// 4 * (lane ^ 32), for Emitter::withPartner.
  Value emitPartner();
  Value wave() const { return wave_; }           ///< uniform, 0..7
  Value groupWave() const { return groupWave_; } ///< uniform, 0..3
  Value unitRows() const { return unitRows_; }   ///< uniform: valid rows of the unit, at most 256

  /// Uniform: tiles in which every row sees all keys, tiles in which some row of a wave group (0,
  /// 1) sees some key, and tiles in which any row does.
  Value fullTiles() const { return fullTiles_; }
  Value groupTiles(int group) const { return groupTiles_[group]; }
  Value allTiles() const { return allTiles_; }
  /// Uniform: first tiles in which some row of the group does not see the first keys; null if there
  /// is no limit to the first key.
  Value leadingTiles(int group) const { return leadingTiles_[group]; }
  /// Anew for this lane's row.
  RowKeys emitRowKeys();

  /// `base` + row * rowStride + head * headStride, all 64-bit; row and head are i32.
  Value address(Value base, Value row, Value rowStride, Value head, Value headStride);
  /// Bytes from the first to the last valid row, 0 without rows: what a descriptor may cover.
  Value extent(Value rows, Value rowStride, int rowBytes);

private:
  void createFunction(mlir::ModuleOp module, llvm::StringRef name);
  void createLds(mlir::ModuleOp module, llvm::StringRef name);
  void emitIds();
  LaneIds idsOf(Value lane);
  /// Of a row of the unit.
  Value lastKey(Value row);
  Value firstKey(Value row);
  void emitUnit();
  void emitScales();
  void emitDescales();
  void emitTileCounts();

  KernelShape shape_;
  Schedule schedule_;
  const TargetFacts &target_;
  MfmaAtom atom_;
  const MfmaAtom *rowSumAtom_;
  LdsImage keys_, values_;
  mlir::LLVM::LLVMFuncOp function_;
  std::unique_ptr<Emitter> emit_;
  KernelArguments arguments_;
  WorkUnit unit_;
  Value scoreScale_, outputScale_, softCapRate_;
  KeyLimits limits_;
  LaneIds ids_;
  Value lds_, wave_, groupWave_, unitRows_;
  Value fullTiles_, groupTiles_[2], allTiles_, leadingTiles_[2];
};

} // namespace wavesmith::compiler
