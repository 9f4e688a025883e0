#pragma once
// Shared by the codegen tests: fixture files, and variants of them made by replacing text.

#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/codegen/Diagnostics.h"
#include "compiler/codegen/ObjectEmitter.h"

namespace wavesmith::compiler::testing {

inline std::string fixture(const std::string &name) {
  std::ifstream file(std::string(WAVESMITH_CODEGEN_FIXTURES) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << "missing fixture " << name;
  return text.str();
}

/// Replaces every occurrence; a variant that changes nothing is a broken test.
inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "nothing to replace: " << from;
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// pipelined_loop.ll with 24 VGPRs beside 32 AGPRs: LLVM must spill and copy between the files.
inline std::string starvedLoop() {
  return replaced(replaced(fixture("pipelined_loop.ll"), "\"amdgpu-agpr-alloc\"=\"0\"",
                           "\"amdgpu-agpr-alloc\"=\"32\""),
                  "\"amdgpu-waves-per-eu\"=\"2,2\"",
                  "\"amdgpu-waves-per-eu\"=\"2,8\" \"amdgpu-num-vgpr\"=\"24\"");
}

inline std::string message(llvm::Error error) { return toStatus(std::move(error)).message(); }

inline llvm::Expected<ObjectBytes> emitText(const std::string &ir, const EmitOptions &options) {
  llvm::LLVMContext context;
  auto module = parseLlvmIr(ir, "fixture.ll", context);
  if (!module)
    return module.takeError();
  auto machine = makeTargetMachine(options);
  if (!machine)
    return machine.takeError();
  if (llvm::Error error = prepareModule(**module, **machine, options))
    return error;
  return emitObject(**module, **machine);
}

} // namespace wavesmith::compiler::testing
