#include "runtime/spec/KernelSpec.h"

#include <cstddef>
#include <random>

#include <gtest/gtest.h>

#include "runtime/spec/AttentionAbi.h"

namespace wavesmith {
namespace {

KernelSpec mainJob() { return {"gfx942", {DType::BF16, 192, 128, true, true, false}, ""}; }

TEST(KernelSpec, TextAndNameReadAsDocumented) {
  EXPECT_EQ(mainJob().text(), "attention abi=2 target=gfx942 dtype=bf16 d=192x128 causal=1 lse=1 "
                              "split=0 schedule=default");
  EXPECT_EQ(mainJob().kernelName(),
            "ws_attention_bf16_d192x128_causal_gfx942_" + mainJob().key().substr(0, 6));
  EXPECT_EQ(mainJob().key().size(), 64u);
}

TEST(KernelSpec, TextRoundTrips) {
  for (const char *target : {"gfx942", "gfx950"})
    for (DType dtype : {DType::BF16, DType::F16, DType::FP8})
      for (int bits = 0; bits < 8; ++bits)
        for (const char *schedule : {"", "plain", "anti-phase_2.1"}) {
          const KernelSpec spec = {
              target,
              {dtype, 64 + bits, 128, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0},
              schedule};
          const auto parsed = KernelSpec::parse(spec.text());
          ASSERT_TRUE(parsed) << parsed.status().message();
          EXPECT_EQ(*parsed, spec);
        }
}

TEST(KernelSpec, WhatItWritesIsF16ForF16InputsOrOnDemand) {
  KernelSpec spec = mainJob();
  EXPECT_EQ(spec.attention.outType(), DType::BF16);
  spec.attention.dtype = DType::F16;
  EXPECT_EQ(spec.attention.outType(), DType::F16);
  EXPECT_TRUE(spec.validate().isOk());
  EXPECT_EQ(spec.kernelName(),
            "ws_attention_f16_d192x128_causal_gfx942_" + spec.key().substr(0, 6));
  for (const DType dtype : {DType::BF16, DType::F16}) {
    spec.attention.dtype = dtype;
    spec.attention.f16Out = true;
    EXPECT_EQ(spec.validate().message(), fmt::format("f16out is of fp8 kernels; {} ones write what "
                                                     "they read",
                                                     dtypeName(dtype)));
  }
  spec.attention.dtype = DType::FP8;
  EXPECT_TRUE(spec.validate().isOk());
  EXPECT_EQ(spec.attention.outType(), DType::F16);
  spec.attention.sink = true;
  EXPECT_EQ(spec.text(), "attention abi=3 target=gfx942 dtype=fp8 d=192x128 causal=1 lse=1 split=0 "
                         "sink=1 f16out=1 schedule=default");
  const auto parsed = KernelSpec::parse(spec.text());
  ASSERT_TRUE(parsed) << parsed.status().message();
  EXPECT_EQ(*parsed, spec);
  std::string text = spec.text();
  text.replace(text.find("f16out=1"), 8, "f16out=0");
  EXPECT_FALSE(KernelSpec::parse(text));
}

TEST(KernelSpec, ScoreFunctionsAreNamedWhereTheyAreOn) {
  for (int set = 0; set < 8; ++set) {
    KernelSpec spec = mainJob();
    spec.attention.softCap = set & 1;
    spec.attention.window = set & 2;
    spec.attention.sink = set & 4;
    const auto parsed = KernelSpec::parse(spec.text());
    ASSERT_TRUE(parsed) << parsed.status().message();
    EXPECT_EQ(*parsed, spec);
    const auto abi = spec.abi();
    ASSERT_TRUE(abi);
    EXPECT_EQ(abi->argumentBytes, set ? 192u : 168u);
    EXPECT_EQ(abi->layout == kAttentionLayout, set == 0);
  }
  KernelSpec all = mainJob();
  all.attention.softCap = all.attention.window = all.attention.sink = true;
  EXPECT_EQ(all.text(), "attention abi=3 target=gfx942 dtype=bf16 d=192x128 causal=1 lse=1 split=0 "
                        "softcap=1 window=1 sink=1 schedule=default");
  EXPECT_EQ(all.kernelName(), "ws_attention_bf16_d192x128_causal_softcap_window_sink_gfx942_" +
                                  all.key().substr(0, 6));
  for (const char *other : {"softcap=0", "softcap=1 softcap=1", "window=1 softcap=1", "sink=2"}) {
    std::string text = all.text();
    const std::string_view words = "softcap=1 window=1 sink=1";
    text.replace(text.find(words), words.size(), other);
    EXPECT_FALSE(KernelSpec::parse(text)) << text;
  }
  // A text that names the layout of the others.
  std::string text = all.text();
  EXPECT_FALSE(KernelSpec::parse(text.replace(text.find("abi=3"), 5, "abi=2")));
  text = mainJob().text();
  EXPECT_FALSE(KernelSpec::parse(text.replace(text.find("abi=2"), 5, "abi=3")));
}

TEST(KernelSpec, ParseRefusesEveryOtherSpelling) {
  const std::string good = mainJob().text();
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string &bad : {std::string(),
                                 std::string("attention"),
                                 good + " ",
                                 " " + good,
                                 good + " extra=1",
                                 good + "\n",
                                 replaced("abi=2", "abi=1"),
                                 replaced("abi=2", "abi=02"),
                                 replaced("bf16", "BF16"),
                                 replaced("gfx942", "gfx90a"),
                                 replaced("192x128", "192"),
                                 replaced("192x128", "192x"),
                                 replaced("192x128", "x128"),
                                 replaced("192x128", "192x128x1"),
                                 replaced("192x128", "-1x128"),
                                 replaced("192x128", "+192x128"),
                                 replaced("192x128", "99999999999x128"),
                                 replaced("causal=1", "causal=2"),
                                 replaced("causal=1", "causal="),
                                 replaced("causal=1 lse=1", "lse=1 causal=1"),
                                 replaced(" lse=1", ""),
                                 replaced("default", "De fault"),
                                 replaced("default", ""),
                                 replaced("abi=2 ", "abi=2  ")})
    EXPECT_FALSE(KernelSpec::parse(bad)) << bad;
}

TEST(KernelSpec, AnyBytesParseOrFailInOneLine) {
  std::mt19937_64 random(7);
  const std::string good = mainJob().text();
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    const int edits = static_cast<int>(random() % 4) + 1;
    for (int e = 0; e < edits && !text.empty(); ++e) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, random() % 8);
        break;
      default:
        text.insert(at, good.substr(random() % good.size(), random() % 9));
      }
    }
    const auto parsed = KernelSpec::parse(text);
    if (parsed) {
      EXPECT_EQ(parsed->text(), text) << "an accepted text is the canonical one";
      continue;
    }
    EXPECT_LT(parsed.status().message().size(), 300u);
  }
}

TEST(KernelSpec, ValidateSaysWhatExists) {
  for (const Target &target : knownTargets()) {
    KernelSpec spec = mainJob();
    spec.target = target.name;
    EXPECT_TRUE(spec.validate().isOk()) << target.name;
  }
  for (auto [qk, v] : {std::pair{192, 128}, {128, 128}, {64, 64}, {256, 256}}) {
    KernelSpec spec = mainJob();
    spec.attention.headDimQk = qk;
    spec.attention.headDimV = v;
    EXPECT_TRUE(spec.validate().isOk()) << qk;
  }
  const auto refusal = [](auto change) {
    KernelSpec spec = mainJob();
    change(spec);
    return spec.validate();
  };
  const Status dims = refusal([](KernelSpec &s) { s.attention.headDimQk = 72; });
  EXPECT_EQ(dims.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(dims.message(),
            "no kernel for head dims 72x128; supported: 192x128, 128x128, 64x64, 256x256");
  const Status unknown = refusal([](KernelSpec &s) { s.target = "gfx90a"; });
  EXPECT_EQ(unknown.code(), StatusCode::InvalidArgument);
  EXPECT_EQ(unknown.message(), "unknown target \"gfx90a\"; known: gfx942, gfx950");
  EXPECT_TRUE(refusal([](KernelSpec &s) { s.attention.dtype = DType::FP8; }).isOk());
  EXPECT_TRUE(refusal([](KernelSpec &s) { s.attention.splitKv = true; }).isOk());
  EXPECT_EQ(refusal([](KernelSpec &s) { s.schedule = "a b"; }).code(), StatusCode::InvalidArgument);
}

// The layout's text is what a loader compares: it must follow the structs.
TEST(AttentionAbi, LayoutTextIsThatOfTheStructs) {
  using A = AttentionArguments;
  using U = AttentionWorkUnit;
  const std::string text = fmt::format(
      "attention-{} args={}:q{},k{},v{},out{},lse{},partialOut{},partialLse{},work{},descaleQ{},"
      "descaleK{},descaleV{},qRow{},qHead{},kRow{},kHead{},vRow{},vHead{},outRow{},outHead{},"
      "lseHead{},scaleLog2-{},sharedDescales{} "
      "unit={}:qBegin{},kvBegin{},lenQ{},lenKv{},q0-{},kv0-{},kv1-{},"
      "head{},kvHead{},slot{} rows={} threads={}",
      kAttentionAbiVersion, sizeof(A), offsetof(A, q), offsetof(A, k), offsetof(A, v),
      offsetof(A, out), offsetof(A, lse), offsetof(A, partialOut), offsetof(A, partialLse),
      offsetof(A, work), offsetof(A, descaleQ), offsetof(A, descaleK), offsetof(A, descaleV),
      offsetof(A, qRowStride), offsetof(A, qHeadStride), offsetof(A, kRowStride),
      offsetof(A, kHeadStride), offsetof(A, vRowStride), offsetof(A, vHeadStride),
      offsetof(A, outRowStride), offsetof(A, outHeadStride), offsetof(A, lseHeadStride),
      offsetof(A, scaleLog2), offsetof(A, sharedDescales), sizeof(U), offsetof(U, qBegin),
      offsetof(U, kvBegin), offsetof(U, lenQ), offsetof(U, lenKv), offsetof(U, q0),
      offsetof(U, kv0), offsetof(U, kv1), offsetof(U, head), offsetof(U, kvHead), offsetof(U, slot),
      kAttentionBlockM, kAttentionThreads);
  EXPECT_EQ(text, kAttentionLayout);

  using S = ScoreArguments;
  constexpr std::size_t base = offsetof(ScoredAttentionArguments, score);
  std::string scored = text;
  const auto replace = [&](const std::string &from, const std::string &to) {
    scored.replace(scored.find(from), from.size(), to);
  };
  replace(fmt::format("attention-{} args={}", kAttentionAbiVersion, sizeof(A)),
          fmt::format("attention-{} args={}", kScoredAttentionAbiVersion,
                      sizeof(ScoredAttentionArguments)));
  replace(" unit=",
          fmt::format(",softCapRange{},softCapRate{},windowLeft{},windowRight{},sinks{} unit=",
                      base + offsetof(S, softCapRange), base + offsetof(S, softCapRate),
                      base + offsetof(S, windowLeft), base + offsetof(S, windowRight),
                      base + offsetof(S, sinks)));
  replace(" rows=", fmt::format(",sink{} rows=", offsetof(U, sink)));
  EXPECT_EQ(scored, kScoredAttentionLayout);
}

} // namespace
} // namespace wavesmith
