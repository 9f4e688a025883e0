#include "runtime/bundle/Manifest.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/codeobject/Verification.h"
#include "runtime/support/Hash.h"
#include "tests/unit/provider/FakeCompiler.h"

namespace wavesmith {
namespace {

using test::mainJobSpec;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

BundleManifest sample() {
  BundleManifest manifest{.toolchain = {"t", "c", "22", "A=b;"}, .targets = {"gfx942"}};
  for (const bool causal : {false, true}) {
    KernelSpec spec = mainJobSpec();
    spec.attention.causal = causal;
    BundleEntry entry{.kernel = spec.kernelName(),
                      .target = spec.target,
                      .specText = spec.text(),
                      .specKey = spec.key(),
                      .buildKey = buildKey(spec, manifest.toolchain),
                      .sha256 = sha256Hex(spec.text()),
                      .bytes = 123};
    entry.file = bundleFileName(spec, entry.sha256);
    if (causal)
      entry.verification = printVerification({entry.sha256, "emulator", {"one call"}});
    manifest.entries.push_back(std::move(entry));
  }
  return manifest;
}

/// The text with its digest made right again: what an attacker or a bug would write.
std::string sealed(Json root) {
  root.erase("sha256");
  root["sha256"] = sha256Hex(root.dump(2) + "\n");
  return root.dump(2) + "\n";
}

TEST(Manifest, ComesBackAsItWasWritten) {
  const BundleManifest manifest = sample();
  const auto again = BundleManifest::parse(manifest.print(), "m");
  ASSERT_TRUE(again) << again.status().message();
  EXPECT_EQ(again->entries, manifest.entries);
  EXPECT_EQ(again->targets, manifest.targets);
  EXPECT_TRUE(sameToolchain(again->toolchain, manifest.toolchain));
  EXPECT_EQ(sealed(Json::parse(manifest.print())), manifest.print());
  EXPECT_EQ(manifest.find(manifest.entries[1].specKey), &manifest.entries[1]);
  EXPECT_EQ(manifest.find(std::string(64, '0')), nullptr);
}

TEST(Manifest, EveryChangedByteIsDamageOrChangesNothing) {
  const BundleManifest manifest = sample();
  const std::string text = manifest.print();
  for (std::size_t i = 0; i < text.size(); ++i)
    for (const char other : {' ', '0', '"', static_cast<char>(text[i] ^ 1)}) {
      std::string changed = text;
      changed[i] = other;
      const auto read = BundleManifest::parse(changed, "m");
      if (read) {
        // White space, between values.
        EXPECT_EQ(Json::parse(changed), Json::parse(text)) << "byte " << i;
      } else {
        EXPECT_EQ(read.status().code(), StatusCode::Corrupt) << "byte " << i;
        EXPECT_THAT(read.status().message(), HasSubstr("m")) << "byte " << i;
      }
    }
  for (std::size_t size = 0; size + 1 < text.size(); size += 7)
    EXPECT_EQ(BundleManifest::parse(text.substr(0, size), "m").status().code(),
              StatusCode::Corrupt);
}

TEST(Manifest, RefusesWhatDoesNotFitThoughItsDigestIsRight) {
  const Json good = Json::parse(sample().print());
  ASSERT_TRUE(BundleManifest::parse(sealed(good), "m"));
  struct Case {
    const char *says;
    std::function<void(Json &)> change;
  };
  const Case cases[] = {
      {"m.version", [](Json &m) { m["version"] = 2; }},
      {"unknown name \"extra\"", [](Json &m) { m["extra"] = 1; }},
      {"\"targets\" is missing", [](Json &m) { m.erase("targets"); }},
      {"m.targets: want sorted", [](Json &m) { m["targets"] = {"gfx942", "gfx942"}; }},
      {"m.kernels[0].target: want one of", [](Json &m) { m["targets"] = {"gfx950"}; }},
      {"m.toolchain", [](Json &m) { m["toolchain"].erase("llvm_version"); }},
      {"m.kernels: want a list", [](Json &m) { m["kernels"] = 3; }},
      {"m.kernels[0].file: want a name", [](Json &m) { m["kernels"][0]["file"] = "../x.co"; }},
      {"m.kernels[0].file: want a name", [](Json &m) { m["kernels"][0]["file"] = "/etc/x"; }},
      {"m.kernels[0].file: want a name", [](Json &m) { m["kernels"][0]["file"] = ""; }},
      {"m.kernels[0].name: want a name", [](Json &m) { m["kernels"][0]["name"] = "a\x1b[2J"; }},
      {"m.kernels[0].spec_key: want the SHA-256",
       [](Json &m) { m["kernels"][0]["spec"] = m["kernels"][1]["spec"]; }},
      {"m.kernels[1].spec_key: want each kernel once",
       [](Json &m) { m["kernels"][1] = m["kernels"][0]; }},
      {"m.kernels[1].file: want a file of its own",
       [](Json &m) { m["kernels"][1]["file"] = m["kernels"][0]["file"]; }},
      {"m.kernels[0].sha256: want 64", [](Json &m) { m["kernels"][0]["sha256"] = "ab"; }},
      {"m.kernels[0].bytes", [](Json &m) { m["kernels"][0]["bytes"] = -1; }},
      {"m.kernels[0].bytes", [](Json &m) { m["kernels"][0]["bytes"] = 1e300; }},
      {"m.kernels[1].verification.object_sha256: want the digest of the object",
       [](Json &m) { m["kernels"][1]["verification"]["object_sha256"] = std::string(64, 'a'); }},
      {"m.kernels[1].verification.cases",
       [](Json &m) { m["kernels"][1]["verification"]["cases"] = Json::array(); }},
  };
  for (const Case &item : cases) {
    Json changed = good;
    item.change(changed);
    const auto read = BundleManifest::parse(sealed(changed), "m");
    ASSERT_FALSE(read) << item.says;
    EXPECT_THAT(read.status().message(), HasSubstr(item.says));
  }
}

TEST(Manifest, FileNamesCarryTheDigest) {
  const KernelSpec spec = mainJobSpec();
  const std::string name = bundleFileName(spec, sha256Hex("x"));
  EXPECT_EQ(name, spec.kernelName() + "-" + sha256Hex("x").substr(0, 8) + ".co");
  EXPECT_TRUE(isBundleFileName(name));
  for (const char *other : {"", "ws_.co", "ws_kernel.co", "notes.co", "ws_a-0123456.co",
                            "ws_a-0123456g.co", "ws_a-01234567.txt", "x/ws_a-01234567.o"})
    EXPECT_FALSE(isBundleFileName(other)) << other;
}

TEST(Verification, IsOfOneObjectOnly) {
  const std::string digest = sha256Hex("object");
  const std::string record = printVerification({digest, "emulator", {"a", "b"}});
  EXPECT_TRUE(isVerificationOf(record, digest));
  EXPECT_FALSE(isVerificationOf(record, sha256Hex("another")));
  EXPECT_FALSE(isVerificationOf("", digest));
  EXPECT_FALSE(isVerificationOf(record.substr(1), digest));
}

} // namespace
} // namespace wavesmith
