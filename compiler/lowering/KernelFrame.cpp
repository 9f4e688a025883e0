#include "compiler/lowering/KernelFrame.h"

#include "runtime/spec/AttentionAbi.h"

namespace wavesmith::compiler {

using namespace mlir;

namespace {

/// Hidden inputs that the kernels do not use; each absent one frees SGPRs and argument bytes.
constexpr const char *kAbsentInputs[] = {
    "amdgpu-no-dispatch-ptr",       "amdgpu-no-queue-ptr",      "amdgpu-no-implicitarg-ptr",
    "amdgpu-no-workgroup-id-y",     "amdgpu-no-workgroup-id-z", "amdgpu-no-workitem-id-y",
    "amdgpu-no-workitem-id-z",      "amdgpu-no-lds-kernel-id",  "amdgpu-no-hostcall-ptr",
    "amdgpu-no-heap-ptr",           "amdgpu-no-default-queue",  "amdgpu-no-completion-action",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-dispatch-id",    "amdgpu-no-flat-scratch-init"};

} // namespace

KernelFrame::KernelFrame(ModuleOp module, StringRef name, const KernelShape &shape,
                         const Schedule &schedule, const TargetFacts &target,
                         const KeyLimits &limits)
    : shape_(shape), schedule_(schedule), target_(target),
      atom_(atoms(target, shape.element).front()),
      rowSumAtom_(compiler::rowSumAtom(target, shape.element)),
      keys_(keyImage(atom_, schedule, shape.headDimQk, target)),
      values_(valueImage(atom_, schedule, shape.headDimV, target)), limits_(limits) {
  values_.offset = keys_.totalBytes(); // all in one LDS object
  createFunction(module, name);
  createLds(module, name);
  emitIds();
  emitUnit();
  emitScales();
  emitTileCounts();
}

void KernelFrame::createFunction(ModuleOp module, StringRef name) {
  MLIRContext *context = module.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module.getBody());
  Type global = LLVM::LLVMPointerType::get(context, 1);
  Type constantMemory = LLVM::LLVMPointerType::get(context, 4);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type(), f32 = builder.getF32Type();

  SmallVector<Type> types(11, global);
  for (int index : {7, 8, 9, 10})
    types[index] = constantMemory;
  types.append(9, i64);
  types.append({f32, i32});
  if (shape_.isScored())
    types.append({f32, f32, i32, i32, constantMemory});
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
  function_ = LLVM::LLVMFuncOp::create(builder, module.getLoc(), name, type);

  function_->setAttr("rocdl.kernel", builder.getUnitAttr());
  const std::string threads = std::to_string(schedule_.waves * kWaveLanes);
  function_->setAttr("rocdl.flat_work_group_size", builder.getStringAttr(threads + "," + threads));
  function_->setAttr("rocdl.uniform_work_group_size", builder.getBoolAttr(true));
  SmallVector<Attribute> passthrough;
  auto pass = [&](StringRef key, StringRef value) {
    passthrough.push_back(
        builder.getArrayAttr({builder.getStringAttr(key), builder.getStringAttr(value)}));
  };
  passthrough.push_back(builder.getStringAttr("nounwind"));
  // All 256 registers as VGPRs: a split file costs copies and spills in the loop.
  pass("amdgpu-agpr-alloc", "0");
  pass("amdgpu-waves-per-eu", "2,2");
  pass("amdgpu-ieee", "false");
  pass("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  for (const char *input : kAbsentInputs)
    passthrough.push_back(builder.getStringAttr(input));
  function_.setPassthroughAttr(builder.getArrayAttr(passthrough));

  SmallVector<int> readOnly{0, 1, 2, 7, 8, 9, 10};
  if (shape_.isScored())
    readOnly.push_back(static_cast<int>(types.size()) - 1);
  for (int index : readOnly) {
    function_.setArgAttr(index, LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
    function_.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  }
  for (int index : {3, 4, 5, 6})
    function_.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());

  Block *entry = function_.addEntryBlock(builder);
  emit_ = std::make_unique<Emitter>(module.getLoc(), entry, target_);
  auto argument = entry->args_begin();
  KernelArguments &a = arguments_;
  for (Value *member : {&a.q,
                        &a.k,
                        &a.v,
                        &a.out,
                        &a.lse,
                        &a.partialOut,
                        &a.partialLse,
                        &a.work,
                        &a.descaleQ,
                        &a.descaleK,
                        &a.descaleV,
                        &a.qRowStride,
                        &a.qHeadStride,
                        &a.kRowStride,
                        &a.kHeadStride,
                        &a.vRowStride,
                        &a.vHeadStride,
                        &a.outRowStride,
                        &a.outHeadStride,
                        &a.lseHeadStride,
                        &a.scaleLog2,
                        &a.sharedDescales})
    *member = *argument++;
  if (shape_.isScored())
    for (Value *member : {&a.softCapRange, &a.softCapRate, &a.windowLeft, &a.windowRight, &a.sinks})
      *member = *argument++;
}

void KernelFrame::createLds(ModuleOp module, StringRef name) {
  OpBuilder builder(function_);
  Type type =
      LLVM::LLVMArrayType::get(builder.getI8Type(), keys_.totalBytes() + values_.totalBytes());
  auto global = LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal, (name + ".lds").str(), Attribute(),
                                       /*alignment=*/16, /*addrSpace=*/3);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&global.getInitializerRegion());
    Value poison = LLVM::PoisonOp::create(builder, module.getLoc(), type);
    LLVM::ReturnOp::create(builder, module.getLoc(), poison);
  }
  lds_ = LLVM::AddressOfOp::create(emit_->builder(), global);
}

void KernelFrame::emitIds() {
  Emitter &e = emit();
  Value thread = ROCDL::ThreadIdXOp::create(e.builder(), e.i32());
  // The hardware has no uniform wave id; without this the group branch would be a lane mask and
  // every DMA a loop over lanes.
  wave_ = e.readFirstLane(e.shiftRight(thread, 6));
  groupWave_ = e.bitAnd(wave_, 3);
  ids_ = idsOf(e.bitAnd(thread, kWaveLanes - 1));
}

LaneIds KernelFrame::idsOf(Value lane) {
  Emitter &e = emit();
  Value column = e.bitAnd(lane, atom_.n - 1);
  return {.lane = lane,
          .column = column,
          .half = e.shiftRight(lane, 5),
          .unitRow = e.add(e.shiftLeft(wave_, 5), column)};
}

LaneIds KernelFrame::emitIdsAgain() { return idsOf(emit().laneIndex()); }

Value KernelFrame::emitPartner() {
  return emit().shiftLeft(emit().bitXor(emit().laneIndex(), 32), 2);
}

void KernelFrame::emitUnit() {
  Emitter &e = emit();
  static_assert(offsetof(AttentionWorkUnit, sink) == 40);
  constexpr int kWords = sizeof(AttentionWorkUnit) / 4;
  Value group = ROCDL::BlockIdXOp::create(e.builder(), e.i32());
  Value bytes = e.zeroExtend(group);
  bytes = LLVM::MulOp::create(e.builder(), bytes, e.constant64(sizeof(AttentionWorkUnit)));
  auto load = LLVM::LoadOp::create(e.builder(), e.vector(kWords, e.i32()),
                                   e.offset(arguments_.work, bytes), sizeof(AttentionWorkUnit));
  load.setInvariant(true);
  int word = 0;
  for (Value *member :
       {&unit_.qBegin, &unit_.kvBegin, &unit_.lenQ, &unit_.lenKv, &unit_.q0, &unit_.kv0, &unit_.kv1,
        &unit_.head, &unit_.kvHead, &unit_.slot, &unit_.sink})
    *member = e.element(load, word++);
  unitRows_ = e.minimum(e.sub(unit_.lenQ, unit_.q0), e.constant(schedule_.blockM));
}

void KernelFrame::emitScales() {
  Emitter &e = emit();
  scoreScale_ = arguments_.scaleLog2;
  if (shape_.scaled)
    emitDescales();
  if (!shape_.softCap)
    return;
  softCapRate_ = e.readFirstLane(e.fmul(e.fneg(scoreScale_), arguments_.softCapRate));
  scoreScale_ = arguments_.softCapRange;
}

void KernelFrame::emitDescales() {
  Emitter &e = emit();
  auto descale = [&](Value base, Value head, std::uint32_t sharedBit) {
    Value shared =
        e.compare(LLVM::ICmpPredicate::ne,
                  e.bitAnd(arguments_.sharedDescales, static_cast<int>(sharedBit)), e.constant(0));
    Value index = e.zeroExtend(e.shiftLeft(e.select(shared, e.constant(0), head), 2));
    auto load = LLVM::LoadOp::create(e.builder(), e.f32(), e.offset(base, index), 4);
    load.setInvariant(true);
    return load.getResult();
  };
  Value q = descale(arguments_.descaleQ, unit_.head, kSharedDescaleQ);
  Value k = descale(arguments_.descaleK, unit_.kvHead, kSharedDescaleK);
  // There is no scalar float multiplication, but one register serves the whole wave.
  scoreScale_ = e.readFirstLane(e.fmul(scoreScale_, e.fmul(q, k)));
  outputScale_ = descale(arguments_.descaleV, unit_.kvHead, kSharedDescaleV);
}

Value KernelFrame::lastKey(Value row) {
  Emitter &e = emit();
  Value last = e.sub(unit_.kv1, 1), query = e.add(unit_.q0, row);
  for (const KeyLimit &limit : limits_.last)
    last = e.minimum(last, limit(*this, query));
  return last;
}

Value KernelFrame::firstKey(Value row) {
  Emitter &e = emit();
  Value first = unit_.kv0, query = e.add(unit_.q0, row);
  for (const KeyLimit &limit : limits_.first)
    first = e.maximum(first, limit(*this, query));
  return first;
}

RowKeys KernelFrame::emitRowKeys() {
  Emitter &e = emit();
  const LaneIds ids = emitIdsAgain();
  if (limits_.first.empty())
    return {.limit = e.sub(lastKey(ids.unitRow), e.shiftLeft(ids.half, 2))};
  Value last = lastKey(ids.unitRow), first = firstKey(ids.unitRow);
  return {.floor = e.sub(first, e.shiftLeft(ids.half, 2)),
          .count = e.maximum(e.add(e.sub(last, first), 1), e.constant(0))};
}

void KernelFrame::emitTileCounts() {
  Emitter &e = emit();
  const int n = schedule_.blockN;
  auto tiles = [&](Value last, int round) {
    Value keys = e.maximum(e.sub(last, e.sub(unit_.kv0, 1)), e.constant(0));
    return e.shiftRight(e.add(keys, round), __builtin_ctz(n));
  };
  // A limit does not fall with the row: the first row bounds the full tiles, the last one all.
  fullTiles_ = tiles(lastKey(e.constant(0)), 0);
  const int groupRows = schedule_.blockM / 2;
  for (int group : {0, 1}) {
    Value end = e.minimum(unitRows_, e.constant(groupRows * (group + 1)));
    Value hasRows = e.compare(LLVM::ICmpPredicate::sgt, unitRows_, e.constant(groupRows * group));
    groupTiles_[group] = e.select(hasRows, tiles(lastKey(e.sub(end, 1)), n - 1), e.constant(0));
    if (!limits_.first.empty()) // the group's last row sees the fewest of the first keys
      leadingTiles_[group] = tiles(e.sub(firstKey(e.sub(end, 1)), 1), n - 1);
  }
  allTiles_ = e.maximum(groupTiles_[0], groupTiles_[1]);
}

Value KernelFrame::address(Value base, Value row, Value rowStride, Value head, Value headStride) {
  Emitter &e = emit();
  Value bytes = e.add(e.mul(e.signExtend(row), rowStride), e.mul(e.signExtend(head), headStride));
  return e.offset(base, bytes);
}

Value KernelFrame::extent(Value rows, Value rowStride, int rowBytes) {
  Emitter &e = emit();
  // (rows - 1) * stride + rowBytes; not more than 0 for rows <= 0, since rows do not overlap.
  Value stride = e.truncate(rowStride);
  Value gap = e.sub(stride, rowBytes);
  return e.maximum(e.sub(e.mul(rows, stride), gap), e.constant(0));
}

} // namespace wavesmith::compiler
