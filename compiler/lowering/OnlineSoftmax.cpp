#include "compiler/lowering/OnlineSoftmax.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {
/// Bias before the first visible key: any finite score outgrows it, and a row without keys keeps
/// P = exp2(-inf) = 0 since the bias is finite.
constexpr float kInitialBias = 0x1p126f;
constexpr std::pair<int, int> kRarely{1, 2000};
} // namespace

SoftmaxState OnlineSoftmax::initial() {
  Emitter &e = frame_.emit();
  return {.rowSum = e.constant(0.0f), .bias = e.constant(kInitialBias)};
}

Value OnlineSoftmax::tileMaximum(ArrayRef<Value> scores) {
  Emitter &e = frame_.emit();
  const std::size_t chains = std::min<std::size_t>(frame_.schedule().maxChains, scores.size());
  const std::size_t length = (scores.size() + chains - 1) / chains;
  Value all;
  for (std::size_t first = 0; first < scores.size(); first += length) {
    Value chain = scores[first];
    for (std::size_t i = first + 1; i < std::min(first + length, scores.size()); ++i)
      chain = e.fmax(chain, scores[i]);
    all = all ? e.fmax(all, chain) : chain;
  }
  return all;
}

void OnlineSoftmax::rescaleIfOutgrown(Value tileMaximum, SoftmaxState &state,
                                      MutableArrayRef<Value> outputs) {
  Emitter &e = frame_.emit();
  Value scale = frame_.arguments().scaleLog2;
  Value threshold = e.constant(frame_.schedule().rescaleThreshold);
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
  auto [one, other] = e.withPartner(frame_.partner(), tileMaximum);
  Value rowMaximum = e.fmax(one, other);
  Value moved = e.fneg(e.fmul(rowMaximum, scale));
  Value bias = e.select(outgrown(rowMaximum), moved, state.bias);
  Value factor = e.exp2(e.fsub(bias, state.bias));
  SmallVector<Value> scaled;
  for (Value output : outputs) {
    const auto registers = cast<VectorType>(output.getType()).getNumElements();
    scaled.push_back(e.fmul(output, e.splat(factor, static_cast<int>(registers))));
  }
  scaled.append({e.fmul(state.rowSum, factor), bias});
  e.branch(next, scaled);

  e.setBlock(next);
  for (auto [output, argument] : llvm::zip(outputs, next->getArguments()))
    output = argument;
  state.rowSum = next->getArgument(outputs.size());
  state.bias = next->getArgument(outputs.size() + 1);
}

SmallVector<Value> OnlineSoftmax::probabilities(ArrayRef<Value> scores, SoftmaxState &state) {
  Emitter &e = frame_.emit();
  const Schedule &schedule = frame_.schedule();
  const int count = static_cast<int>(scores.size()), distance = schedule.pipelineDistance;
  SmallVector<Value> exponents(count), p(count), words;
  SmallVector<Value> sums(schedule.sumChains);
  // Element i: fma, `distance` later exp2, again `distance` later the sum and the pack, so that no
  // instruction waits for the one before it. Scalar on purpose: packed f32 does not overlap the
  // other wave's matrix instructions.
  for (int step = 0; step < count + 2 * distance; ++step) {
    if (step < count)
      exponents[step] = e.fma(scores[step], frame_.arguments().scaleLog2, state.bias);
    if (int i = step - distance; i >= 0 && i < count)
      p[i] = e.exp2(exponents[i]);
    if (int i = step - 2 * distance; i >= 0 && i < count) {
      Value &sum = sums[i % schedule.sumChains];
      sum = sum ? e.fadd(sum, p[i]) : p[i];
      if (i % 2)
        words.push_back(e.packBf16(p[i - 1], p[i], schedule.pRounding));
    }
  }
  Value tileSum;
  for (Value sum : sums)
    tileSum = tileSum ? e.fadd(tileSum, sum) : sum;
  state.rowSum = e.fadd(state.rowSum, tileSum);

  SmallVector<Value> operands;
  const MfmaAtom &atom = frame_.atom();
  for (std::size_t word = 0; word < words.size(); word += atom.operandRegisters)
    operands.append(e.matrixOperands(
        e.packVector(ArrayRef<Value>(words).slice(word, atom.operandRegisters)), atom));
  return operands;
}

} // namespace wavesmith::compiler
