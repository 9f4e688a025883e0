#ifndef WAVESMITH_COMPILER_PASSES_TD
#define WAVESMITH_COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

// In pipeline order. Down to assign-layouts nothing knows a vendor; form-softmax to lower-tile know
// what the target's facts and atoms say.

def BindParameters : Pass<"wavesmith-bind-parameters", "::mlir::ModuleOp"> {
  let summary = "Replaces a template's parameters by values";
  let description = [{
    Takes `values` as "name=value,..." (integers, true/false, types). Every declared parameter needs
    a value of its kind and, where the declaration lists admitted values, one of them. The
    declarations go; no parameter is left anywhere.
  }];
  let options = [
    Option<"values", "values", "std::string", "\"\"", "name=value pairs, separated by commas">
  ];
}

def FoldParameters : Pass<"wavesmith-fold-parameters", "::mlir::ModuleOp"> {
  let summary = "Keeps the branch that each tile.if's bound condition selects";
}

def SelectAtoms : Pass<"wavesmith-select-atoms", "::mlir::ModuleOp"> {
  let summary = "Chooses the matrix instruction of every dot";
  let options = [
    Option<"target", "target", "std::string", "\"gfx942\"", "gfx target">
  ];
}

def AssignLayouts : Pass<"wavesmith-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Gives every tile its register layout";
  let description = [{
    A dot whose result is an operand of another dot is computed transposed, D^T = B^T A^T, if the
    accumulators of D^T are then, lane for lane, the operand that the other dot needs: weights go
    from one product to the next without leaving their registers. The lane maps of the atoms decide;
    if they do not agree, that is an error and no shuffle is invented.
  }];
}

def FormSoftmax : Pass<"wavesmith-form-softmax", "::mlir::ModuleOp"> {
  let summary = "Decides range, rescaling, row sum, order and rounding of every online softmax";
  let description = [{
    Weights reach 2^(exponent + threshold), which their type must hold. `matrix` sums need a matrix
    instruction of the target for them; `truncated` is for 16-bit weights that the target has no
    instruction to round.
  }];
  let options = [
    Option<"sum", "sum", "std::string", "\"vector\"", "vector or matrix">,
    Option<"order", "order", "std::string", "\"pipelined\"", "pipelined or windowed">,
    Option<"rounding", "rounding", "std::string", "\"nearest\"", "nearest or truncated">,
    Option<"exponent", "exponent", "double", "0.0", "log2 of the factor of all weights">,
    Option<"threshold", "threshold", "double", "8.0", "rescale threshold, log2">
  ];
}

def PlaceInLds : Pass<"wavesmith-place-in-lds", "::mlir::ModuleOp"> {
  let summary = "Gives every tile that is loaded inside a loop an LDS image";
  let description = [{
    A tile that is contracted along its rows is copied to LDS as it is. One that is contracted
    across its rows is transposed: by the reads, if the target has reads that do, else in registers
    on the way in.
  }];
  let options = [
    Option<"keyBuffers", "key-buffers", "int64_t", "2", "tiles in LDS of what makes the scores">,
    Option<"valueBuffers", "value-buffers", "int64_t", "2", "tiles in LDS of the weighted values">
  ];
}

def PipelineLoads : Pass<"wavesmith-pipeline-loads", "::mlir::ModuleOp"> {
  let summary = "Turns a key loop into vector and matrix phases of two wave groups";
  let description = [{
    The product that makes the scores moves one step ahead: the loop carries the scores, its vector
    phase turns them into weights, its matrix phase multiplies the weights with this step's values
    and makes the scores of the next step. Each load gets a wave group and a distance.
  }];
  let options = [
    Option<"ring", "ring", "int64_t", "6", "operand fragments in flight in a matrix phase">,
    Option<"pre", "pre", "int64_t", "3", "fragments read before the barrier that opens it">,
    Option<"registerAhead", "register-ahead", "int64_t", "2",
           "steps ahead that tiles through registers are requested: 2, or 1 for fewer registers">
  ];
}

def PeelMasks : Pass<"wavesmith-peel-masks", "::mlir::ModuleOp"> {
  let summary = "Lets steps in which every score is visible run without masks";
  let description = [{
    A score function that hides the keys above or below a limit which does not depend on the key and
    grows with the query is a mask. If every score function of a loop that hides anything is one, the loop is peeled: its full steps
    run without them.
  }];
}

def InsertWaits : Pass<"wavesmith-insert-waits", "::mlir::ModuleOp"> {
  let summary = "Computes what each wave group waits for before each barrier";
}

def LowerTile : Pass<"wavesmith-lower-tile", "::mlir::ModuleOp"> {
  let summary = "Carries out the decisions: scheduled tile ops to LLVM and ROCDL";
  let description = [{
    Reads the scheduled kernel (ScheduledKernel), then lets the emitters of compiler/lowering write
    it. An op or a combination that they cannot carry out is an error at that op.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect"];
  let options = [
    Option<"kernelName", "kernel-name", "std::string", "\"\"", "symbol of the kernel; empty keeps it">
  ];
}

// The kernels around attention: after fold-parameters, instead of the passes above.

def AssignRows : Pass<"wavesmith-assign-rows", "::mlir::ModuleOp"> {
  let summary = "Decides how the rows of a loop lie in lanes";
  let description = [{
    A lane takes 16 bytes of the widest element at a time, a row as many neighbouring lanes as
    divide it, so that accesses are whole and side by side.
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "64", "rows of a workgroup">
  ];
}

def LowerRows : Pass<"wavesmith-lower-rows", "::mlir::ModuleOp"> {
  let summary = "Row operations to what one lane does";
  let description = [{
    Tiles become the values that a lane holds; arith, math and scf stay and are left to upstream's
    conversions. Nothing passes through LDS: what rows share goes through lanes and atomics.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::ROCDL::ROCDLDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"gfx942\"", "gfx target">,
    Option<"kernelName", "kernel-name", "std::string", "\"\"", "symbol of the kernel; empty keeps it">,
    Option<"threads", "threads", "int64_t", "256", "threads of a workgroup">
  ];
}

#endif
