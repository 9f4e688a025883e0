#include "runtime/bundle/BundleProvider.h"

#include <atomic>
#include <thread>

#include "runtime/cache/KernelStore.h"
#include "runtime/support/Log.h"
#include "tests/unit/bundle/BundleFixture.h"

namespace wavesmith {
namespace {

using ::testing::HasSubstr;

struct BundleProviderTest : test::BundleFixture {
  std::vector<std::string> reports;

  BundleOptions options() {
    return {.directories = {directory},
            .anyToolchain = true,
            .toolchain = Toolchain::builtin(),
            .onDamaged = [this](const std::string &, const Status &reason) {
              reports.push_back(reason.message());
            }};
  }
  KernelStoreOptions storeOptions(bool jit = false) {
    KernelStoreOptions store;
    store.disk = DiskCacheOptions{.directory = scratch / "cache"};
    store.bundles = options();
    store.jit.allowed = jit;
    store.jit.create = [this] { return std::make_unique<test::BorrowedCompiler>(compiler); };
    return store;
  }
  test::FakeCompiler compiler;
};

TEST_F(BundleProviderTest, ServesWithoutACompilerAndWritesNothing) {
  build({spec});
  KernelStore store(storeOptions());
  const auto lookup = store.get(spec);
  ASSERT_TRUE(lookup) << lookup.status().message();
  EXPECT_EQ(lookup->provider, "bundle");
  EXPECT_EQ(lookup->object->bytes, object(spec)->bytes);
  EXPECT_EQ(store.get(spec)->provider, "memory");
  EXPECT_FALSE(std::filesystem::exists(scratch / "cache")) << "no copy, and no lock";
}

TEST_F(BundleProviderTest, AForbiddenMissNamesTheNearestAndWhatIsNotUsable) {
  build({notCausal()});
  KernelStoreOptions options = storeOptions();
  options.bundles.directories.push_back("/nowhere");
  KernelStore store(std::move(options));
  const Status status = store.get(spec).status();
  EXPECT_EQ(status.code(), StatusCode::JitForbidden);
  EXPECT_THAT(status.message(), HasSubstr(spec.key()));
  EXPECT_THAT(status.message(), HasSubstr("bundle: " + notCausal().text()));
  EXPECT_THAT(status.message(), HasSubstr("/nowhere/manifest.json"));
}

TEST_F(BundleProviderTest, SeveralBundlesOwnToolchainFirst) {
  toolchain.templateDigest = "older";
  build({spec, notCausal()});
  BundleOptions both = options();
  directory = scratch / "second";
  toolchain = Toolchain::builtin();
  build({spec});
  both.directories.push_back(directory);
  BundleProvider provider(both);
  EXPECT_EQ((*provider.get(spec))->bytes, object(spec)->bytes) << "ours, from the second";
  EXPECT_EQ(provider.counters().otherToolchain, 0u);
  ASSERT_TRUE(provider.get(notCausal()));
  EXPECT_EQ(provider.counters().otherToolchain, 1u);
  EXPECT_EQ(provider.list().size(), 3u);
}

TEST_F(BundleProviderTest, AnotherToolchainIsSaidOnceOrRefused) {
  toolchain.compilerBuild = "an older compiler";
  build({spec, notCausal()});
  std::vector<std::string> lines;
  log::setSink(
      [](void *to, log::Level, std::string_view line) {
        static_cast<std::vector<std::string> *>(to)->emplace_back(line);
      },
      &lines);
  BundleProvider accepts(options());
  EXPECT_TRUE(accepts.get(spec));
  EXPECT_TRUE(accepts.get(notCausal()));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("an older co"));
  BundleOptions same = options();
  same.anyToolchain = false;
  BundleProvider refuses(same);
  EXPECT_EQ(refuses.get(spec).status().code(), StatusCode::NotFound);
  log::setSink(nullptr, nullptr);
  EXPECT_EQ(refuses.counters().refused, 1u);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[1], HasSubstr("refuses"));
}

TEST_F(BundleProviderTest, DamageIsReportedOnceAndNeverLoaded) {
  build({spec, notCausal()});
  std::vector<std::byte> bytes = *readFile(pathOf(spec));
  bytes[bytes.size() / 2] ^= std::byte{1};
  overwrite(pathOf(spec), bytes);
  KernelStore store(storeOptions(true));
  const auto lookup = store.get(spec);
  ASSERT_TRUE(lookup) << lookup.status().message();
  EXPECT_EQ(lookup->provider, "jit");
  EXPECT_EQ(store.get(notCausal())->provider, "bundle");
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_THAT(reports[0], HasSubstr("SHA-256"));
  BundleProvider provider(options());
  EXPECT_FALSE(provider.get(spec));
  EXPECT_FALSE(provider.get(spec));
  EXPECT_EQ(reports.size(), 2u);

  overwrite(directory + "/manifest.json", asBytes("[]"));
  BundleProvider without(options());
  EXPECT_FALSE(without.get(spec));
  EXPECT_FALSE(without.get(notCausal()));
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_THAT(reports[2], HasSubstr("manifest.json"));
  EXPECT_THAT(without.trouble(), HasSubstr("manifest.json"));
}

TEST_F(BundleProviderTest, ABundleMayBeReplacedUnderItsReaders) {
  build({spec});
  BundleProvider provider(options());
  ASSERT_TRUE(provider.get(spec));
  // The next build of the same sources gives another object, under another name.
  toolchain.compilerBuild = "a later one";
  build({spec});
  const auto object = provider.get(spec);
  ASSERT_TRUE(object) << object.status().message();
  EXPECT_EQ((*object)->bytes, this->object(spec)->bytes);
  EXPECT_TRUE(reports.empty());
}

TEST_F(BundleProviderTest, AnyThread) {
  build({spec, notCausal()});
  BundleProvider provider(options());
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 20; ++j)
          right += provider.get(spec) && provider.get(notCausal());
      });
  }
  EXPECT_EQ(right, 160);
}

} // namespace
} // namespace wavesmith
