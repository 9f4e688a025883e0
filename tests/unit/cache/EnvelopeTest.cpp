#include "runtime/cache/Envelope.h"

#include <gtest/gtest.h>

#include "tests/unit/provider/FakeCompiler.h"

namespace wavesmith {
namespace {

using test::mainJobSpec;

std::vector<std::byte> sample() {
  CodeObjectBlob blob;
  blob.bytes = test::bytesOf("payload of some length");
  blob.kernelName = "ws_kernel";
  blob.verification = "{\"cases\": 3}";
  blob.compileMs = 12.5;
  std::vector<std::byte> bytes = encodeEnvelope(blob, mainJobSpec(), Toolchain::builtin());
  bytes.insert(bytes.end(), blob.bytes.begin(), blob.bytes.end());
  return bytes;
}

TEST(Envelope, RoundTrips) {
  const std::vector<std::byte> bytes = sample();
  const auto envelope = decodeEnvelope(bytes);
  ASSERT_TRUE(envelope) << envelope.status().message();
  EXPECT_EQ(envelope->specText, mainJobSpec().text());
  EXPECT_EQ(envelope->specKey, mainJobSpec().key());
  EXPECT_EQ(envelope->buildKey, buildKey(mainJobSpec(), Toolchain::builtin()));
  EXPECT_EQ(envelope->kernelName, "ws_kernel");
  EXPECT_EQ(envelope->verification, "{\"cases\": 3}");
  EXPECT_EQ(envelope->compileMs, 12.5);
  EXPECT_EQ(envelope->payload.size(), 22u);
}

TEST(Envelope, EveryFlippedBitIsCorrupt) {
  std::vector<std::byte> bytes = sample();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      const auto mask = static_cast<std::byte>(1 << bit);
      bytes[i] ^= mask;
      EXPECT_EQ(decodeEnvelope(bytes).status().code(), StatusCode::Corrupt) << i << ":" << bit;
      bytes[i] ^= mask;
    }
}

TEST(Envelope, EveryTruncationAndExtensionIsCorrupt) {
  std::vector<std::byte> bytes = sample();
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_EQ(decodeEnvelope(std::span(bytes).first(n)).status().code(), StatusCode::Corrupt) << n;
  bytes.push_back(std::byte{0});
  EXPECT_EQ(decodeEnvelope(bytes).status().code(), StatusCode::Corrupt);
}

} // namespace
} // namespace wavesmith
