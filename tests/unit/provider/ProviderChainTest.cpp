#include "runtime/provider/ProviderChain.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/codeobject/Verification.h"
#include "runtime/support/Hash.h"
#include "tests/unit/provider/FakeCompiler.h"

namespace wavesmith {
namespace {

using test::mainJobSpec;
using ::testing::HasSubstr;

class MapProvider : public Provider {
public:
  explicit MapProvider(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  Expected<SharedCodeObject> get(const KernelSpec &spec) override {
    if (failure != StatusCode::Ok)
      return Status(failure, name_ + " failed");
    const auto found = objects.find(spec.text());
    if (found == objects.end())
      return Status(StatusCode::NotFound, name_ + " has none");
    return found->second;
  }
  void put(const KernelSpec &spec, const SharedCodeObject &object) override {
    objects[spec.text()] = object;
  }
  std::unique_ptr<Claim> claim(const KernelSpec &spec) override {
    if (whileClaiming)
      objects[spec.text()] = whileClaiming;
    return claims ? std::make_unique<Claim>() : nullptr;
  }
  bool makes() const override { return maker; }
  bool canMake() override { return maker && failure == StatusCode::Ok; }
  bool offersCopies() const override { return copies; }
  std::string trouble() const override { return problem; }
  std::vector<KernelSpec> list() const override {
    std::vector<KernelSpec> specs;
    for (const auto &[text, object] : objects)
      specs.push_back(*KernelSpec::parse(text));
    return specs;
  }

  std::map<std::string, SharedCodeObject> objects;
  StatusCode failure = StatusCode::Ok;
  bool claims = false, maker = false, copies = true;
  std::string problem;
  SharedCodeObject whileClaiming; ///< what "another process" makes while we wait

private:
  std::string name_;
};

SharedCodeObject object(std::string provider) {
  auto blob = std::make_shared<CodeObjectBlob>();
  blob->provider = std::move(provider);
  return blob;
}

struct ProviderChainTest : ::testing::Test {
  std::shared_ptr<MapProvider> first = std::make_shared<MapProvider>("first");
  std::shared_ptr<MapProvider> second = std::make_shared<MapProvider>("second");
  ProviderChain chain{{first, second}};
};

TEST_F(ProviderChainTest, OffersWhatALaterProviderHas) {
  second->put(mainJobSpec(), object("second"));
  ASSERT_TRUE(chain.get(mainJobSpec()));
  EXPECT_EQ(first->objects.size(), 1u);
  ASSERT_TRUE(chain.get(mainJobSpec()));
  const auto counters = chain.counters();
  EXPECT_EQ(counters[0].name, "first");
  EXPECT_EQ(counters[0].hits, 1u);
  EXPECT_EQ(counters[0].misses, 1u);
  EXPECT_EQ(counters[1].hits, 1u);
}

TEST_F(ProviderChainTest, SaysWhoWouldServeAndMakesNothing) {
  EXPECT_EQ(chain.wouldServe(mainJobSpec()), "");
  second->maker = true;
  EXPECT_EQ(chain.wouldServe(mainJobSpec()), "second");
  EXPECT_TRUE(first->objects.empty() && second->objects.empty());
  second->failure = StatusCode::CompileFailed;
  EXPECT_EQ(chain.wouldServe(mainJobSpec()), "");
  first->put(mainJobSpec(), object("first"));
  EXPECT_EQ(chain.wouldServe(mainJobSpec()), "first");
  first->failure = StatusCode::Io;
  second->failure = StatusCode::Ok;
  EXPECT_EQ(chain.wouldServe(mainJobSpec()), "") << "get() would end with this error";
}

TEST_F(ProviderChainTest, KeepsNoCopyOfWhatIsNotOffered) {
  second->put(mainJobSpec(), object("second"));
  second->copies = false;
  ASSERT_TRUE(chain.get(mainJobSpec()));
  EXPECT_TRUE(first->objects.empty());
}

TEST_F(ProviderChainTest, ClaimsOnlyBeforeAnObjectIsMade) {
  first->claims = true;
  first->whileClaiming = object("first");
  second->put(mainJobSpec(), object("second"));
  const auto found = chain.get(mainJobSpec());
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ((*found)->provider, "second");
}

TEST_F(ProviderChainTest, TakesOnlyVerifiedObjectsWhenAsked) {
  ProviderChain strict{{first, second}, ProviderChain::Accept::Verified};
  auto verified = std::make_shared<CodeObjectBlob>();
  verified->provider = "second";
  verified->bytes = test::bytesOf("an object");
  const auto record = [](std::string digest) {
    return printVerification({std::move(digest), "emulator", {"a call"}});
  };
  verified->verification = record(sha256Hex(verified->bytes));
  auto other = std::make_shared<CodeObjectBlob>(*verified);
  other->verification = record(sha256Hex("another object"));
  for (const SharedCodeObject &unverified : {object("first"), SharedCodeObject(other)}) {
    first->objects[mainJobSpec().text()] = unverified;
    second->objects.clear();
    EXPECT_EQ(strict.get(mainJobSpec()).status().code(), StatusCode::NotFound);
    second->put(mainJobSpec(), verified);
    ASSERT_TRUE(strict.get(mainJobSpec()));
    EXPECT_EQ(first->objects.at(mainJobSpec().text()), SharedCodeObject(verified));
  }
}

TEST_F(ProviderChainTest, LooksAgainAfterAClaim) {
  first->claims = true;
  first->whileClaiming = object("first");
  second->maker = true;
  second->failure = StatusCode::Internal;
  const auto found = chain.get(mainJobSpec());
  ASSERT_TRUE(found) << found.status().message();
  EXPECT_EQ((*found)->provider, "first");
}

TEST_F(ProviderChainTest, AnErrorEndsTheSearchAndAMissDoesNot) {
  first->failure = StatusCode::Io;
  second->put(mainJobSpec(), object("second"));
  EXPECT_EQ(chain.get(mainJobSpec()).status().code(), StatusCode::Io);
  first->failure = StatusCode::Ok;
  second->objects.clear();
  const Status status = chain.get(mainJobSpec()).status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_EQ(status.message(), "second has none");
}

TEST_F(ProviderChainTest, ForbiddenNamesTheNearest) {
  KernelSpec near = mainJobSpec(), far = mainJobSpec();
  near.attention.causal = false;
  far.attention.headDimQk = far.attention.headDimV = 64;
  second->failure = StatusCode::JitForbidden;
  EXPECT_THAT(chain.get(mainJobSpec()).status().message(), HasSubstr("no provider has any entry"));
  first->problem = "the shelf is empty";
  EXPECT_THAT(chain.get(mainJobSpec()).status().message(),
              HasSubstr("first not usable: the shelf is empty"));
  first->put(near, object("first"));
  first->put(far, object("first"));
  const std::string message = chain.get(mainJobSpec()).status().message();
  EXPECT_LT(message.find(near.text()), message.find(far.text())) << message;
  EXPECT_NE(message.find(far.text()), std::string::npos) << message;
}

} // namespace
} // namespace wavesmith
