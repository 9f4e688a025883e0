#include "compiler/passes/ScheduledKernel.h"

#include <set>

#include <mlir/Dialect/Arith/IR/Arith.h>

#include "compiler/passes/Elements.h"
#include "compiler/passes/Images.h"
#include "compiler/passes/SoftCap.h"

using namespace mlir;

namespace wavesmith::compiler {
namespace {

/// Positions of the kernel's arguments: those of AttentionArguments, strides left to the lowering.
enum KernelArgument : unsigned {
  Q,
  K,
  V,
  Out,
  Lse,
  PartialOut,
  PartialLse,
  Work,
  DescaleQ,
  DescaleK,
  DescaleV,
  Scale,
  SoftCap,
  WindowLeft,
  WindowRight,
  Sinks,
  Count
};

class Reader {
public:
  explicit Reader(tile::KernelOp kernel) : kernel_(kernel) { result_.kernel = kernel; }

  FailureOr<ScheduledKernel> read() {
    result_.target = findTarget(kernel_.getTarget().value_or(""));
    if (!result_.target)
      return kernel_.emitOpError() << "has no target; run wavesmith-select-atoms first";
    if (kernel_.getBody().getNumArguments() != Count)
      return kernel_.emitOpError()
             << "takes " << unsigned(Count) << " arguments, as "
             << "AttentionAbi.h lists them, not " << kernel_.getBody().getNumArguments();
    for (Operation &op : kernel_.getBody().front())
      if (failed(readOp(op)))
        return failure();
    if (!loop_ || !normalize_ || !storesOutput_)
      return kernel_.emitOpError() << "needs a pipelined loop, a normalize and a store of its rows";
    if (failed(checkPlacement()))
      return failure();
    std::string reason = unsupportedReason(result_.shape, result_.schedule, *result_.target);
    if (!reason.empty())
      return kernel_.emitOpError() << reason;
    return result_;
  }

private:
  bool isArgument(Value value, KernelArgument argument) {
    return value == kernel_.getBody().getArgument(argument);
  }

  LogicalResult readOp(Operation &op) {
    if (auto load = llvm::dyn_cast<tile::LoadOp>(op))
      return readLoad(load);
    if (auto loop = llvm::dyn_cast<tile::ForKeysOp>(op))
      return readLoop(loop);
    if (auto normalize = llvm::dyn_cast<tile::NormalizeOp>(op))
      return readNormalize(normalize);
    if (auto store = llvm::dyn_cast<tile::StoreOp>(op))
      return readStore(store);
    if (auto dot = llvm::dyn_cast<tile::DotOp>(op))
      return check(dot, !lead_ && dot.getTransposed() && dot.getLhs() == queries_, lead_,
                   "only the first step's scores may stand before the loop");
    if (auto scale = llvm::dyn_cast<tile::ScaleOp>(op))
      return readScale(scale);
    // What they make is seen where it is used.
    if (llvm::isa<tile::WorkUnitOp, tile::FirstKeysOp, tile::FillOp, tile::ReturnOp,
                  tile::DescaleOp, tile::SinkOp, arith::ConstantOp>(op))
      return success();
    return op.emitOpError() << "cannot be lowered here: not supported yet";
  }

  /// The kernel's arguments that a scalar is the product of; false if it is anything else.
  bool readFactors(Value value, std::multiset<unsigned> &factors) {
    if (factors.size() > 3) // no product here has more; a chain of squares would never end
      return false;
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      factors.insert(argument.getArgNumber());
      return argument.getOwner() == &kernel_.getBody().front();
    }
    if (auto descale = value.getDefiningOp<tile::DescaleOp>())
      return readFactors(descale.getTensor(), factors);
    if (auto scale = value.getDefiningOp<tile::ScaleOp>())
      return readFactors(scale.getValue(), factors) && readFactors(scale.getFactor(), factors);
    return false;
  }

  bool isProduct(Value value, std::multiset<unsigned> expected) {
    std::multiset<unsigned> factors;
    return readFactors(value, factors) && factors == expected;
  }

  /// Whether a softmax takes the scale of its scores: the products' or, behind a soft cap, which
  /// takes scaled scores, 1.
  bool isSoftmaxScale(Value value) {
    if (!result_.shape.softCap)
      return isScoreScale(value);
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    auto number = constant ? llvm::dyn_cast<FloatAttr>(constant.getValue()) : nullptr;
    return number && number.getValue().isExactlyValue(1.0);
  }

  /// Whether it is the kernel's scale, with the descales of q and k or without any; one kernel has
  /// one answer.
  bool isScoreScale(Value value) {
    const bool scaled = isProduct(value, {Scale, DescaleQ, DescaleK});
    if (scaleSeen_ && scaled != result_.shape.scaled)
      return false;
    scaleSeen_ = true;
    result_.shape.scaled = scaled;
    return scaled || isProduct(value, {Scale});
  }

  LogicalResult readScale(tile::ScaleOp scale) {
    if (!llvm::isa<tile::TileType>(scale.getResult().getType()))
      return success(); // seen where it is used
    const bool right = normalize_ && !outputScale_ && result_.shape.scaled &&
                       scale.getValue() == normalize_.getResult() &&
                       isProduct(scale.getFactor(), {DescaleV});
    return check(scale, right, outputScale_,
                 "the normalised sums times the descale of the values, if q and k have theirs");
  }

  template <typename Op> LogicalResult check(Op op, bool right, Op &slot, StringRef expectation) {
    if (!right)
      return op.emitOpError() << "does not fit the schedule: " << expectation;
    slot = op;
    return success();
  }

  LogicalResult readLoad(tile::LoadOp load) {
    if (isArgument(load.getTensor(), Q)) {
      queries_ = load.getTile();
      tile::TileType type = load.getTile().getType();
      std::optional<ElementType> element = elementOf(type.getElementType());
      if (!element || atoms(*result_.target, *element).empty())
        return load.emitOpError() << "of " << type.getElementType() << " cannot be lowered";
      result_.shape.element = *element;
      result_.shape.headDimQk = static_cast<int>(type.getDim(1));
      result_.schedule.blockM = static_cast<int>(type.getDim(0));
      return success();
    }
    if (isArgument(load.getTensor(), K))
      return success();
    return load.emitOpError() << "outside the loop loads neither the queries nor the first keys";
  }

  LogicalResult readLoop(tile::ForKeysOp loop) {
    if (loop_ || !loop.getSchedule() || !loop.getPeeled())
      return loop.emitOpError() << "must be the kernel's one pipelined and peeled loop";
    loop_ = loop;
    tile::AntiPhaseAttr schedule = *loop.getSchedule();
    result_.schedule.blockN = static_cast<int>(llvm::cast<IntegerAttr>(loop.getStep()).getInt());
    result_.schedule.waves = static_cast<int>(schedule.getWaves());
    result_.schedule.ring = static_cast<int>(schedule.getRing());
    result_.schedule.pre = static_cast<int>(schedule.getPre());
    for (Operation &op : loop.getBody().front().without_terminator()) {
      auto phase = llvm::dyn_cast<tile::PhaseOp>(op);
      if (!phase)
        return op.emitOpError() << "stands in a pipelined loop outside its phases";
      bool vector = phase.getKind() == tile::PhaseKind::Vector;
      if (failed(vector ? readVectorPhase(phase) : readMatrixPhase(phase)))
        return failure();
    }
    return readCarried();
  }

  /// What a phase passes out, where it was made.
  static Value resolve(Value value) {
    auto phase = value.getDefiningOp<tile::PhaseOp>();
    if (!phase)
      return value;
    unsigned index = llvm::cast<OpResult>(value).getResultNumber();
    return phase.getBody().front().getTerminator()->getOperand(index);
  }

  bool isCarried(Value value, Value initial, Value next, unsigned index) {
    Block &body = loop_.getBody().front();
    return value == body.getArgument(2 + index) && loop_.getInits()[index] == initial &&
           resolve(body.getTerminator()->getOperand(index)) == next;
  }

  /// The emitters start from empty rows and carry scores, maxima, sums and outputs from step to
  /// step; a template that starts or continues otherwise would get something else than it says.
  LogicalResult readCarried() {
    // Below every score; the emitters' own start is lower still.
    constexpr float lowReference = -0x1p+64F;
    auto starts = [&](unsigned index, bool (*right)(float)) {
      auto fill = loop_.getInits()[index].getDefiningOp<tile::FillOp>();
      return fill && right(fill.getValue().convertToFloat());
    };
    auto zero = [](float value) { return value == 0; };
    bool right = softmax_ && values_ && scores_ && lead_ && loop_.getInits().size() == 4 &&
                 starts(1, [](float value) { return value <= lowReference; }) && starts(2, zero) &&
                 starts(3, zero);
    ValueRange inits = loop_.getInits();
    right = right &&
            isCarried(loop_.getBody().getArgument(2), lead_.getResult(), scores_.getResult(), 0) &&
            isCarried(softmax_.getMax(), inits[1], softmax_.getNewMax(), 1) &&
            isCarried(softmax_.getSum(), inits[2], softmax_.getNewSum(), 2) &&
            isCarried(softmax_.getOut(), inits[3], values_.getResult(), 3) &&
            resolve(values_.getLhs()) == softmax_.getWeights() &&
            resolve(values_.getAcc()) == softmax_.getNewOut();
    if (!right)
      return loop_.emitOpError() << "must carry scores, maxima, sums and outputs, and start from a "
                                    "low maximum, no sum and no output";
    return success();
  }

  LogicalResult readVectorPhase(tile::PhaseOp phase) {
    if (loop_.getInits().empty())
      return loop_.emitOpError() << "carries no scores; run wavesmith-pipeline-loads first";
    Value scores = loop_.getBody().getArgument(2);
    tile::ScaleOp scale; // of the scores, which only a soft cap wants
    for (Operation &op : phase.getBody().front().without_terminator()) {
      if (auto scaling = llvm::dyn_cast<tile::ScaleOp>(op)) {
        if (scale || softmax_ || scaling.getValue() != scores || !isScoreScale(scaling.getFactor()))
          return scaling.emitOpError() << "is not of the step's scores by the kernel's scale";
        scale = scaling;
        scores = scaling.getResult();
      } else if (auto apply = llvm::dyn_cast<tile::ApplyOp>(op)) {
        if (apply.getScores() != scores || softmax_)
          return apply.emitOpError() << "is not of the step's scores before the softmax";
        if (failed(readScoreFunction(apply, scale)))
          return failure();
        scores = apply.getResult();
      } else if (auto softmax = llvm::dyn_cast<tile::OnlineSoftmaxOp>(op)) {
        bool right = !softmax_ && softmax.getScores() == scores &&
                     static_cast<bool>(scale) == result_.shape.softCap &&
                     isSoftmaxScale(softmax.getScale());
        if (failed(check(softmax, right, softmax_,
                         "one softmax of the step's masked scores, scaled by the kernel's scale, "
                         "and by the descales of q and k if there are any")) ||
            failed(readForm(softmax)))
          return failure();
      } else {
        return op.emitOpError() << "cannot be lowered in a vector phase: not supported yet";
      }
    }
    return readWaits(phase);
  }

  /// The masks, and before them the soft cap of scaled scores: a cap would show what they hide.
  LogicalResult readScoreFunction(tile::ApplyOp apply, tile::ScaleOp scale) {
    auto function =
        SymbolTable::lookupNearestSymbolFrom<tile::ScoreOp>(apply, apply.getFunctionAttr());
    if (std::optional<MaskLimit> limit = MaskLimit::match(function))
      return readMask(apply, *limit);
    std::optional<unsigned> cap = matchSoftCap(function);
    if (!cap)
      return apply.emitOpError() << "of " << apply.getFunctionAttr()
                                 << " is neither a mask nor a soft cap: not supported yet";
    if (!scale || apply.getScores() != scale.getResult() ||
        !isArgument(apply.getValues()[*cap], SoftCap))
      return apply.emitOpError() << "of " << apply.getFunctionAttr()
                                 << " caps other than the scaled scores by the kernel's cap";
    result_.shape.softCap = true;
    return success();
  }

  LogicalResult readMask(tile::ApplyOp apply, const MaskLimit &limit) {
    ScheduledKernel::Mask mask{limit, {}};
    for (Value value : apply.getValues()) {
      const bool left = isArgument(value, WindowLeft);
      if (!left && !isArgument(value, WindowRight))
        return apply.emitOpError() << "of " << apply.getFunctionAttr()
                                   << " gives a mask other values than the kernel's window";
      mask.values.push_back(left ? &KernelArguments::windowLeft : &KernelArguments::windowRight);
      result_.shape.window = true;
    }
    result_.masks.push_back(std::move(mask));
    return success();
  }

  LogicalResult readForm(tile::OnlineSoftmaxOp softmax) {
    if (!softmax.getForm())
      return softmax.emitOpError() << "has no form; run wavesmith-form-softmax first";
    tile::SoftmaxAttr form = *softmax.getForm();
    result_.schedule.rowSum =
        form.getSum() == tile::RowSum::Matrix ? RowSum::Matrix : RowSum::Vector;
    result_.schedule.order = form.getOrder() == tile::SoftmaxOrder::Windowed
                                 ? SoftmaxOrder::Windowed
                                 : SoftmaxOrder::Pipelined;
    result_.schedule.pRounding = form.getRounding() == tile::WeightRounding::Truncated
                                     ? PRounding::Truncated
                                     : PRounding::Nearest;
    result_.schedule.weightExponent = static_cast<float>(form.getExponent().getValueAsDouble());
    result_.schedule.rescaleThreshold = static_cast<float>(form.getThreshold().getValueAsDouble());
    return success();
  }

  LogicalResult readWaits(tile::PhaseOp phase) {
    for (auto waits : phase.getWaits().getAsRange<tile::WaitsAttr>()) {
      // The first group brings the keys, the second the values: readStagedLoad.
      if (waits.getGroup() != 0 && waits.getGroup() != 1)
        return phase.emitOpError()
               << "waits in group " << waits.getGroup() << "; there are 0 and 1";
      Schedule &schedule = result_.schedule;
      (waits.getGroup() == 0 ? schedule.keyWaits : schedule.valueWaits) = {
          .vmem = static_cast<int>(waits.getVmem()), .lds = static_cast<int>(waits.getLds())};
    }
    if (phase.getWaits().empty())
      return phase.emitOpError() << "has no waits; run wavesmith-insert-waits first";
    return success();
  }

  LogicalResult readMatrixPhase(tile::PhaseOp phase) {
    for (Operation &op : phase.getBody().front().without_terminator()) {
      if (auto load = llvm::dyn_cast<tile::LoadOp>(op)) {
        if (failed(readStagedLoad(load)))
          return failure();
      } else if (auto dot = llvm::dyn_cast<tile::DotOp>(op)) {
        bool lead = dot.getTransposed() && dot.getLhs() == queries_;
        bool first = lead ? static_cast<bool>(values_) : !scores_ && dot.getAcc();
        if (failed(check(dot, first, lead ? scores_ : values_,
                         "weights times values, then the next step's scores")))
          return failure();
      } else {
        return op.emitOpError() << "cannot be lowered in a matrix phase";
      }
    }
    if (!values_ || !scores_)
      return phase.emitOpError() << "needs both products of a step";
    return success();
  }

  /// The emitters compute addresses from the images; they must be those that the IR shows.
  LogicalResult checkPlacement() {
    const MfmaAtom &atom = atoms(*result_.target, result_.shape.element).front();
    LdsImage keys = keyImage(atom, result_.schedule, result_.shape.headDimQk, *result_.target);
    LdsImage values = valueImage(atom, result_.schedule, result_.shape.headDimV, *result_.target);
    auto matches = [](tile::LdsAttr lds, const LdsImage &image, int offset) {
      return lds && lds.getKind() == kindOf(image) && lds.getOffset() == offset &&
             lds.getBytes() == image.bufferBytes && lds.getLine() == image.lineBytes &&
             lds.getBuffers() == image.buffers;
    };
    if (!matches(keyLds_, keys, 0) || !matches(valueLds_, values, keys.totalBytes()))
      return kernel_.emitOpError() << "places its tiles in LDS other than the target's images";
    return success();
  }

  LogicalResult readStagedLoad(tile::LoadOp load) {
    tile::LdsAttr lds = load.getLds().value_or(nullptr);
    if (!lds || !load.getStaging())
      return load.emitOpError() << "is neither placed nor staged";
    bool keys = isArgument(load.getTensor(), K);
    bool rows = lds.getKind() == tile::LdsKind::Rows;
    int64_t ahead = load.getStaging()->getAhead();
    bool inTime = isDma(lds.getKind()) ? ahead == lds.getBuffers() - 1
                                       : ahead == 2 || ahead == 1; // unsupportedReason: 2 buffers
    if (keys != rows || load.getStaging()->getGroup() != (keys ? 0 : 1) || !inTime ||
        (!keys && !isArgument(load.getTensor(), V)))
      return load.emitOpError() << "is not keys by DMA from the first group, or values transposed "
                                   "by the second, as far ahead as its buffers let it";
    if (!isDma(lds.getKind()))
      result_.schedule.registerAhead = static_cast<int>(ahead);
    (keys ? keyLds_ : valueLds_) = lds;
    if (keys) {
      result_.schedule.kBuffers = static_cast<int>(lds.getBuffers());
    } else {
      result_.schedule.vBuffers = static_cast<int>(lds.getBuffers());
      result_.shape.headDimV = static_cast<int>(load.getTile().getType().getDim(1));
    }
    return success();
  }

  LogicalResult readNormalize(tile::NormalizeOp normalize) {
    bool right =
        loop_ && isSoftmaxScale(normalize.getScale()) && normalize.getMax() == loop_.getResult(1) &&
        normalize.getSum() == loop_.getResult(2) && normalize.getOut() == loop_.getResult(3);
    if (Value sink = normalize.getSink()) {
      auto load = sink.getDefiningOp<tile::SinkOp>();
      right = right && load && isArgument(load.getTensor(), Sinks);
      result_.shape.sink = true;
    }
    return check(normalize, right, normalize_,
                 "the loop's sums, scaled by the kernel's scale, and the kernel's sinks if any");
  }

  LogicalResult readStore(tile::StoreOp store) {
    bool rowValue = normalize_ && store.getTile() == normalize_.getLse();
    // With descales what leaves is what was multiplied by that of the values.
    bool output =
        normalize_ &&
        store.getTile() == (result_.shape.scaled ? outputScale_ ? outputScale_.getResult() : Value()
                                                 : normalize_.getResult());
    KernelArgument wanted =
        rowValue ? (store.getSlot() ? PartialLse : Lse) : (store.getSlot() ? PartialOut : Out);
    if ((!rowValue && !output) || !isArgument(store.getTensor(), wanted))
      return store.emitOpError() << "stores neither the normalised sums nor their logarithms to "
                                    "the argument meant for them";
    if (store.getSlot())
      result_.shape.splitKv = true;
    else if (rowValue)
      storesLse_ = true;
    else if (failed(readOutput(store)))
      return failure();
    result_.shape.writeLse = storesLse_;
    return success();
  }

  LogicalResult readOutput(tile::StoreOp store) {
    Type type = store.getTensor().getType().getElementType();
    std::optional<ElementType> element = elementOf(type);
    if (!element || !isHalf(*element))
      return store.emitOpError() << "of rows as " << type << ": want bf16 or f16";
    result_.shape.output = *element;
    storesOutput_ = true;
    return success();
  }

  tile::KernelOp kernel_;
  ScheduledKernel result_;
  Value queries_;
  tile::LdsAttr keyLds_, valueLds_;
  tile::DotOp lead_, values_, scores_;
  tile::ForKeysOp loop_;
  tile::OnlineSoftmaxOp softmax_;
  tile::NormalizeOp normalize_;
  tile::ScaleOp outputScale_;
  bool scaleSeen_ = false, storesOutput_ = false, storesLse_ = false;
};

} // namespace

FailureOr<ScheduledKernel> ScheduledKernel::read(tile::KernelOp kernel) {
  return Reader(kernel).read();
}

} // namespace wavesmith::compiler
