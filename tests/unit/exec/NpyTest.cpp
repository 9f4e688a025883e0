#include "runtime/exec/Npy.h"

#include <gmock/gmock.h>

namespace wavesmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> npy(int major, std::string header, std::size_t dataBytes) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    file += static_cast<char>(header.size() >> (8 * i));
  file += header;
  file.append(dataBytes, '\x01');
  const auto *bytes = reinterpret_cast<const std::byte *>(file.data());
  return {bytes, bytes + file.size()};
}

std::string refusal(const std::string &header, std::size_t dataBytes = 1000) {
  return parseNpy(npy(1, header, dataBytes), "a.npy").status().message();
}

TEST(Npy, ReadsEveryVersion) {
  for (int major : {1, 2, 3}) {
    const auto file =
        npy(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24);
    const auto array = parseNpy(file, "a.npy");
    ASSERT_TRUE(array) << array.status().message();
    EXPECT_EQ(array->dtype, "<f4");
    EXPECT_THAT(array->shape, ElementsAre(2, 3));
    EXPECT_EQ(array->dataBytes, 24u);
    EXPECT_EQ(array->dataOffset + 24, file.size());
  }
}

TEST(Npy, ReadsScalarsVectorsAndRawTypes) {
  const auto scalar =
      parseNpy(npy(1, "{'descr': '<i8', 'fortran_order': False, 'shape': ()}", 8), "a");
  ASSERT_TRUE(scalar);
  EXPECT_THAT(scalar->shape, IsEmpty());
  EXPECT_EQ(scalar->dataBytes, 8u);
  const auto bf16 =
      parseNpy(npy(1, "{\"shape\": (5,), \"fortran_order\": False, \"descr\": \"|V2\"}", 10), "a");
  ASSERT_TRUE(bf16) << bf16.status().message();
  EXPECT_EQ(bf16->dataBytes, 10u);
  EXPECT_TRUE(
      parseNpy(npy(1, "{'descr': '>u1', 'fortran_order': False, 'shape': (0, 9)}", 0), "a"));
}

TEST(Npy, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("big endian"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}"),
              HasSubstr("fortran_order is True"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3)}", 23),
              HasSubstr("needs 24 bytes of data, the file has 23"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'shape': (2,)}"), HasSubstr("needs descr"));
  EXPECT_THAT(refusal("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("structured"));
  EXPECT_THAT(refusal("{'descr': '<f4', 'fortran_order': False, "
                      "'shape': (18446744073709551615, 4)}"),
              HasSubstr("overflows"));
  EXPECT_THAT(refusal("{'descr': '<O8', 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("not supported"));
  EXPECT_THAT(parseNpy({}, "a.npy").status().message(), HasSubstr("is no .npy file"));
  EXPECT_THAT(parseNpy(npy(4, "{}", 0), "a.npy").status().message(), HasSubstr("version 4"));
}

TEST(Npy, EveryTruncationAndByteChangeIsHandled) {
  const auto file = npy(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24);
  for (std::size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(parseNpy(std::span(file).first(size), "a").status().isOk()) << size;
  for (std::size_t i = 0; i < file.size(); ++i)
    for (int value = 0; value < 256; ++value) {
      auto changed = file;
      changed[i] = std::byte(value);
      const auto array = parseNpy(changed, "a");
      if (array)
        EXPECT_LE(array->dataOffset + array->dataBytes, changed.size());
      array.ignoreError("either outcome is right");
    }
}

} // namespace
} // namespace wavesmith
