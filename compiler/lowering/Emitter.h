#pragma once
// A builder for the LLVM and ROCDL dialects with the few operations that the emitters of this
// folder use, so that they read as the algorithm and not as create<> calls. Constants are cached in
// the entry block of the function under construction. One per function; not thread-safe.

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/ImplicitLocOpBuilder.h>

#include "compiler/lowering/Schedule.h"

namespace wavesmith::compiler {

class Emitter {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;

  Emitter(mlir::Location location, mlir::Block *entry, const TargetFacts &target);

  mlir::ImplicitLocOpBuilder &builder() { return builder_; }

  Type i1() { return builder_.getI1Type(); }
  Type i16() { return builder_.getI16Type(); }
  Type i32() { return builder_.getI32Type(); }
  Type i64() { return builder_.getI64Type(); }
  Type f32() { return builder_.getF32Type(); }
  Type vector(int count, Type element);
  Type pointer(unsigned addressSpace);

  Value constant(int value);
  Value constant64(std::int64_t value);
  Value constant(float value);
  Value zero(Type type); ///< zeroinitializer

  // Integers; both operands of one type. The forms with an int take a constant.
  Value add(Value a, Value b);
  Value add(Value a, int b) { return b == 0 ? a : add(a, constant(b)); }
  Value sub(Value a, Value b);
  Value sub(Value a, int b) { return sub(a, constant(b)); }
  Value mul(Value a, Value b);
  Value mul(Value a, int b);
  Value shiftLeft(Value a, int bits);
  Value shiftRight(Value a, int bits); ///< logical
  Value bitAnd(Value a, int mask);
  Value bitXor(Value a, int mask);
  Value minimum(Value a, Value b); ///< signed
  Value maximum(Value a, Value b); ///< signed
  Value signExtend(Value a);       ///< i32 to i64
  Value zeroExtend(Value a);       ///< i32 to i64
  Value truncate(Value a);         ///< i64 to i32
  Value compare(mlir::LLVM::ICmpPredicate predicate, Value a, Value b);
  Value compare(mlir::LLVM::FCmpPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);

  // Floats.
  Value fadd(Value a, Value b);
  Value fsub(Value a, Value b);
  Value fmul(Value a, Value b);
  Value fneg(Value a);
  Value fma(Value a, Value b, Value c);
  Value fmax(Value a, Value b); ///< no NaN, so that chains become v_max3
  Value exp2(Value a);          ///< v_exp_f32
  Value log2(Value a);          ///< v_log_f32
  Value reciprocal(Value a);    ///< v_rcp_f32

  Value bitcast(Value a, Type type);
  Value element(Value vector, int index);
  Value packVector(mlir::ArrayRef<Value> elements);
  Value splat(Value scalar, int count);
  /// The vectors of one type as one.
  Value concatenate(mlir::ArrayRef<Value> vectors);
  /// Consecutive bytes of a lane as the operands of an instruction, one or several.
  mlir::SmallVector<Value> matrixOperands(Value bytes, const MfmaAtom &atom);

  /// Two floats as two of a 16-bit type in one dword, `low` in the low half. Ties of float16 always
  /// go to even.
  Value packHalves(ElementType element, Value low, Value high, PRounding rounding);
  /// Two floats in the target's FP8 format, to nearest even: in the low half of a word whose other
  /// half is undefined, or, given such a word, in its high half.
  Value convertFp8(Value low, Value high, Value word);

  Value laneMap(const std::vector<BitField> &fields, Value x);
  Value perm(Value high, Value low, std::uint32_t selector); ///< v_perm_b32
  Value readFirstLane(Value a);
  Value laneIndex();                ///< in its wave: v_mbcnt, which needs no register from before
  Value ballotAny(Value condition); ///< uniform: some lane's condition holds
  /// The floats of this lane and of its partner lane ^ 32, in either order; `partner` is 4 * (lane
  /// ^ 32).
  std::pair<Value, Value> withPartner(Value partner, Value a);
  Value mfma(const MfmaAtom &atom, Value a, Value b, Value c);

  // Memory. Offsets are bytes.
  Value offset(Value pointer, Value bytes);
  Value offset(Value pointer, int bytes); ///< constant last, so that it folds into the instruction
  Value loadLds(Value pointer, Type type, int align);
  /// 8 bytes of a transpose of 16-bit elements: of 16 lanes, lane 4 r + q points to columns 4 q..
  /// of row r, and lane c receives rows 0..3 of column c.
  /// Of 8-bit elements: lane 2 r + s points to columns 8 s.. of row r, and lane c receives rows
  /// 0..7 of column c.
  Value loadLdsTransposed(Value pointer, int elementBytes);
  void storeLds(Value value, Value pointer, int align);
  /// A raw buffer over [base, base + bytes); base must be uniform, bytes is a uniform i32.
  Value bufferResource(Value base, Value bytes);
  Value bufferLoad(Type type, Value resource, Value byteOffset);
  void bufferStore(Value value, Value resource, Value byteOffset);
  void bufferLoadToLds(Value resource, Value ldsPointer, int bytes, Value laneOffset,
                       int immediate);

  // Machine control.
  void schedBarrier(); ///< nothing moves across, costs no instruction
  void barrier();      ///< s_barrier between two schedBarriers
  void waitVectorMemory(int inFlight);
  void waitLds(int inFlight);
  void setPriority(int priority);
  void nop(int count);

  // Blocks. New blocks go to the end of the function.
  mlir::Block *newBlock(mlir::TypeRange arguments);
  void setBlock(mlir::Block *block) { builder_.setInsertionPointToEnd(block); }
  void branch(mlir::Block *target, mlir::ValueRange arguments);
  void branchIf(Value condition, mlir::Block *ifTrue, mlir::ValueRange trueArguments,
                mlir::Block *ifFalse, mlir::ValueRange falseArguments,
                std::pair<int, int> weights = {0, 0});

private:
  Value cached(mlir::Attribute attribute, Type type);

  mlir::Block *entry_;
  const TargetFacts &target_;
  mlir::ImplicitLocOpBuilder builder_;
  mlir::DenseMap<std::pair<mlir::Attribute, mlir::Type>, Value> constants_;
  mlir::Operation *lastConstant_ = nullptr;
};

} // namespace wavesmith::compiler
