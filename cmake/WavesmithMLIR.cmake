# LLVM/MLIR 22 from Debian: the dylibs plus the static lld libraries, and one precompiled header.
# LLVM 14's configuration is also on Debian machines, hence the explicit prefix.

set(WAVESMITH_LLVM_PREFIX /usr/lib/llvm-22 CACHE PATH "Prefix of LLVM/MLIR 22")
find_package(MLIR REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${WAVESMITH_LLVM_PREFIX}/lib/cmake/mlir)
find_package(LLD REQUIRED CONFIG NO_DEFAULT_PATH PATHS ${WAVESMITH_LLVM_PREFIX}/lib/cmake/lld)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(wavesmith_mlir INTERFACE)
target_include_directories(wavesmith_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(wavesmith_mlir INTERFACE -fno-exceptions -Wno-unused-parameter)
target_link_libraries(wavesmith_mlir INTERFACE MLIR LLVM fmt::fmt)

# MLIR's ROCDL header alone costs 11-16 s a file; with one precompiled header a file takes 3 s.
# Every target of compiler/ and dialects/ is declared through this function and shares it.
function(wavesmith_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC wavesmith_options wavesmith_mlir ${ARG_DEPS}
    PRIVATE ${ARG_PRIVATE_DEPS})
  if(NOT TARGET wavesmith_mlir_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/cmake/MLIRPch.cpp "// carries the precompiled header\n")
    add_library(wavesmith_mlir_pch STATIC ${CMAKE_BINARY_DIR}/cmake/MLIRPch.cpp)
    target_link_libraries(wavesmith_mlir_pch PUBLIC wavesmith_options wavesmith_mlir)
    target_precompile_headers(wavesmith_mlir_pch PRIVATE
      <fmt/format.h>
      <mlir/Conversion/Passes.h>
      <mlir/Dialect/Arith/IR/Arith.h>
      <mlir/Dialect/LLVMIR/LLVMDialect.h>
      <mlir/Dialect/LLVMIR/ROCDLDialect.h>
      <mlir/IR/AttrTypeSubElements.h>
      <mlir/IR/Builders.h>
      <mlir/IR/BuiltinOps.h>
      <mlir/IR/DialectImplementation.h>
      <mlir/IR/OpImplementation.h>
      <mlir/IR/Verifier.h>
      <mlir/Interfaces/SideEffectInterfaces.h>
      <mlir/Parser/Parser.h>
      <mlir/Pass/Pass.h>
      <mlir/Pass/PassManager.h>
      <mlir/Transforms/Passes.h>)
  endif()
  target_precompile_headers(${name} REUSE_FROM wavesmith_mlir_pch)
  add_dependencies(${name} wavesmith_mlir_pch)
endfunction()

# mlir_tablegen with our include root: .td files name each other from the repository root too.
macro(wavesmith_tablegen)
  mlir_tablegen(${ARGN} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR} ${MLIR_INCLUDE_DIRS})
endmacro()
