#pragma once
// The record of a kernel's verification: what judged it and on which calls. It stands in the
// cache's envelope and in a bundle's manifest, bound to the object by its digest, so that it says
// nothing about another object. Plain values.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

struct VerificationRecord {
  std::string objectSha256;       ///< of the code object that passed, 64 hex digits
  std::string judge;              ///< "emulator"
  std::vector<std::string> cases; ///< the calls that it passed, in words

  friend bool operator==(const VerificationRecord &, const VerificationRecord &) = default;
};

/// One line of JSON with names in a fixed order.
std::string printVerification(const VerificationRecord &record);
/// `origin` leads every message. Names that this build does not know are errors.
Expected<VerificationRecord> parseVerification(std::string_view json, std::string_view origin);
/// Whether the text is a record of the object with that digest. "" and damaged texts are not.
bool isVerificationOf(std::string_view json, std::string_view objectSha256);

} // namespace wavesmith
