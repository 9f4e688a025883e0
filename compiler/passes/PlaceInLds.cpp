#include "compiler/passes/Images.h"
#include "compiler/passes/Passes.h"

using namespace mlir;

namespace wavesmith::compiler {

#define GEN_PASS_DEF_PLACEINLDS
#include "compiler/passes/Passes.h.inc"

namespace {

struct PlaceInLdsPass : impl::PlaceInLdsBase<PlaceInLdsPass> {
  using PlaceInLdsBase::PlaceInLdsBase;

  void runOnOperation() override {
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>())
      if (failed(runOnKernel(kernel)))
        return signalPassFailure();
  }

  LogicalResult runOnKernel(tile::KernelOp kernel) {
    const TargetFacts *facts = findTarget(kernel.getTarget().value_or(""));
    int64_t offset = 0;
    WalkResult walked = kernel.walk([&](tile::LoadOp load) {
      if (!llvm::isa<tile::KeysType>(load.getRows().getType()))
        return WalkResult::advance(); // the queries stay in registers
      return succeeded(place(load, facts, offset)) ? WalkResult::advance()
                                                   : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
    if (facts && offset > facts->ldsBytes)
      return kernel.emitOpError() << "needs " << offset << " bytes of LDS, " << facts->name
                                  << " has " << facts->ldsBytes;
    return success();
  }

  LogicalResult place(tile::LoadOp load, const TargetFacts *facts, int64_t &offset) {
    tile::DotOp dot;
    for (Operation *user : load.getTile().getUsers())
      dot = llvm::dyn_cast<tile::DotOp>(user);
    if (!dot || !load.getTile().hasOneUse() || dot.getRhs() != load.getTile())
      return load.emitOpError() << "inside a loop must be the right operand of one dot";
    const MfmaAtom *atom = facts && dot.getAtom() ? findAtom(*facts, *dot.getAtom()) : nullptr;
    if (!atom || !load.getTile().getType().getLayout())
      return load.emitOpError() << "has no layout; run wavesmith-assign-layouts first";

    tile::TileType type = load.getTile().getType();
    Schedule schedule;
    schedule.blockN = type.getDim(0);
    schedule.kBuffers = keyBuffers;
    schedule.vBuffers = valueBuffers;
    // A contraction along the row reads row pieces as they are; one along the rows needs the
    // transpose.
    bool alongRow = dot.getTransposed();
    LdsImage image = alongRow ? keyImage(*atom, schedule, type.getDim(1), *facts)
                              : valueImage(*atom, schedule, type.getDim(1), *facts);
    if (image.bufferBytes <= 0)
      return load.emitOpError() << "has no LDS image for " << type << " on " << facts->name;
    load.setLdsAttr(tile::LdsAttr::get(&getContext(), kindOf(image), offset, image.bufferBytes,
                                       image.lineBytes, image.buffers));
    offset += image.totalBytes();
    return success();
  }
};

} // namespace
} // namespace wavesmith::compiler
