#pragma once
// The matrix phase: an ordered list of MFMAs, the LDS fragments that feed them, and side operations
// in numbered slots. Fragments are requested a fixed number ahead and every slot is pinned, because
// the emitted order is the schedule: LLVM's scheduler would undo it. Fill it, then prefetch()
// before the barrier that opens the phase and emit() after it.

#include <functional>

#include "compiler/lowering/Emitter.h"

namespace wavesmith::compiler {

class MatrixPhase {
public:
  using Value = mlir::Value;
  /// Reads one fragment: one or several A operands.
  using ReadFragment = std::function<mlir::SmallVector<Value>()>;

  MatrixPhase(Emitter &emit, const MfmaAtom &atom, int ring, int pre)
      : emit_(emit), atom_(atom), ring_(ring), pre_(pre) {}

  /// A fragment, in the order of first use. Returns its number.
  int addFragment(ReadFragment read);
  /// An accumulator with its initial value; null starts from zero.
  int addAccumulator(Value initial);
  /// The next MFMA: accumulator += fragment's operand number `part` * b.
  void addProduct(int fragment, int part, Value b, int accumulator);
  /// The next MFMA, of another atom and without a fragment: accumulator += a * b.
  void addProduct(const MfmaAtom &atom, Value a, Value b, int accumulator);
  /// `operation` right after MFMA number `slot` (from 0; past the end: the last one).
  void addSideOperation(int slot, std::function<void()> operation);

  int products() const { return static_cast<int>(products_.size()); }
  void prefetch();
  void emit();
  Value accumulator(int index) const { return accumulators_[index]; }

private:
  struct Product {
    const MfmaAtom *atom;
    int fragment, part; ///< where `a` is to be read; -1: it is given
    Value a, b;
    int accumulator;
    bool lastUse; ///< of the fragment
  };
  void requestFragments(int count);

  Emitter &emit_;
  const MfmaAtom &atom_;
  int ring_, pre_;
  std::vector<ReadFragment> fragments_;
  std::vector<mlir::SmallVector<Value>> operands_; ///< of the fragments requested so far
  std::vector<Value> accumulators_;
  std::vector<Product> products_;
  std::vector<std::pair<int, std::function<void()>>> sideOperations_;
};

} // namespace wavesmith::compiler
