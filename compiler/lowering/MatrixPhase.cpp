#include "compiler/lowering/MatrixPhase.h"

#include <cassert>

namespace wavesmith::compiler {

using namespace mlir;

int MatrixPhase::addFragment(ReadFragment read) {
  fragments_.push_back(std::move(read));
  return static_cast<int>(fragments_.size()) - 1;
}

int MatrixPhase::addAccumulator(Value initial) {
  accumulators_.push_back(
      initial ? initial : emit_.zero(emit_.vector(atom_.accumulatorRegisters, emit_.f32())));
  return static_cast<int>(accumulators_.size()) - 1;
}

void MatrixPhase::addProduct(int fragment, int part, Value b, int accumulator) {
  assert(fragment < static_cast<int>(fragments_.size()) && "add fragments first");
  for (Product &product : products_)
    if (product.fragment == fragment)
      product.lastUse = false;
  products_.push_back({&atom_, fragment, part, nullptr, b, accumulator, true});
}

void MatrixPhase::addProduct(const MfmaAtom &atom, Value a, Value b, int accumulator) {
  products_.push_back({&atom, -1, 0, a, b, accumulator, false});
}

void MatrixPhase::addSideOperation(int slot, std::function<void()> operation) {
  sideOperations_.emplace_back(slot, std::move(operation));
}

void MatrixPhase::requestFragments(int count) {
  while (static_cast<int>(operands_.size()) < count && operands_.size() < fragments_.size()) {
    operands_.push_back(fragments_[operands_.size()]());
    emit_.schedBarrier(); // the next one is needed later, so it must be asked for later
  }
}

void MatrixPhase::prefetch() { requestFragments(pre_); }

void MatrixPhase::emit() {
  int freed = 0;
  const int last = static_cast<int>(products_.size()) - 1;
  for (int slot = 0; slot <= last; ++slot) {
    const Product &product = products_[slot];
    requestFragments(product.fragment + 1);
    Value a = product.a ? product.a : operands_[product.fragment][product.part];
    Value &accumulator = accumulators_[product.accumulator];
    accumulator = emit_.mfma(*product.atom, a, product.b, accumulator);
    if (slot == 0)
      emit_.schedBarrier(); // what stands before the first MFMA is paid by both groups
    freed += product.lastUse;
    // The ring fills over several slots: more reads than issue turns would hold up the next MFMA.
    constexpr int fragmentsOfSlot = 2;
    requestFragments(std::min(freed + ring_, static_cast<int>(operands_.size()) + fragmentsOfSlot));
    for (auto &[wanted, operation] : sideOperations_)
      if (std::min(wanted, last) == slot)
        operation();
    emit_.schedBarrier();
  }
}

} // namespace wavesmith::compiler
