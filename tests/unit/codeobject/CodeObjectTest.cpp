#include "runtime/codeobject/CodeObject.h"

#include <cstring>
#include <fstream>
#include <random>

#include <elf.h>
#include <gmock/gmock.h>

#include "tests/device/Assembler.h"

namespace wavesmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char *kData = R"(
  .data
  .globl counter
  .type counter,@object
  .p2align 3
counter:
  .quad table
  .size counter, 8
  .globl table
  .type table,@object
table:
  .long 1, 2
  .size table, 8
  .section .note.wavesmith,"a",@note
  .p2align 2
  .long 10, .Lnote_end-.Lnote, 1
  .asciz "Wavesmith"
  .p2align 2
.Lnote:
  .ascii "{\"abi\": \"x\"}"
.Lnote_end:
  .p2align 2
)";

std::string fixtureSource() {
  return test::kernelSource(
      {{.name = "first",
        .body = "  v_mov_b32 v1, v0",
        .arguments = {"8 global_buffer", "4 by_value", "4 hidden_block_count_x"},
        .ldsBytes = 512,
        .maxThreads = 256},
       {.name = "second", .body = "  s_nop 0", .vgprs = 33}},
      kData);
}

class CodeObjectFixture : public testing::Test {
protected:
  void SetUp() override {
    if (const auto missing = test::assemblerMissing())
      GTEST_SKIP() << *missing;
    static const std::vector<std::byte> fixture = test::assemble(fixtureSource());
    bytes = fixture;
    ASSERT_FALSE(bytes.empty());
  }

  std::string messageOf(std::vector<std::byte> changed) {
    const auto object = CodeObject::parse(std::move(changed), "k.co");
    return object ? std::string() : object.status().message();
  }
  /// The error after writing `value` at a file offset.
  template <typename T> std::string messageWith(std::size_t offset, T value) {
    std::vector<std::byte> changed = bytes;
    std::memcpy(changed.data() + offset, &value, sizeof(T));
    return messageOf(std::move(changed));
  }

  std::vector<std::byte> bytes;
};

TEST_F(CodeObjectFixture, ReadsKernelsAndTheirArguments) {
  const auto object = CodeObject::parse(bytes, "k.co");
  ASSERT_TRUE(object) << object.status().message();
  EXPECT_EQ(object->target(), "gfx942");
  EXPECT_EQ(object->version(), 6);
  ASSERT_EQ(object->kernels().size(), 2u);
  const auto first = object->kernel("first");
  ASSERT_TRUE(first);
  const KernelInfo &info = **first;
  EXPECT_EQ(info.ldsBytes, 512u);
  EXPECT_EQ(info.kernargBytes, 16u);
  EXPECT_EQ(info.descriptor.groupSegmentSize, 512u);
  EXPECT_EQ(info.descriptor.kernargSize, 16u);
  EXPECT_EQ(info.vgprs, 16u);
  EXPECT_EQ(info.maxFlatWorkgroupSize, 256u);
  EXPECT_EQ(info.entryAddress % 256, 0u);
  EXPECT_EQ(info.codeSize, 8u);
  ASSERT_EQ(info.arguments.size(), 3u);
  EXPECT_EQ(info.arguments[1].offset, 8u);
  EXPECT_EQ(info.arguments[1].size, 4u);
  EXPECT_EQ(info.arguments[1].valueKind, "by_value");
  EXPECT_EQ(info.arguments[2].valueKind, "hidden_block_count_x");
  const auto code = object->at(info.entryAddress, info.codeSize);
  ASSERT_EQ(code.size(), 8u);
  EXPECT_THAT(std::vector<std::byte>(code.begin() + 4, code.end()),
              ElementsAre(std::byte{0}, std::byte{0}, std::byte{0x81}, std::byte{0xbf}));
}

TEST_F(CodeObjectFixture, AnUnknownKernelListsTheKnownOnes) {
  const auto object = CodeObject::parse(bytes, "k.co");
  ASSERT_TRUE(object);
  const Status status = object->kernel("third").status();
  EXPECT_EQ(status.code(), StatusCode::NotFound);
  EXPECT_THAT(status.message(), HasSubstr("it has first, second"));
}

TEST_F(CodeObjectFixture, ReadsGlobalsRelocationsAndOurNote) {
  const auto object = CodeObject::parse(bytes, "k.co");
  ASSERT_TRUE(object);
  ASSERT_EQ(object->globals().size(), 2u);
  std::uint64_t counter = 0, table = 0;
  for (const Symbol &symbol : object->globals())
    (symbol.name == "counter" ? counter : table) = symbol.address;
  ASSERT_EQ(object->relocations().size(), 1u);
  const Relocation &relocation = object->relocations()[0];
  EXPECT_EQ(relocation.offset, counter);
  EXPECT_EQ(relocation.symbolValue + static_cast<std::uint64_t>(relocation.addend), table);
  ASSERT_TRUE(object->wavesmithNote());
  EXPECT_EQ(*object->wavesmithNote(), R"({"abi": "x"})");
}

TEST_F(CodeObjectFixture, AMovedObjectKeepsItsSegments) {
  auto object = CodeObject::parse(bytes, "k.co");
  ASSERT_TRUE(object);
  const std::uint64_t entry = object->kernels()[0].entryAddress;
  const CodeObject moved = *std::move(object);
  EXPECT_EQ(moved.at(entry, 4).size(), 4u);
  EXPECT_TRUE(moved.at(entry, std::uint64_t{1} << 62).empty());
  EXPECT_TRUE(moved.at(~std::uint64_t{0}, 8).empty());
}

TEST_F(CodeObjectFixture, ReadsEveryVersionAndTarget) {
  for (const char *target : {"gfx942", "gfx950"})
    for (const int version : {4, 5, 6}) {
      const auto object = CodeObject::parse(test::assemble(fixtureSource(), target, version), "k");
      ASSERT_TRUE(object) << object.status().message();
      EXPECT_EQ(object->target(), target);
      EXPECT_EQ(object->version(), version);
    }
}

TEST_F(CodeObjectFixture, WorksWithoutSectionHeaders) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.resize(header.e_shoff);
  header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  const auto object = CodeObject::parse(bytes, "stripped.co");
  ASSERT_TRUE(object) << object.status().message();
  EXPECT_EQ(object->kernels().size(), 2u);
  EXPECT_EQ(object->relocations().size(), 1u);
}

TEST_F(CodeObjectFixture, ErrorsNameFieldAndOffset) {
  EXPECT_THAT(messageWith<std::uint16_t>(offsetof(Elf64_Ehdr, e_machine), EM_X86_64),
              HasSubstr("k.co: e_machine at offset 0x12: is 62, want 224"));
  EXPECT_THAT(messageWith<std::uint8_t>(EI_OSABI, 0), HasSubstr("EI_OSABI at offset 0x7: is 0"));
  EXPECT_THAT(messageWith<std::uint8_t>(EI_ABIVERSION, 1), HasSubstr("want 2 to 4"));
  EXPECT_THAT(messageWith<std::uint32_t>(offsetof(Elf64_Ehdr, e_flags), 0x53f),
              HasSubstr("machine 0x3f (gfx90a) is not supported; want gfx942"));
  EXPECT_THAT(messageWith<std::uint64_t>(offsetof(Elf64_Ehdr, e_phoff), ~0ull),
              HasSubstr("program headers (e_phoff, e_phnum) at offset 0xffffffffffffffff"));
  EXPECT_THAT(messageWith<std::uint16_t>(offsetof(Elf64_Ehdr, e_type), ET_REL),
              HasSubstr("link it with ld.lld -shared first"));
}

TEST_F(CodeObjectFixture, EveryTruncationIsAnError) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = messageOf({bytes.begin(), bytes.begin() + size});
    ASSERT_THAT(message, HasSubstr("k.co: ")) << "at " << size << " bytes";
  }
}

TEST_F(CodeObjectFixture, EverySingleBitFlipIsAValueOrAnError) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= std::byte(1 << bit);
      CodeObject::parse(bytes, "k.co").ignoreError("either outcome is right");
      bytes[i] ^= std::byte(1 << bit);
    }
}

TEST_F(CodeObjectFixture, RandomDamageIsAValueOrAnError) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> changed = bytes;
    for (unsigned i = 0, count = 1 + random() % 16; i < count; ++i)
      changed[random() % changed.size()] = std::byte(random() % 2 ? 0xff : random() & 0xff);
    CodeObject::parse(std::move(changed), "k.co").ignoreError("either outcome is right");
  }
}

TEST_F(CodeObjectFixture, DeepMetadataIsRefused) {
  const std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  const std::size_t note = text.find("amdhsa.kernels");
  ASSERT_NE(note, std::string_view::npos);
  // Arrays of one element, each in the next, until the note's end.
  for (std::size_t i = 0; i < 100; ++i)
    bytes[note + 14 + i] = std::byte{0x91};
  EXPECT_THAT(messageOf(bytes), HasSubstr("nests deeper than 16 levels"));
}

TEST(CodeObject, AForeignFileIsRefused) {
  EXPECT_THAT(CodeObject::parse({}, "empty.co").status().message(),
              HasSubstr("empty.co: is empty"));
  const std::vector<std::byte> text(100, std::byte{'a'});
  EXPECT_THAT(CodeObject::parse(text, "t.co").status().message(), HasSubstr("ELF magic"));
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(self)), {});
  const auto *data = reinterpret_cast<const std::byte *>(image.data());
  const auto object = CodeObject::parse({data, data + image.size()}, "host.elf");
  ASSERT_FALSE(object);
  EXPECT_THAT(object.status().message(), HasSubstr("e_machine at offset 0x12: is 62"));
}

} // namespace
} // namespace wavesmith
