#include "compiler/rows/RowEmitter.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/Utils/Utils.h>

namespace wavesmith::compiler {

using namespace mlir;

RowEmitter::RowEmitter(tile::KernelOp kernel, StringRef name, int threads)
    : kernel_(kernel), builder_(kernel.getLoc(), kernel), threads_(threads),
      memory_(builder_, kernel, name, threads, scalars_) {
  thread_ = ROCDL::ThreadIdXOp::create(builder_, builder_.getI32Type());
  lane_ = arith::AndIOp::create(builder_, thread_, constant(kWaveLanes - 1));
  lanes_ = std::make_unique<LaneOps>(builder_, lane_);
}

LogicalResult RowEmitter::emit() {
  if (failed(emitBody(kernel_.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(builder_, ValueRange());
  // Several steps' loads in flight: a wave would wait for each otherwise.
  constexpr std::uint64_t kSteps = 4;
  for (scf::ForOp loop : loops_)
    if (!loop.getBody()->getOps<LLVM::LoadOp>().empty())
      if (failed(loopUnrollByFactor(loop, kSteps)))
        return loop.emitOpError() << "cannot be unrolled";
  return success();
}

LogicalResult RowEmitter::emitBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult RowEmitter::emitOp(Operation &op) {
  builder_.setLoc(op.getLoc());
  auto firstOf = [&](auto access) { return static_cast<int>(access.getFirst().value_or(0)); };
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](tile::GroupOp group) {
        scalars_.map(group.getIndex(), workgroup(group.getAxis()));
        return success();
      })
      .Case([&](tile::ForRowsOp rows) { return emitRows(rows); })
      .Case([&](scf::ForOp loop) { return emitLoop(loop); })
      .Case([&](scf::IfOp branch) { return emitIf(branch); })
      .Case([&](tile::MapOp map) { return emitMap(map); })
      .Case([&](tile::ConvertOp convert) { return emitConvert(convert); })
      .Case([&](tile::ReduceOp reduce) {
        emitReduce(reduce);
        return success();
      })
      .Case([&](tile::ReadOp read) {
        scalars_.map(read.getValue(),
                     memory_.readElement(read.getTensor(), mapped(read.getIndices())));
        return success();
      })
      .Case([&](tile::WriteOp write) {
        emitWrite(write);
        return success();
      })
      .Case([&](tile::LoadRowOp load) {
        tiles_[load.getTile()] = memory_.loadRow(
            load.getTensor(), mapped(load.getIndices()), firstOf(load),
            static_cast<int>(load.getTile().getType().getDim(0)), *layout_, laneInRow_);
        return success();
      })
      .Case([&](tile::StoreRowOp store) {
        memory_.storeRow(tiles_.at(store.getTile()), store.getTensor(), mapped(store.getIndices()),
                         firstOf(store), static_cast<int>(store.getTile().getType().getDim(0)),
                         *layout_, laneInRow_);
        return success();
      })
      .Case([&](tile::SplatOp splat) {
        tiles_[splat.getTile()] =
            RowElements(flatSize(splat.getTile().getType()), scalars_.lookup(splat.getValue()));
        return success();
      })
      .Case([&](tile::LargestOp largest) { return emitLargest(largest); })
      .Case([&](tile::AccumulateOp accumulate) {
        Value &sum = accumulators_[accumulate];
        sum = combined(builder_, accumulate.getCombiner(), sum,
                       scalars_.lookup(accumulate.getValue()));
        return success();
      })
      .Case([&](tile::CountOp count) {
        counts_.find(count)->second.add(tiles_.at(count.getClasses()));
        return success();
      })
      .Case([&](tile::RotateOp rotate) {
        auto seed = llvm::cast<IntegerAttr>(rotate.getSeed());
        auto first = llvm::cast_if_present<IntegerAttr>(rotate.getFirstAttr());
        tiles_[rotate.getResult()] =
            rotateRow(builder_, *lanes_, tiles_.at(rotate.getInput()),
                      static_cast<int>(rotate.getInput().getType().getDim(0)), *layout_, laneInRow_,
                      static_cast<std::uint32_t>(seed.getInt()),
                      first ? static_cast<int>(first.getInt()) : 0);
        return success();
      })
      .Default([&](Operation *other) { return emitScalar(*other); });
}

//===-- Values -------------------------------------------------------------------------------===//

Value RowEmitter::constant(int value) {
  return arith::ConstantOp::create(builder_, builder_.getI32IntegerAttr(value));
}

Value RowEmitter::workgroup(tile::Axis axis) {
  Type i32 = builder_.getI32Type();
  return axis == tile::Axis::X ? ROCDL::BlockIdXOp::create(builder_, i32).getResult()
                               : ROCDL::BlockIdYOp::create(builder_, i32).getResult();
}

void RowEmitter::inFirst(Value id, function_ref<void()> body) {
  Value isFirst = arith::CmpIOp::create(builder_, arith::CmpIPredicate::eq, id, constant(0));
  auto branch = scf::IfOp::create(builder_, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  body();
}

SmallVector<Value> RowEmitter::mapped(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return scalars_.lookup(value); });
}

std::size_t RowEmitter::flatSize(Type type) const {
  auto tile = llvm::dyn_cast<tile::TileType>(type);
  if (!tile)
    return 1;
  int elements = layout_->perLane(static_cast<int>(tile.getDim(0)));
  return static_cast<std::size_t>(isFp8(tile.getElementType()) ? elements / 4 : elements);
}

SmallVector<Value> RowEmitter::flatten(ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (llvm::isa<tile::TileType>(value.getType()))
      llvm::append_range(flat, tiles_.at(value));
    else
      flat.push_back(scalars_.lookup(value));
  }
  return flat;
}

void RowEmitter::unflatten(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    std::size_t size = flatSize(value.getType());
    if (llvm::isa<tile::TileType>(value.getType()))
      tiles_[value] = RowElements(flat.take_front(size));
    else
      scalars_.map(value, flat.front());
    flat = flat.drop_front(size);
  }
}

//===-- Control ------------------------------------------------------------------------------===//

LogicalResult RowEmitter::emitRows(tile::ForRowsOp op) {
  tile::RowsAttr decided = op.getLayoutAttr();
  if (!decided)
    return op.emitOpError() << "has no layout; run wavesmith-assign-rows first";
  layout_ = {static_cast<int>(decided.getLanes()), static_cast<int>(decided.getChunk())};
  const int pass = threads_ / layout_->lanes;
  laneInRow_ = arith::AndIOp::create(builder_, thread_, constant(layout_->lanes - 1));
  Value first = arith::ShRUIOp::create(
      builder_, thread_, constant(static_cast<int>(llvm::Log2_32(decided.getLanes()))));
  Value group = workgroup(op.getAxis());
  Value rows = constant(static_cast<int>(decided.getRows()));
  Value base = arith::MulIOp::create(builder_, group, rows);
  Value begin = arith::AddIOp::create(builder_, base, first);
  Value end = arith::MinSIOp::create(builder_, scalars_.lookup(op.getCount()),
                                     arith::AddIOp::create(builder_, base, rows).getResult());

  SmallVector<tile::AccumulateOp> accumulates(op.getBody().front().getOps<tile::AccumulateOp>());
  for (tile::CountOp count : op.getBody().front().getOps<tile::CountOp>())
    counts_.insert({count, RowCounts::begin(builder_, count, thread_, threads_)});
  SmallVector<Value> starts;
  for (tile::AccumulateOp accumulate : accumulates)
    starts.push_back(
        arith::ConstantOp::create(builder_, builder_.getZeroAttr(accumulate.getValue().getType())));
  auto loop = scf::ForOp::create(builder_, begin, end, constant(pass), starts);
  {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    scalars_.map(op.getBody().getArgument(0), loop.getInductionVar());
    for (auto [accumulate, value] : llvm::zip(accumulates, loop.getRegionIterArgs()))
      accumulators_[accumulate] = value;
    if (failed(emitBody(op.getBody().front())))
      return failure();
    if (!accumulates.empty()) {
      auto sums = llvm::map_to_vector(
          accumulates, [&](tile::AccumulateOp accumulate) { return accumulators_[accumulate]; });
      scf::YieldOp::create(builder_, sums);
    }
  }
  for (auto [accumulate, value] : llvm::zip(accumulates, loop.getResults())) {
    // All lanes of a row have the same value.
    Value sum = lanes_->combine(accumulate.getCombiner(), value, layout_->lanes, kWaveLanes);
    Value bits = sum.getType().isF32()
                     ? arith::BitcastOp::create(builder_, builder_.getI32Type(), sum).getResult()
                     : sum;
    Value some = arith::CmpIOp::create(builder_, arith::CmpIPredicate::ne, bits, constant(0));
    auto branch = scf::IfOp::create(builder_, some, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    inFirst(lane_, [&] {
      memory_.accumulate(accumulate.getCombiner(), sum, accumulate.getTensor(),
                         mapped(accumulate.getIndices()));
    });
  }
  for (auto &[count, counts] : counts_)
    counts.end(memory_, mapped(llvm::cast<tile::CountOp>(count).getIndices()));
  counts_.clear();
  layout_.reset();
  return success();
}

LogicalResult RowEmitter::emitLoop(scf::ForOp op) {
  auto loop = scf::ForOp::create(builder_, scalars_.lookup(op.getLowerBound()),
                                 scalars_.lookup(op.getUpperBound()), scalars_.lookup(op.getStep()),
                                 flatten(op.getInitArgs()));
  {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    scalars_.map(op.getInductionVar(), loop.getInductionVar());
    unflatten(ValueRange(op.getRegionIterArgs()), ValueRange(loop.getRegionIterArgs()));
    if (failed(emitBody(*op.getBody())))
      return failure();
    if (!loop.getInitArgs().empty())
      scf::YieldOp::create(builder_, flatten(op.getBody()->getTerminator()->getOperands()));
  }
  unflatten(op.getResults(), loop.getResults());
  // The unroller takes no step of 0, and no template another one than 1.
  if (getConstantIntValue(op.getStep()) == 1)
    loops_.push_back(loop);
  return success();
}

LogicalResult RowEmitter::emitIf(scf::IfOp op) {
  if (op.getNumResults() != 0)
    return op.emitOpError() << "with results has no lowering in a row kernel; use arith.select";
  auto branch =
      scf::IfOp::create(builder_, scalars_.lookup(op.getCondition()), op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  if (failed(emitBody(*op.thenBlock())))
    return failure();
  if (!op.elseBlock())
    return success();
  builder_.setInsertionPointToStart(branch.elseBlock());
  return emitBody(*op.elseBlock());
}

//===-- Arithmetic ---------------------------------------------------------------------------===//

/// Scalar arithmetic of upstream's, which is cloned as it stands.
static bool isScalar(Operation &op) {
  auto scalar = [](Type type) { return type.isIntOrFloat(); };
  return llvm::isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) &&
         op.getNumRegions() == 0 && llvm::all_of(op.getOperandTypes(), scalar) &&
         llvm::all_of(op.getResultTypes(), scalar);
}

LogicalResult RowEmitter::emitScalar(Operation &op) {
  if (!isScalar(op))
    return op.emitOpError() << "has no lowering in a row kernel";
  builder_.clone(op, scalars_);
  return success();
}

LogicalResult RowEmitter::emitMap(tile::MapOp op) {
  for (Operation &inner : op.getBody().front().without_terminator())
    if (!isScalar(inner))
      return inner.emitOpError() << "has no lowering in tile.map";
  for (Value input : op.getInputs())
    if (isFp8(llvm::cast<tile::TileType>(input.getType()).getElementType()))
      return op.emitOpError() << "cannot map FP8; convert it first";
  if (isFp8(op.getResult().getType().getElementType()))
    return op.emitOpError() << "cannot make FP8; convert to it";
  Block &body = op.getBody().front();
  RowElements results;
  for (std::size_t i = 0; i < flatSize(op.getResult().getType()); ++i) {
    IRMapping element = scalars_;
    for (auto [argument, input] : llvm::zip(body.getArguments(), op.getInputs()))
      element.map(argument, tiles_.at(input)[i]);
    for (Operation &inner : body.without_terminator())
      builder_.clone(inner, element);
    results.push_back(element.lookup(body.getTerminator()->getOperand(0)));
  }
  tiles_[op.getResult()] = std::move(results);
  return success();
}

LogicalResult RowEmitter::emitConvert(tile::ConvertOp op) {
  Type from = op.getInput().getType().getElementType();
  Type to = op.getResult().getType().getElementType();
  RowElements results = convertRow(builder_, tiles_.at(op.getInput()), from, to);
  if (results.empty())
    return op.emitOpError() << "from " << from << " to " << to << " has no lowering";
  tiles_[op.getResult()] = std::move(results);
  return success();
}

void RowEmitter::emitReduce(tile::ReduceOp op) {
  // Neighbours first, then runs, then lanes: one order for a layout.
  RowElements values = tiles_.at(op.getInput());
  while (values.size() > 1) {
    RowElements halves;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      halves.push_back(combined(builder_, op.getCombiner(), values[i], values[i + 1]));
    if (values.size() % 2 != 0)
      halves.push_back(values.back());
    values = std::move(halves);
  }
  scalars_.map(op.getResult(),
               lanes_->combine(op.getCombiner(), values.front(), 1, layout_->lanes));
}

void RowEmitter::emitWrite(tile::WriteOp op) {
  Value value = scalars_.lookup(op.getValue());
  SmallVector<Value> indices = mapped(op.getIndices());
  inFirst(layout_ ? laneInRow_ : thread_,
          [&] { memory_.writeElement(value, op.getTensor(), indices); });
}

LogicalResult RowEmitter::emitLargest(tile::LargestOp op) {
  auto type = llvm::dyn_cast<TypeAttr>(op.getElement());
  if (!type)
    return op.emitOpError() << "element " << op.getElement() << " is not bound";
  auto largest =
      llvm::APFloat::getLargest(llvm::cast<FloatType>(type.getValue()).getFloatSemantics());
  bool inexact = false;
  largest.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmTowardZero, &inexact);
  scalars_.map(op.getValue(),
               arith::ConstantOp::create(builder_, FloatAttr::get(builder_.getF32Type(), largest)));
  return success();
}

} // namespace wavesmith::compiler
