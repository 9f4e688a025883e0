#include "runtime/exec/LaunchFile.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/device/Assembler.h"

namespace wavesmith {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LaunchFileTest : public testing::Test {
protected:
  void SetUp() override {
    if (const auto missing = test::assemblerMissing())
      GTEST_SKIP() << *missing;
    static const std::vector<std::byte> object = test::assemble(
        test::kernelSource({{.name = "k",
                             .body = "  s_nop 0",
                             .arguments = {"8 global_buffer", "4 by_value", "8 global_buffer",
                                           "4 hidden_block_count_x"},
                             .ldsBytes = 1024,
                             .maxThreads = 256},
                            {.name = "empty", .body = "  s_nop 0"}}));
    ASSERT_FALSE(object.empty());
    std::string pattern =
        (std::filesystem::temp_directory_path() / "wavesmith-launch-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    write("k.co", {reinterpret_cast<const char *>(object.data()), object.size()});
    write("r.bin", "12345678");
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  void write(const std::string &name, std::string_view bytes) {
    std::ofstream(directory + "/" + name, std::ios::binary) << bytes;
  }

  static constexpr const char *kBuffers = R"("r": {"raw": "r.bin"},
      "o": {"bytes": 64, "fill": "nan32", "out": "o.bin"})";
  static std::string file(const std::string &arguments, const std::string &buffers = kBuffers,
                          const std::string &more = "") {
    return R"({"object": "k.co", "kernel": "k", "grid": [2,3,4], "block": [64,2,1], )" + more +
           R"("buffers": {)" + buffers + R"(}, "args": [)" + arguments + "]}";
  }
  Expected<LaunchFile> parse(const std::string &text) {
    return parseLaunchFile(text, directory, "launch.json");
  }
  std::string refusal(const std::string &text) {
    const auto parsed = parse(text);
    EXPECT_FALSE(parsed) << text;
    return parsed ? std::string() : parsed.status().message();
  }

  std::string directory;
};

constexpr const char *kGoodArguments = R"({"buffer": "r"}, {"f32": 0.5}, {"buffer": "o"})";

TEST_F(LaunchFileTest, LaysArgumentsOutByTheMetadata) {
  const auto parsed =
      parse(file(R"({"buffer": "r", "byte_offset": 4}, {"i32": -5}, {"buffer": null})"));
  ASSERT_TRUE(parsed) << parsed.status().message();
  ASSERT_EQ(parsed->launches.size(), 1u);
  const LaunchEntry &launch = parsed->launches[0];
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(launch.kernarg.size(), 24u) << "hidden arguments are not ours to fill";
  std::int32_t value = 0;
  std::memcpy(&value, launch.kernarg.data() + 8, 4);
  EXPECT_EQ(value, -5);
  ASSERT_EQ(launch.addresses.size(), 1u) << "the null pointer needs no address";
  EXPECT_EQ(launch.addresses[0].offset, 0u);
  EXPECT_EQ(launch.addresses[0].delta, 4u);
  EXPECT_EQ(parsed->buffers[launch.addresses[0].buffer].name, "r");
}

TEST_F(LaunchFileTest, LaysArgumentsOutByOffset) {
  const auto parsed = parse(file(R"({"offset": 16, "buffer": "o"}, {"offset": 0, "u16": 65535},
      {"offset": 2, "i8": -1}, {"offset": 8, "f64": "inf"})"));
  ASSERT_TRUE(parsed) << parsed.status().message();
  const LaunchEntry &launch = parsed->launches[0];
  EXPECT_EQ(launch.kernarg[1], std::byte{0xff});
  EXPECT_EQ(launch.kernarg[2], std::byte{0xff});
  EXPECT_EQ(launch.kernarg[3], std::byte{0}) << "unlisted bytes are zero";
  EXPECT_EQ(launch.kernarg[15], std::byte{0x7f});
  EXPECT_EQ(launch.addresses[0].offset, 16u);
}

TEST_F(LaunchFileTest, ReadsBuffers) {
  const auto parsed = parse(file(kGoodArguments, R"("r": {"raw": "r.bin", "out": "./r.out"},
      "o": {"bytes": 3}, "z": {"bytes": 2, "fill": "zero"}, "b": {"bytes": 1, "fill": "0xAb"})"));
  ASSERT_TRUE(parsed) << parsed.status().message();
  const auto find = [&](const char *name) {
    return *std::ranges::find(parsed->buffers, name, &LaunchBuffer::name);
  };
  EXPECT_EQ(find("r").content.size(), 8u);
  EXPECT_EQ(find("r").out, directory + "/r.out");
  EXPECT_EQ(find("o").fill, LaunchBuffer::Fill::Nothing);
  EXPECT_EQ(find("z").value, std::byte{0});
  EXPECT_EQ(find("b").value, std::byte{0xab});
}

TEST_F(LaunchFileTest, RunsSeveralLaunchesOverTheSameBuffers) {
  const auto parsed = parse(R"({"object": "k.co", "buffers": {"o": {"bytes": 8}}, "launches": [
      {"kernel": "empty", "grid": [1,1,1], "block": [64,1,1]},
      {"kernel": "k", "grid": [1,1,1], "block": [1,1,1], "dynamic_lds": 16,
       "args": [{"buffer": "o"}, {"u32": 1}, {"buffer": "o"}]}]})");
  ASSERT_TRUE(parsed) << parsed.status().message();
  ASSERT_EQ(parsed->launches.size(), 2u);
  EXPECT_EQ(parsed->launches[0].kernel, "empty");
  EXPECT_EQ(parsed->launches[1].dynamicLds, 16u);
  EXPECT_EQ(parsed->launches[1].addresses.size(), 2u);
}

TEST_F(LaunchFileTest, EveryErrorNamesPlaceValueAndWhatWouldBeRight) {
  const std::string good = file(kGoodArguments);
  const auto replaced = [&](const std::string &what, const std::string &with) {
    std::string text = good;
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), with);
  };
  const auto expect = [&](const std::string &text, const std::string &path,
                          const std::string &part) {
    EXPECT_THAT(refusal(text), AllOf(HasSubstr("launch.json"), HasSubstr(path), HasSubstr(part)));
  };
  ASSERT_TRUE(parse(good));
  expect("{", "launch.json", "is no JSON");
  expect("[]", "$", "want an object, is []");
  expect(replaced("\"kernel\"", "\"kernle\""), "$", "unknown name \"kernle\"; want object, kernel");
  expect(replaced("\"k.co\"", "\"none.co\""), "$.object", "none.co");
  expect(replaced("\"k.co\"", "\"r.bin\""), "$.object", "ELF magic");
  expect(replaced("\"k.co\"", "17"), "$.object", "want a text, is 17");
  expect(replaced("\"kernel\": \"k\", ", ""), "$", "\"kernel\" is missing");
  expect(replaced("\"kernel\": \"k\"", "\"kernel\": \"q\""), "$.kernel", "it has k, empty");
  expect(replaced("[2,3,4]", "[2,3]"), "$.grid", "want three numbers");
  expect(replaced("[2,3,4]", "[2,-3,4]"), "$.grid[1]", "is -3");
  expect(replaced("[2,3,4]", "[2,3,0.5]"), "$.grid[2]", "want a whole number from 1");
  expect(replaced("[64,2,1]", "[64,5,1]"), "$.block", "want at most 256 work-items");
  expect(replaced("\"kernel\": \"k\"", "\"kernel\": \"k\", \"kernel\": \"k\""), "launch.json",
         "\"kernel\" is given twice");
  expect(file(kGoodArguments, kBuffers, "\"dynamic_lds\": 65000,"), "$.dynamic_lds",
         "from 0 to 64512, is 65000");
  expect(file(kGoodArguments, R"("r": {"raw": "r.bin", "bytes": 8}, "o": {"bytes": 8})"),
         "$.buffers.r", "want exactly one of npy, raw and bytes");
  expect(file(kGoodArguments, R"("r": {"raw": "x.bin"}, "o": {"bytes": 8})"), "$.buffers.r.raw",
         "x.bin");
  expect(file(kGoodArguments, R"("r": {"npy": "r.bin"}, "o": {"bytes": 8})"), "$.buffers.r.npy",
         "is no .npy file");
  expect(file(kGoodArguments, R"("r": {"bytes": 0}, "o": {"bytes": 8})"), "$.buffers.r.bytes",
         "is 0");
  expect(file(kGoodArguments, R"("r": {"bytes": 6, "fill": "nan32"}, "o": {"bytes": 8})"),
         "$.buffers.r.fill", "multiple of 4");
  expect(file(kGoodArguments, R"("r": {"bytes": 6, "fill": "ones"}, "o": {"bytes": 8})"),
         "$.buffers.r.fill", "want \"zero\", \"nan32\" or a byte like");
  expect(file(kGoodArguments, R"("r": {"raw": "r.bin", "fill": "zero"}, "o": {"bytes": 8})"),
         "$.buffers.r.fill", "goes with bytes");
  expect(file(kGoodArguments, R"("r": {"bytes": 8, "out": "no/o"}, "o": {"bytes": 8})"),
         "$.buffers.r.out", "directory that exists");
  expect(file(kGoodArguments, R"("r": {"bytes": 8, "out": "o"}, "o": {"bytes": 8, "out": "./o"})"),
         ".out", "is also the output of buffer");
}

TEST_F(LaunchFileTest, ArgumentErrorsNameTheArgument) {
  const auto expect = [&](const std::string &arguments, const std::string &path,
                          const std::string &part) {
    EXPECT_THAT(refusal(file(arguments)), AllOf(HasSubstr(path), HasSubstr(part))) << arguments;
  };
  expect(R"({"buffer": "r"}, {"f32": 1})", "$.args", "2 arguments, kernel k takes 3");
  expect(R"({"buffer": "r"}, {"f64": 1}, {"buffer": "o"})", "$.args[1]",
         "want 4 bytes for argument 1");
  expect(R"({"buffer": "x"}, {"f32": 1}, {"buffer": "o"})", "$.args[0].buffer",
         "want null or one of o, r, is \"x\"");
  expect(R"({"buffer": "r", "byte_offset": 9}, {"f32": 1}, {"buffer": "o"})",
         "$.args[0].byte_offset", "from 0 to 8, is 9");
  expect(R"({"buffer": "r"}, {"f32": 1, "byte_offset": 0}, {"buffer": "o"})",
         "$.args[1].byte_offset", "goes with a buffer");
  expect(R"({"buffer": "r"}, {"f32": 1, "i32": 1}, {"buffer": "o"})", "$.args[1]",
         "want exactly one of");
  expect(R"({"buffer": "r"}, {"f16": 1}, {"buffer": "o"})", "$.args[1]", "unknown name \"f16\"");
  expect(R"({"buffer": "r"}, {"i32": 2147483648}, {"buffer": "o"})", "$.args[1].i32",
         "want a whole number from -2147483648 to 2147483647, is 2147483648");
  expect(R"({"buffer": "r"}, {"u32": -1}, {"buffer": "o"})", "$.args[1].u32", "is -1");
  expect(R"({"buffer": "r"}, {"f32": 1e39}, {"buffer": "o"})", "$.args[1].f32", "fits 32 bits");
  expect(R"({"buffer": "r"}, {"f32": "big"}, {"buffer": "o"})", "$.args[1].f32", "\"nan\"");
  expect(R"({"offset": 0, "buffer": "r"}, {"f32": 1})", "$.args", "want all or none");
  expect(R"({"offset": 20, "buffer": "r"})", "$.args[0].offset", "want at most 16");
  expect(R"({"offset": 0, "buffer": "r"}, {"offset": 4, "i32": 1})", "$.args[1]",
         "byte 4 of the block is given twice");
}

TEST_F(LaunchFileTest, LaunchesExcludeTopLevelOnes) {
  EXPECT_THAT(refusal(R"({"object": "k.co", "kernel": "k", "launches": []})"),
              HasSubstr("$.kernel: beside \"launches\""));
  EXPECT_THAT(refusal(R"({"object": "k.co", "launches": []})"), HasSubstr("at least one launch"));
  EXPECT_THAT(refusal(R"({"object": "k.co", "launches": [{"kernel": "empty", "grid": [1,1,1]}]})"),
              HasSubstr("$.launches[0]: \"block\" is missing"));
}

TEST_F(LaunchFileTest, AMissingFileIsNamed) {
  const auto parsed = readLaunchFile(directory + "/none.json");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.status().code(), StatusCode::NotFound);
  EXPECT_THAT(parsed.status().message(), HasSubstr("none.json"));
}

} // namespace
} // namespace wavesmith
