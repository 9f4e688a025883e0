// The embedded policies at each of their boundaries.

#include <gtest/gtest.h>

#include "runtime/dispatch/policy/Policy.h"

namespace wavesmith::policy {
namespace {

Values longPrompt() {
  Values values;
  values.heads = values.kvHeads = 12;
  values.qLen = 4096;
  values.causal = true;
  values.fp8Kernel = true;
  values.scales = "static";
  return values;
}

struct Case {
  std::string what;
  void (*change)(Values &);
  Path path;
  std::string rule;
};

void expect(std::string_view preset, const std::vector<Case> &cases) {
  const auto policy = Policy::preset(preset);
  ASSERT_TRUE(policy) << policy.status().message();
  EXPECT_EQ(policy->name(), preset);
  for (const Case &c : cases) {
    Values values = longPrompt();
    c.change(values);
    const Decision decision = policy->decide(values);
    EXPECT_EQ(pathName(decision.path), pathName(c.path)) << preset << ": " << c.what;
    EXPECT_EQ(decision.rule, c.rule) << preset << ": " << c.what;
  }
}

TEST(Presets, AllParse) {
  EXPECT_EQ(Policy::presetNames(),
            (std::vector<std::string_view>{"bf16-under-1024", "default", "fp8-context-786432"}));
  for (const std::string_view name : Policy::presetNames())
    EXPECT_TRUE(Policy::preset(name)) << name;
  EXPECT_NE(Policy::preset("defualt").status().message().find("known: bf16-under-1024, default"),
            std::string::npos);
}

TEST(Presets, Default) {
  expect("default",
         {{"1023 tokens", [](Values &v) { v.qLen = 1023; }, Path::Bf16, "short-prompt"},
          {"1024 tokens", [](Values &v) { v.qLen = 1024; }, Path::Fp8, "long-prompt"},
          {"no scales", [](Values &v) { v.scales = "none"; }, Path::Bf16, "no-scales"},
          {"scale 1.0 by name", [](Values &v) { v.scales = "unit"; }, Path::Fp8, "long-prompt"},
          {"no kernel", [](Values &v) { v.fp8Kernel = false; }, Path::Bf16, "no-fp8-kernel"},
          {"context", [](Values &v) { v.contextLen = 1; }, Path::Bf16, "context-not-enabled"},
          {"opt-in, 786431",
           [](Values &v) {
             v.contextLen = 786431;
             v.fp8Context = true;
           },
           Path::Bf16, "context-too-short"},
          {"opt-in, 786432",
           [](Values &v) {
             v.contextLen = 786432;
             v.fp8Context = true;
           },
           Path::Fp8, "long-prompt"},
          {"786432 without opt-in", [](Values &v) { v.contextLen = 786432; }, Path::Bf16,
           "context-not-enabled"},
          {"gfx950, opt-in, one token of context",
           [](Values &v) {
             v.target = "gfx950";
             v.contextLen = 1;
             v.fp8Context = true;
           },
           Path::Fp8, "long-prompt"}});
}

TEST(Presets, Bf16Under1024) {
  expect("bf16-under-1024",
         {{"1023 tokens", [](Values &v) { v.qLen = 1023; }, Path::Bf16, "short-prompt"},
          {"1024 tokens", [](Values &v) { v.qLen = 1024; }, Path::Fp8, "else"},
          {"one token of context", [](Values &v) { v.contextLen = 1; }, Path::Bf16, "has-context"},
          {"no scales", [](Values &v) { v.scales = "none"; }, Path::Refuse, "else"}});
}

TEST(Presets, Fp8Context786432) {
  const auto context = [](Values &v) {
    v.contextLen = 786432;
    v.fp8Context = true;
  };
  expect("fp8-context-786432",
         {{"all of it", context, Path::Fp8, "long-context"},
          {"786431",
           [](Values &v) {
             v.contextLen = 786431;
             v.fp8Context = true;
           },
           Path::Bf16, "else"},
          {"not enabled", [](Values &v) { v.contextLen = 786432; }, Path::Bf16, "else"},
          {"16 heads",
           [](Values &v) {
             v.contextLen = 786432;
             v.fp8Context = true;
             v.heads = 16;
           },
           Path::Bf16, "else"},
          {"gfx950",
           [](Values &v) {
             v.contextLen = 786432;
             v.fp8Context = true;
             v.target = "gfx950";
           },
           Path::Bf16, "else"},
          {"128/128",
           [](Values &v) {
             v.contextLen = 786432;
             v.fp8Context = true;
             v.headDim = "128x128";
           },
           Path::Bf16, "else"}});
}

} // namespace
} // namespace wavesmith::policy
