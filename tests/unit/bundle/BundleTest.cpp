#include "runtime/bundle/Bundle.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/bundle/BundleProvider.h"
#include "runtime/codeobject/Verification.h"
#include "runtime/support/Hash.h"
#include "tests/unit/bundle/BundleFixture.h"

namespace wavesmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct BundleTest : test::BundleFixture {
  std::vector<BundleProblem> problems() { return Bundle::open(directory)->verify(); }
};

TEST_F(BundleTest, HoldsWhatWasBuiltAndNothingElse) {
  build({spec, notCausal()});
  const auto bundle = Bundle::open(directory);
  ASSERT_TRUE(bundle) << bundle.status().message();
  EXPECT_THAT(bundle->manifest().targets, ElementsAre("gfx942"));
  ASSERT_EQ(bundle->manifest().entries.size(), 2u);
  EXPECT_TRUE(bundle->verify().empty());
  EXPECT_EQ(files().size(), 3u);
  for (const BundleEntry &entry : bundle->manifest().entries) {
    const auto object = bundle->load(entry);
    ASSERT_TRUE(object) << object.status().message();
    EXPECT_EQ((*object)->provider, "bundle");
    EXPECT_EQ(sha256Hex((*object)->bytes), entry.sha256);
  }
  // Built for less, it holds less.
  build({spec});
  EXPECT_EQ(files().size(), 2u);
  EXPECT_TRUE(problems().empty());
}

TEST_F(BundleTest, DamageOfAnObjectIsFoundWhereverItIs) {
  build({spec});
  const std::string path = pathOf(spec);
  const std::vector<std::byte> good = *readFile(path);
  const auto refused = [&](std::vector<std::byte> bytes) {
    overwrite(path, bytes);
    const auto found = problems();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].message, HasSubstr(path));
  };
  for (std::size_t at = 0; at < good.size(); at += 61) {
    std::vector<std::byte> bytes = good;
    bytes[at] ^= std::byte{4};
    refused(bytes);
  }
  for (std::size_t size = 0; size < good.size(); size += 301)
    refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
  std::vector<std::byte> longer = good;
  longer.push_back(std::byte{0});
  refused(longer);
  refused(std::vector<std::byte>(good.size()));
  std::filesystem::remove(path);
  EXPECT_EQ(problems().size(), 1u);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(problems().at(0).message, HasSubstr("not a regular file"));
  std::filesystem::remove(path);
  overwrite(path, good);
  EXPECT_TRUE(problems().empty());
}

TEST_F(BundleTest, AnObjectOfAnotherKernelIsRefusedThoughItsDigestIsRight) {
  build({spec});
  auto manifest = Bundle::open(directory)->manifest();
  const auto withObject = [&](const SharedCodeObject &object) {
    BundleEntry &entry = manifest.entries[0];
    entry.sha256 = sha256Hex(object->bytes);
    entry.bytes = object->bytes.size();
    overwrite(directory + "/" + entry.file, object->bytes);
    overwrite(directory + "/manifest.json", asBytes(manifest.print()));
    const auto found = problems();
    return found.size() == 1 ? found[0].message : "no problem";
  };
  EXPECT_EQ(withObject(object(spec)), "no problem");
  EXPECT_THAT(withObject(object(notCausal())), HasSubstr("causal=0"));
  KernelSpec other = spec;
  other.target = "gfx950";
  EXPECT_THAT(withObject(test::fakeObject(other)), HasSubstr("for gfx950"));
  EXPECT_THAT(withObject(test::fakeObject(spec, {.abi = "attention-0"})),
              HasSubstr("argument layout"));
  EXPECT_THAT(withObject(test::fakeObject(spec)), HasSubstr("build key b"));
  EXPECT_THAT(withObject(test::fakeObject(spec, {.note = false})), HasSubstr("no Wavesmith note"));
}

TEST_F(BundleTest, AStrangersObjectIsSaid) {
  build({spec});
  overwrite(directory + "/other.co", asBytes("x"));
  overwrite(directory + "/README", asBytes("x"));
  const auto found = problems();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "other.co");
  // A build removes what builds wrote, nothing else.
  build({spec});
  EXPECT_TRUE(std::filesystem::exists(directory + "/other.co"));
}

TEST_F(BundleTest, AnInterruptedBuildGoesOn) {
  const std::vector<KernelSpec> specs = {spec, notCausal()};
  {
    auto writer = *BundleWriter::open(directory, toolchain);
    ASSERT_TRUE(writer->add(spec, *object(spec)).isOk());
  }
  EXPECT_FALSE(Bundle::open(directory)) << "no bundle before it is finished";
  auto writer = *BundleWriter::open(directory, toolchain);
  EXPECT_TRUE(writer->keep(spec, false));
  EXPECT_FALSE(writer->keep(spec, true)) << "it was not verified";
  EXPECT_FALSE(writer->keep(notCausal(), false));
  EXPECT_FALSE(writer->finish(specs)) << "a kernel is missing";
  ASSERT_TRUE(writer->add(notCausal(), *object(notCausal())).isOk());
  ASSERT_TRUE(writer->finish(specs));
  EXPECT_EQ(files().size(), 3u);
  EXPECT_TRUE(problems().empty());
}

TEST_F(BundleTest, DamagedMissingAndOutdatedObjectsAreMadeAnew) {
  build({spec, notCausal()});
  overwrite(pathOf(spec), asBytes("damage"));
  {
    auto writer = *BundleWriter::open(directory, toolchain);
    EXPECT_FALSE(writer->keep(spec, false));
    EXPECT_TRUE(writer->keep(notCausal(), false));
  }
  toolchain.compilerBuild = "a later one";
  {
    auto writer = *BundleWriter::open(directory, toolchain);
    EXPECT_FALSE(writer->keep(notCausal(), false));
  }
  const std::string old = pathOf(notCausal());
  build({spec, notCausal()});
  EXPECT_NE(pathOf(notCausal()), old) << "two builds share no file";
  EXPECT_EQ(files().size(), 3u);
  EXPECT_TRUE(problems().empty());
  // A damaged manifest costs the objects it named, not the build.
  overwrite(directory + "/manifest.json", asBytes("{"));
  build({spec});
  EXPECT_TRUE(problems().empty());
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(BundleTest, KeepsVerificationRecords) {
  auto verified = std::make_shared<CodeObjectBlob>(*object(spec));
  verified->verification = printVerification({sha256Hex(verified->bytes), "emulator", {"call"}});
  {
    auto writer = *BundleWriter::open(directory, toolchain);
    ASSERT_TRUE(writer->add(spec, *verified).isOk());
  }
  auto writer = *BundleWriter::open(directory, toolchain);
  EXPECT_TRUE(writer->keep(spec, true));
  ASSERT_TRUE(writer->finish(std::span(&spec, 1)));
  const auto bundle = *Bundle::open(directory);
  EXPECT_EQ((*bundle.load(bundle.manifest().entries[0]))->verification, verified->verification);
}

TEST_F(BundleTest, ARecordThatIsNotOfTheObjectIsNone) {
  for (const std::string &record :
       {std::string("garbage"), printVerification({std::string(64, '0'), "emulator", {"call"}})}) {
    auto blob = std::make_shared<CodeObjectBlob>(*object(spec));
    blob->verification = record;
    auto writer = *BundleWriter::open(directory, toolchain);
    ASSERT_TRUE(writer->add(spec, *blob).isOk());
    ASSERT_TRUE(writer->finish(std::span(&spec, 1)));
    const auto bundle = Bundle::open(directory);
    ASSERT_TRUE(bundle) << bundle.status().message();
    EXPECT_EQ(bundle->manifest().entries[0].verification, "");
  }
}

TEST_F(BundleTest, BeingOutOfDescriptorsIsNoDamage) {
  build({spec});
  const BundleEntry entry = Bundle::open(directory)->manifest().entries[0];
  BundleProvider provider({.directories = {directory}, .toolchain = toolchain});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Status loading = Bundle::load(directory, entry).status();
  const bool found = bool(provider.get(spec));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(loading.code(), StatusCode::ResourceExhausted) << loading.message();
  EXPECT_FALSE(found);
  const auto later = provider.get(spec);
  EXPECT_TRUE(later) << later.status().message();
}

TEST_F(BundleTest, OneWriterADirectory) {
  auto writer = *BundleWriter::open(directory, toolchain);
  const Status status = BundleWriter::open(directory, toolchain).status();
  EXPECT_THAT(status.message(), HasSubstr("another build writes into " + directory));
  writer.reset();
  EXPECT_FALSE(std::filesystem::exists(directory)) << "nothing went into it";
}

TEST_F(BundleTest, SurvivesSigkillAtAnyInstant) {
  const std::vector<KernelSpec> specs = {spec, notCausal()};
  const std::vector<SharedCodeObject> objects = {object(spec), object(notCausal())};
  const auto replaceAll = [&] {
    auto writer = *BundleWriter::open(directory, toolchain);
    for (std::size_t i = 0; i < specs.size(); ++i)
      if (!writer->add(specs[i], *objects[i]).isOk())
        ::_exit(1);
    return writer->finish(specs) ? 0 : 1;
  };
  build(specs);
  for (unsigned round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      while (replaceAll() == 0) {
      }
      ::_exit(1);
    }
    ::usleep(300 * round);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto bundle = Bundle::open(directory);
    ASSERT_TRUE(bundle) << bundle.status().message();
    EXPECT_TRUE(bundle->verify().empty()) << "round " << round;
  }
}

} // namespace
} // namespace wavesmith
