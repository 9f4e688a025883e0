#include "runtime/codeobject/Note.h"

#include <gmock/gmock.h>

namespace wavesmith {
namespace {

using testing::HasSubstr;

ObjectNote sample() {
  return {"attention …", "ab12", "cd34", "ef56", "e4m3fnuz", "antiphase \"8\"", "22.1.8"};
}

TEST(Note, PrintedNotesParseBack) {
  const auto note = parseNote(printNote(sample()), "k.co");
  ASSERT_TRUE(note) << note.status().message();
  EXPECT_EQ(*note, sample());
}

TEST(Note, AMissingOrWrongFieldIsNamed) {
  for (const char *key :
       {"spec", "spec_key", "build_key", "abi", "fp8_format", "schedule", "toolchain"}) {
    std::string text = printNote(sample());
    text.replace(text.find('"' + std::string(key) + '"') + 1, 1, "_");
    const auto note = parseNote(text, "k.co");
    ASSERT_FALSE(note) << key;
    EXPECT_THAT(note.status().message(), HasSubstr(std::string(key) + " is missing"));
  }
  EXPECT_THAT(parseNote(R"({"spec": 5})", "k.co").status().message(),
              HasSubstr("spec is number, want a string"));
}

TEST(Note, AnythingElseIsRefused) {
  EXPECT_FALSE(parseNote("", "k").status().isOk());
  EXPECT_FALSE(parseNote("[]", "k").status().isOk());
  EXPECT_FALSE(parseNote("{\"spec\":", "k").status().isOk());
  EXPECT_FALSE(parseNote(std::string(200000, '['), "k").status().isOk());
  EXPECT_FALSE(parseNote(std::string(2 << 20, ' '), "k").status().isOk());
}

} // namespace
} // namespace wavesmith
