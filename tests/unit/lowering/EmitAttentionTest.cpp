#include <gtest/gtest.h>

#include "tests/unit/lowering/KernelText.h"

namespace wavesmith::compiler::testing {
namespace {

class EmitAttentionTest : public ::testing::TestWithParam<KernelShape> {};

TEST_P(EmitAttentionTest, TranslatesAndVerifies) {
  Produced ir = emitLlvmIr(GetParam(), Schedule(), "k");
  EXPECT_EQ(ir.error, "");
}

std::vector<KernelShape> allShapes() {
  std::vector<KernelShape> shapes;
  for (auto [qk, v] : {std::pair{192, 128}, {128, 128}, {64, 64}})
    for (bool causal : {false, true})
      for (bool split : {false, true})
        shapes.push_back({.headDimQk = qk,
                          .headDimV = v,
                          .causal = causal,
                          .writeLse = causal != split,
                          .splitKv = split});
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Shapes, EmitAttentionTest, ::testing::ValuesIn(allShapes()),
                         [](const auto &info) { return shapeName(info.param); });

} // namespace
} // namespace wavesmith::compiler::testing
