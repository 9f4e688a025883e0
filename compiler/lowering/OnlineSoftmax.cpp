#include "compiler/lowering/OnlineSoftmax.h"

#include <cmath>
#include <limits>

#include "compiler/lowering/WordPacker.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// Bias before the first visible key: any score above -2^126 outgrows it, and a row without keys
/// keeps P = exp2(-inf) = 0 since the bias is finite.
constexpr float kInitialBias = 0x1p126f;
/// Minus it is of scores whose steps in float32 are more than what weights may grow by.
constexpr float kLargestBias = 0x1p25f;
constexpr std::pair<int, int> kRarely{1, 2000};
} // namespace

SoftmaxState OnlineSoftmax::initial() {
  Emitter &e = frame_.emit();
  Value none = sumsByMatrix() ? e.zero(e.vector(frame_.rowSumAtom()->accumulatorRegisters, e.f32()))
                              : e.constant(0.0f);
  return {.rowSum = none, .bias = e.constant(kInitialBias)};
}

Value OnlineSoftmax::tileMaximum(ArrayRef<Value> scores) {
  Emitter &e = frame_.emit();
  // The last block comes right out of the matrix core; the others pass the time that it needs.
  const std::size_t block = frame_.atom().accumulatorRegisters;
  const std::size_t chains = frame_.schedule().maxChains;
  SmallVector<Value> maxima(chains);
  auto include = [&](ArrayRef<Value> part) {
    const std::size_t length = (part.size() + chains - 1) / chains;
    for (auto [index, score] : llvm::enumerate(part)) {
      Value &maximum = maxima[index / length];
      maximum = maximum ? e.fmax(maximum, score) : score;
    }
  };
  if (scores.size() > block) {
    include(scores.drop_back(block));
    e.schedBarrier();
  }
  include(scores.take_back(block));
  Value all;
  for (Value maximum : maxima)
    if (maximum)
      all = all ? e.fmax(all, maximum) : maximum;
  return all;
}

void OnlineSoftmax::rescaleIfOutgrown(Value tileMaximum, SoftmaxState &state,
                                      MutableArrayRef<Value> outputs) {
  Emitter &e = frame_.emit();
  const Schedule &schedule = frame_.schedule();
  Value scale = frame_.scoreScale();
  const auto exponentOfAll = static_cast<float>(
      schedule.weightExponent + std::log2(weightGain(schedule, frame_.shape().element)));
  Value exponent = e.constant(exponentOfAll);
  Value threshold = e.constant(exponentOfAll + schedule.rescaleThreshold);
  auto outgrown = [&](Value maximum) {
    return e.compare(LLVM::FCmpPredicate::ogt, e.fma(maximum, scale, state.bias), threshold);
  };
  Value any = e.ballotAny(outgrown(tileMaximum));

  SmallVector<Value> carried(outputs.begin(), outputs.end());
  carried.append({state.rowSum, state.bias});
  SmallVector<Type> types;
  for (Value value : carried)
    types.push_back(value.getType());
  Block *rare = e.newBlock({}), *next = e.newBlock(types);
  e.branchIf(any, rare, {}, next, carried, kRarely);

  e.setBlock(rare);
  auto [one, other] = e.withPartner(frame_.emitPartner(), tileMaximum);
  Value rowMaximum = e.fmax(one, other);
  Value moved = e.fsub(exponent, e.fmul(rowMaximum, scale));
  Value bias = e.select(outgrown(rowMaximum), moved, state.bias);
  Value factor = e.exp2(e.fsub(bias, state.bias));
  auto times = [&](Value value) {
    auto vector = dyn_cast<VectorType>(value.getType());
    return e.fmul(value,
                  vector ? e.splat(factor, static_cast<int>(vector.getNumElements())) : factor);
  };
  SmallVector<Value> scaled;
  for (Value output : outputs)
    scaled.push_back(times(output));
  scaled.append({times(state.rowSum), bias});
  e.branch(next, scaled);

  e.setBlock(next);
  for (auto [output, argument] : llvm::zip(outputs, next->getArguments()))
    output = argument;
  state.rowSum = next->getArgument(outputs.size());
  state.bias = next->getArgument(outputs.size() + 1);
}

/// The elements of one tile on their way from scores to words, each step asked for by number; what
/// is out of range does nothing, so that orders need no special cases at their ends.
class OnlineSoftmax::Elements {
public:
  Elements(KernelFrame &frame, ArrayRef<Value> scores, Value bias)
      : frame_(frame), scores_(scores), bias_(bias), p_(scores.size()),
        sums_(frame.schedule().rowSum == RowSum::Vector ? frame.schedule().sumChains : 0),
        packer_(frame.emit(), frame.shape().element, frame.schedule().pRounding) {}

  int count() const { return static_cast<int>(scores_.size()); }
  void fma(int i) {
    if (has(i))
      p_[i] = frame_.emit().fma(scores_[i], frame_.scoreScale(), bias_);
  }
  void exp2(int i) {
    if (has(i))
      p_[i] = frame_.emit().exp2(p_[i]);
  }
  void add(int i) {
    if (!has(i) || sums_.empty())
      return;
    Value &sum = sums_[i % sums_.size()];
    sum = sum ? frame_.emit().fadd(sum, p_[i]) : p_[i];
  }
  void pack(int i) {
    if (has(i))
      packer_.add(p_[i]);
  }

  ArrayRef<Value> words() const { return packer_.words(); }
  Value sum() {
    Value all;
    for (Value sum : sums_)
      all = all ? frame_.emit().fadd(all, sum) : sum;
    return all;
  }

private:
  bool has(int i) const { return i >= 0 && i < count(); }

  KernelFrame &frame_;
  ArrayRef<Value> scores_;
  Value bias_;
  SmallVector<Value> p_; ///< exponent, then weight
  SmallVector<Value> sums_;
  WordPacker packer_;
};

void OnlineSoftmax::emitPipelined(Elements &elements, function_ref<void()> halfway) {
  // Element i: fma, `distance` later exp2, again `distance` later the sum and the pack, so that no
  // instruction waits for the one before it. Scalar on purpose: packed f32 does not overlap the
  // other wave's matrix instructions.
  const int distance = frame_.schedule().pipelineDistance;
  for (int i = 0; i < elements.count() + 2 * distance; ++i) {
    if (halfway && i == elements.count() / 2)
      halfway();
    elements.fma(i);
    elements.exp2(i - distance);
    elements.add(i - 2 * distance);
    elements.pack(i - 2 * distance);
  }
}

void OnlineSoftmax::emitWindowed(Elements &elements, function_ref<void()> halfway) {
  Emitter &e = frame_.emit();
  // The other wave issues an MFMA every 32 clocks, which takes 4 of them. Groups of one exp2 (16
  // clocks) and 12 clocks of other work leave that gap where it is; an exp2 that straddles it would
  // delay the MFMA. A pair of elements makes two groups: one with its convert (8 clocks), one with
  // its adds, if any.
  elements.fma(0);
  elements.fma(1);
  for (int i = 0; i < elements.count() + 2; i += 2) {
    if (halfway && i == elements.count() / 2)
      halfway();
    elements.exp2(i);
    elements.fma(i + 2);
    elements.pack(i - 2);
    elements.pack(i - 1);
    e.schedBarrier();
    elements.exp2(i + 1);
    elements.fma(i + 3);
    elements.add(i - 2);
    elements.add(i - 1);
    e.schedBarrier();
  }
}

SmallVector<Value> OnlineSoftmax::probabilities(ArrayRef<Value> scores, SoftmaxState &state,
                                                function_ref<void()> halfway) {
  Emitter &e = frame_.emit();
  Elements elements(frame_, scores, state.bias);
  if (frame_.schedule().order == SoftmaxOrder::Windowed)
    emitWindowed(elements, halfway);
  else
    emitPipelined(elements, halfway);
  if (Value sum = elements.sum())
    state.rowSum = e.fadd(state.rowSum, sum);

  SmallVector<Value> operands;
  const MfmaAtom &atom = frame_.atom();
  for (ArrayRef<Value> words = elements.words(); !words.empty();
       words = words.drop_front(atom.operandRegisters))
    operands.append(e.matrixOperands(e.packVector(words.take_front(atom.operandRegisters)), atom));
  return operands;
}

Value OnlineSoftmax::sumSelector() {
  Emitter &e = frame_.emit();
  // P's operand holds query lane % 32, so the 16 columns of the sum see queries c and c + 16 in
  // turn of their four lane groups g. Row r of the result goes to lane group r / 4: ones where the
  // parities of g and r / 4 agree give each lane the two groups of its own query.
  auto bit = [&](int index) { return e.bitAnd(e.shiftRight(frame_.ids().lane, index), 1); };
  Value mine = e.compare(LLVM::ICmpPredicate::eq, bit(4), bit(2));
  const std::uint32_t one = oneOf(frame_.shape().element);
  const std::uint32_t ones =
      bytesOf(frame_.shape().element) == 1 ? one * 0x01010101 : one * 0x10001;
  Value word = e.select(mine, e.constant(static_cast<int>(ones)), e.constant(0));
  const MfmaAtom &atom = *frame_.rowSumAtom();
  SmallVector<Value> words(atom.operandRegisters, word);
  return e.matrixOperands(e.packVector(words), atom).front();
}

Value OnlineSoftmax::total(const SoftmaxState &state) {
  Emitter &e = frame_.emit();
  Value sum;
  if (sumsByMatrix()) {
    sum = e.element(state.rowSum, 0);
  } else {
    auto [one, other] = e.withPartner(frame_.emitPartner(), state.rowSum);
    sum = e.fadd(one, other);
  }
  // Else NaN, rather than infinite. Scores far below are no error: those of a piece of the keys may
  // all be, beside which others count.
  Value resolved = e.compare(LLVM::FCmpPredicate::oge, state.bias, e.constant(-kLargestBias));
  return e.select(resolved, sum, e.constant(std::numeric_limits<float>::quiet_NaN()));
}

} // namespace wavesmith::compiler
