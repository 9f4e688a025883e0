// The safetensors container: bytes as the Python package writes them; every kind of damage has its
// own sentence. tests/scales compares with the package itself.

#include <bit>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/scales/Safetensors.h"
#include "runtime/support/Hash.h"

using namespace wavesmith;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::vector<std::byte> bytesOf(std::string_view text) {
  const auto bytes = asBytes(text);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> file(std::uint64_t length, std::string_view rest) {
  std::string text(reinterpret_cast<const char *>(&length), sizeof length);
  text += rest;
  return bytesOf(text);
}

/// A file of that header and that many bytes of data.
std::vector<std::byte> file(std::string_view header, std::size_t dataBytes) {
  return file(header.size(), std::string(header) + std::string(dataBytes, '\x01'));
}

std::string refusal(const std::vector<std::byte> &bytes) {
  const auto parsed = Safetensors::parse(bytes, "f");
  if (parsed)
    return "accepted";
  EXPECT_EQ(parsed.status().code(), StatusCode::Corrupt);
  EXPECT_THAT(parsed.status().message(), StartsWith("f"));
  return parsed.status().message();
}

Safetensors sample() {
  Safetensors sample;
  sample.metadata = {{"b", "x\"\n\x01"}, {"é", "模"}};
  sample.tensors["a"] = {"U8", {3}, bytesOf("abc")};
  sample.tensors["b"] = SafetensorsTensor::ofFloats(std::vector{1.0F, -0.0F});
  sample.tensors["c"] = {"I64", {}, bytesOf("12345678")};
  sample.tensors["é"] = {"F32", {2, 0}, {}};
  return sample;
}

TEST(Safetensors, WritesAsThePythonPackage) {
  const auto bytes = sample().print();
  ASSERT_TRUE(bytes) << bytes.status().message();
  std::string header = R"({"__metadata__":{"b":"x\"\n\u0001","é":"模"},)"
                       R"("c":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                       R"("é":{"dtype":"F32","shape":[2,0],"data_offsets":[16,16]},)"
                       R"("a":{"dtype":"U8","shape":[3],"data_offsets":[16,19]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  using namespace std::string_literals;
  EXPECT_EQ(*bytes, file(header.size(), header + "12345678" + "\0\0\x80\x3f\0\0\0\x80"s + "abc"));
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  for (const Safetensors &value : {sample(), Safetensors{}, Safetensors{{{"only", "text"}}, {}}}) {
    const auto bytes = value.print();
    ASSERT_TRUE(bytes) << bytes.status().message();
    EXPECT_EQ(bytes->size() % 8, value.tensors.empty() ? 0U : 3U) << "data begins aligned";
    const auto parsed = Safetensors::parse(*bytes, "f");
    ASSERT_TRUE(parsed) << parsed.status().message();
    EXPECT_EQ(*parsed, value);
  }
}

TEST(Safetensors, TensorsMayLieInAnyOrder) {
  const auto parsed =
      Safetensors::parse(file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},)"
                              R"("z":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   )",
                              5),
                         "f");
  ASSERT_TRUE(parsed) << parsed.status().message();
  EXPECT_EQ(parsed->tensors.at("z").floats(), std::vector{std::bit_cast<float>(0x01010101)});
}

TEST(Safetensors, RefusesDamagedHeaders) {
  EXPECT_THAT(refusal({}), HasSubstr("has 0 bytes, a safetensors file has at least 8"));
  EXPECT_THAT(refusal(bytesOf("1234567")), HasSubstr("has 7 bytes"));
  EXPECT_THAT(refusal(file(100, "{}")),
              HasSubstr("states a header of 100 bytes, 2 follow: cut off"));
  EXPECT_THAT(refusal(file(100'000'001, "{}")), HasSubstr("want at most 100000000"));
  EXPECT_THAT(refusal(file(std::numeric_limits<std::uint64_t>::max(), "{}")),
              HasSubstr("states a header of 18446744073709551615 bytes; want at most"));
  EXPECT_THAT(refusal(file(std::uint64_t{1} << 63, "{}")), HasSubstr("9223372036854775808"));
  EXPECT_THAT(refusal(file("", 0)), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(file(" {}", 0)), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(file("[]", 0)), HasSubstr("does not begin with '{'"));
  EXPECT_THAT(refusal(file("{", 0)), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(file("{}x", 0)), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(file("{\"\xff\":1}", 0)), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(file(R"({"a":1,"a":1})", 0)), HasSubstr("\"a\" is given twice"));
  EXPECT_THAT(refusal(file(R"({"__metadata__":{"k":"1","k":"2"}})", 0)),
              HasSubstr("\"k\" is given twice"));
  EXPECT_THAT(refusal(file(R"({"__metadata__":{},"__metadata__":{}})", 0)),
              HasSubstr("\"__metadata__\" is given twice"));
  EXPECT_THAT(refusal(file(R"({"__metadata__":[]})", 0)),
              HasSubstr("f.__metadata__: want an object of texts, is []"));
  EXPECT_THAT(refusal(file(R"({"__metadata__":{"k":1}})", 0)),
              HasSubstr("f.__metadata__.k: want a text, is 1"));
}

struct Defect {
  const char *tensor;
  const char *message;
};

TEST(Safetensors, RefusesDefectiveTensors) {
  const std::vector<Defect> defects = {
      {"1", "f.t: want an object, is 1"},
      {R"({"shape":[2],"data_offsets":[0,8]})", "\"dtype\" is missing"},
      {R"({"dtype":"F32","data_offsets":[0,8]})", "\"shape\" is missing"},
      {R"({"dtype":"F32","shape":[2]})", "\"data_offsets\" is missing"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":0})", "unknown name \"x\""},
      {R"({"dtype":"F33","shape":[2],"data_offsets":[0,8]})", "f.t.dtype: want one of BOOL, U8"},
      {R"({"dtype":32,"shape":[2],"data_offsets":[0,8]})", "f.t.dtype: want a text"},
      {R"({"dtype":"F32","shape":2,"data_offsets":[0,8]})", "f.t.shape: want a list"},
      {R"({"dtype":"F32","shape":[-2],"data_offsets":[0,8]})", "f.t.shape[0]: want a whole number"},
      {R"({"dtype":"F32","shape":[2.0],"data_offsets":[0,8]})",
       "f.t.shape[0]: want a whole number"},
      {R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})",
       "f.t: shape and dtype take 12 bytes, data_offsets 8"},
      {R"({"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]})",
       "f.t.shape: want fewer elements than 64 bits count bytes, is [9223372036854775808]"},
      {R"({"dtype":"U8","shape":[9223372036854775808,2],"data_offsets":[0,8]})",
       "f.t.shape: want fewer elements"},
      {R"({"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,8]})",
       "take 9223372036854775808 bytes, data_offsets 8"},
      {R"({"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,8]})",
       "f.t.shape[0]: want a whole number"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0]})", "f.t.data_offsets: want begin and end"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,8,8]})", "want begin and end"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})", "begin not behind end, is [8,0]"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,-8]})", "data_offsets[1]: want a whole"},
      {R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})",
       "f.t.data_offsets: the file has 8 bytes of data: cut off, is [0,12]"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})",
       "bytes 0 to 4 of the data, before \"t\", belong to no tensor"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})",
       "4 bytes follow the last tensor's and belong to none"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("u":{"dtype":"U8","shape":[3],"data_offsets":[5,8]})",
       "bytes 4 to 5 of the data, before \"u\", belong to no tensor"},
      {R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("u":{"dtype":"U8","shape":[5],"data_offsets":[3,8]})",
       "\"u\" begins at byte 3 of the data, \"t\" ends at 4: they overlap"},
      {R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("u":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})",
       "\"u\" begins at byte 0 of the data, \"t\" ends at 8: they overlap"},
  };
  for (const Defect &defect : defects)
    EXPECT_THAT(refusal(file(std::string("{\"t\":") + defect.tensor + "}", 8)),
                HasSubstr(defect.message));
}

TEST(Safetensors, EveryCutIsRefused) {
  const auto whole = sample().print();
  ASSERT_TRUE(whole);
  for (std::size_t length = 0; length < whole->size(); ++length)
    EXPECT_NE(refusal({whole->begin(), whole->begin() + static_cast<std::ptrdiff_t>(length)}),
              "accepted");
}

TEST(Safetensors, WritesNothingThatItWouldNotRead) {
  const auto refused = [](const std::string &name, const SafetensorsTensor &tensor) {
    return Safetensors{{}, {{name, tensor}}}.print().status().message();
  };
  EXPECT_THAT(refused("t", {"F33", {1}, {}}),
              HasSubstr("tensor t: dtype is F33; want one of BOOL"));
  EXPECT_THAT(refused("t", {"F32", {1}, bytesOf("abc")}),
              HasSubstr("tensor t: has 3 bytes, which do not fit [1] of F32"));
  EXPECT_THAT(refused("t", {"F32", {std::uint64_t{1} << 63}, {}}), HasSubstr("do not fit"));
  EXPECT_THAT(refused("__metadata__", {"U8", {0}, {}}), HasSubstr("another name"));
  EXPECT_THAT(refused("\xff", {"U8", {0}, {}}), HasSubstr("tensor \\xff: want UTF-8"));
  EXPECT_THAT((Safetensors{{{"k", "\xc3"}}, {}}.print().status().message()),
              HasSubstr("metadata k: want UTF-8"));
}

} // namespace
