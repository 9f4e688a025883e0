#include "runtime/dispatch/AttentionProblem.h"

#include <array>
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wavesmith {
namespace {

using ::testing::HasSubstr;

AttentionProblem good() {
  AttentionProblem problem;
  problem.heads = 12;
  problem.kvHeads = 4;
  problem.lengths = {{603, 603}, {0, 5}, {1, 4096}};
  return problem;
}

TEST(AttentionProblem, FillsInDefaults) {
  const auto checked = checkProblem(good());
  ASSERT_TRUE(checked) << checked.status().message();
  EXPECT_EQ(checked->totalQ, 604);
  EXPECT_EQ(checked->totalKv, 4704);
  EXPECT_EQ(checked->q.rowStride, 12 * 192);
  EXPECT_EQ(checked->k.rowStride, 4 * 192);
  EXPECT_EQ(checked->v.headStride, 128);
  EXPECT_EQ(checked->out.extentBytes(), 604 * 12 * 128 * 2);
  EXPECT_EQ(checked->lse.headStride, 604);
  EXPECT_DOUBLE_EQ(*checked->problem.scale, 1 / std::sqrt(192.0));
  AttentionProblem mha = good();
  mha.kvHeads = 0;
  EXPECT_EQ(checkProblem(mha)->problem.kvHeads, 12);
}

TEST(AttentionProblem, Fp8IsTheTargetsFormat) {
  AttentionProblem problem = good();
  EXPECT_EQ(checkProblem(problem)->fp8, Fp8Format::None);
  problem.dtype = DType::FP8;
  problem.sharedDescales.k = true;
  for (const auto format : {std::optional<Fp8Format>(), {Fp8Format::E4M3Fnuz}}) {
    problem.fp8 = format;
    const auto checked = checkProblem(problem);
    ASSERT_TRUE(checked) << checked.status().message();
    EXPECT_EQ(checked->fp8, Fp8Format::E4M3Fnuz);
    EXPECT_EQ(checked->q.elementBytes, 1);
    EXPECT_EQ(checked->v.rowStride, 4 * 128);
    EXPECT_EQ(checked->out.elementBytes, 2);
  }
}

TEST(AttentionProblem, F16InputsGiveF16) {
  AttentionProblem problem = good();
  problem.dtype = DType::F16;
  const auto checked = checkProblem(problem);
  ASSERT_TRUE(checked) << checked.status().message();
  EXPECT_EQ(checked->fp8, Fp8Format::None);
  EXPECT_EQ(checked->q.elementBytes, 2);
  EXPECT_EQ(checked->spec.attention.outType(), DType::F16);
  problem.fp8 = Fp8Format::E4M3Fnuz;
  EXPECT_THAT(checkProblem(problem).status().message(),
              HasSubstr("inputs are e4m3fnuz; f16 on gfx942 takes f16"));
  problem.fp8.reset();
  problem.sharedDescales.q = true;
  EXPECT_THAT(checkProblem(problem).status().message(),
              HasSubstr("descales belong to fp8 inputs, these are f16"));
  problem.sharedDescales = {};
  problem.f16Out = true;
  EXPECT_THAT(checkProblem(problem).status().message(), HasSubstr("f16out is of fp8 kernels"));
  problem.dtype = DType::FP8;
  EXPECT_EQ(checkProblem(problem)->spec.attention.outType(), DType::F16);
}

TEST(AttentionProblem, EveryWrongValueIsNamed) {
  struct Case {
    std::function<void(AttentionProblem &)> change;
    const char *message;
  };
  const std::vector<Case> cases = {
      {[](auto &p) { p.softCap = 0.0; }, "soft cap is 0; it must be from 0.001 to 1000"},
      {[](auto &p) { p.softCap = std::nan(""); }, "soft cap is nan"},
      {[](auto &p) { p.window.left = -2; }, "window left is -2; it must be -1 (unlimited) or 0"},
      {[](auto &p) { p.window.right = kMaxTokens + 1; }, "window right is 16777217"},
      {[](auto &p) { p.target = "gfx1100"; }, "unknown target \"gfx1100\"; known: gfx942, gfx950"},
      {[](auto &p) { p.headDimQk = 96; },
       "no kernel for head dims 96x128; supported: 192x128, 128x128, 64x64, 256x256"},
      {[](auto &p) { p.dtype = DType::FP8, p.fp8 = Fp8Format::E4M3Ocp; },
       "inputs are e4m3; fp8 on gfx942 takes e4m3fnuz"},
      {[](auto &p) { p.fp8 = Fp8Format::E4M3Fnuz; },
       "inputs are e4m3fnuz; bf16 on gfx942 takes bf16"},
      {[](auto &p) { p.sharedDescales.q = true; }, "descales belong to fp8 inputs, these are bf16"},
      {[](auto &p) { p.dtype = DType::FP8, p.q.row = 12 * 192 + 8; },
       "it must be a multiple of 16 (16 bytes)"},
      {[](auto &p) { p.heads = 0; }, "heads is 0; 1 to 128 are supported"},
      {[](auto &p) { p.heads = 129; }, "heads is 129; 1 to 128 are supported"},
      {[](auto &p) { p.kvHeads = -1; }, "kv_heads is -1; 1 to 128 are supported"},
      {[](auto &p) { p.kvHeads = 5; }, "heads 12 is not a multiple of kv_heads 5"},
      {[](auto &p) { p.lengths[1].q = -3; }, "sequence 1: q length is -3; lengths are 0 or more"},
      {[](auto &p) { p.lengths[2].kv = -1; }, "sequence 2: kv length is -1; lengths are 0 or more"},
      {[](auto &p) { p.lengths[0].kv = kMaxTokens + 1; },
       "sequence 0: kv length is 16777217; at most 16777216 tokens"},
      {[](auto &p) { p.lengths = {{1, kMaxTokens}, {1, 1}}; },
       "the batch has more than 16777216 kv tokens in its first 2 sequences"},
      {[](auto &p) { p.scale = 0; }, "scale is 0; it must be positive, from 1e-30 to 1e30"},
      {[](auto &p) { p.scale = std::nan(""); }, "scale is nan"},
      {[](auto &p) { p.q.row = -8; }, "q row stride is -8; strides are 0 or more"},
      {[](auto &p) { p.k.head = 193; },
       "k head stride is 193 elements; it must be a multiple of 8 (16 bytes)"},
      {[](auto &p) { p.v.row = 2 << 20; },
       "v row stride is 2097152 elements; rows must be less than 4 MiB (2097152 elements) apart"},
      {[](auto &p) { p.q.head = std::int64_t{1} << 62; }, "q head stride 4611686018427387904"},
      {[](auto &p) {
         p.q.head = std::int64_t{1} << 60;
         p.q.row = 192;
       },
       "q reaches over more than 2^46 bytes"},
      {[](auto &p) { p.out.row = 128; }, "out rows overlap: 12 heads of 128 elements"},
      {[](auto &p) { p.out.head = 64; }, "out rows overlap"},
      {[](auto &p) { p.lseHeadStride = 603; }, "lse head stride is 603; the batch has 604 queries"},
  };
  for (const Case &c : cases) {
    AttentionProblem problem = good();
    c.change(problem);
    const Status status = checkProblem(problem).status();
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << c.message;
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
}

TEST(AttentionProblem, AcceptsTheLimits) {
  AttentionProblem problem = good();
  problem.heads = 128;
  problem.kvHeads = 1;
  problem.lengths = {{kMaxTokens, kMaxTokens}, {0, 0}};
  problem.k.row = (2 << 20) - 8; // extent far past 2^32 bytes
  EXPECT_TRUE(checkProblem(problem));
  problem.k.head = 0; // one head for all
  EXPECT_TRUE(checkProblem(problem));
  problem.out = {.row = 128, .head = kMaxTokens * 128}; // head-major
  EXPECT_TRUE(checkProblem(problem));
  problem.lengths = {};
  EXPECT_TRUE(checkProblem(problem));
}

TEST(AttentionProblem, SeenKeysFollowTheQueryFromTheBottomRight) {
  AttentionProblem problem = good();
  const auto seen = [&](SequenceLength length, std::int64_t query) {
    const KeyRange keys = visibleKeys(problem, length, query);
    return keys.count() ? std::pair(keys.begin, keys.end) : std::pair<std::int64_t, std::int64_t>();
  };
  EXPECT_EQ(seen({10, 30}, 4), std::pair(0l, 30l));
  problem.causal = true;
  EXPECT_EQ(seen({10, 30}, 4), std::pair(0l, 25l));
  EXPECT_EQ(seen({30, 10}, 4), std::pair(0l, 0l));
  problem.window = {3, 2};
  EXPECT_EQ(seen({10, 30}, 4), std::pair(21l, 25l)) << "the nearer end counts";
  problem.causal = false;
  EXPECT_EQ(seen({10, 30}, 4), std::pair(21l, 27l));
  EXPECT_EQ(seen({10, 30}, 9), std::pair(26l, 30l));
  EXPECT_EQ(seen({30, 10}, 18), std::pair(0l, 1l)) << "only what stands right of it";
  EXPECT_EQ(seen({30, 10}, 17), std::pair(0l, 0l));
  problem.window = {0, -1};
  EXPECT_EQ(seen({10, 30}, 4), std::pair(24l, 30l));
}

TEST(AttentionProblem, LengthsFromOffsets) {
  const std::array<std::int32_t, 4> q = {0, 3, 3, 10}, kv = {0, 5, 7, 7};
  EXPECT_EQ(*lengthsFromOffsets(q, kv), (std::vector<SequenceLength>{{3, 5}, {0, 2}, {7, 0}}));
  const std::array<std::int32_t, 4> falls = {0, 5, 4, 7}, starts = {1, 5, 7, 7};
  EXPECT_THAT(lengthsFromOffsets(q, falls).status().message(),
              HasSubstr("cumulative kv lengths fall from 5 to 4 at sequence 1"));
  EXPECT_THAT(lengthsFromOffsets(starts, kv).status().message(), HasSubstr("start with 1"));
  EXPECT_FALSE(lengthsFromOffsets(q, std::span(kv).first(3)));
  EXPECT_FALSE(lengthsFromOffsets({}, {}));
}

TEST(AttentionProblem, ParsesLengths) {
  EXPECT_EQ(*parseLengths("603:603,1:4096,0:0"),
            (std::vector<SequenceLength>{{603, 603}, {1, 4096}, {0, 0}}));
  EXPECT_EQ((*parseLengths("-1:4"))[0].q, -1) << "the check of values comes later";
  for (const char *bad :
       {"", "1", "1:", ":1", "1:2,", ",1:2", "1:2:3", "1:2 ,3:4", "a:b", "99999999999999999999:1"})
    EXPECT_EQ(parseLengths(bad).status().code(), StatusCode::InvalidArgument) << bad;
}

} // namespace
} // namespace wavesmith
