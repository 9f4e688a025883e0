// A disk-cache entry: as it is, and with its checksums put right, since no mutation survives them.
// For the second the input is a JSON header up to the first zero byte, then the payload; the header
// says "@" where the payload's digest belongs.

#include "runtime/cache/Envelope.h"

#include <string>

#include "runtime/support/Hash.h"
#include "tests/fuzz/Fuzz.h"

using namespace wavesmith;

namespace {

template <typename T> void append(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string sealed(std::string_view input) {
  const std::size_t end = std::min(input.find('\0'), input.size());
  std::string header(input.substr(0, end));
  const std::string_view payload = input.substr(std::min(end + 1, input.size()));
  if (const std::size_t at = header.find('@'); at != std::string::npos)
    header.replace(at, 1, sha256Hex(payload));
  std::string entry = "WSMITHOB";
  append(entry, kEnvelopeVersion);
  append(entry, static_cast<std::uint32_t>(header.size()));
  append(entry, static_cast<std::uint64_t>(payload.size()));
  const std::string digest = sha256Hex(entry + header);
  return entry + digest + header + std::string(payload);
}

void decode(std::string_view entry) {
  const auto envelope = decodeEnvelope(std::as_bytes(std::span(entry)));
  if (!envelope) {
    fuzz::requireMessage(envelope.status());
    return;
  }
  fuzz::require(sha256Hex(envelope->payload) == envelope->payloadSha256, "the digest fits");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  decode(fuzz::text(data, size));
  decode(sealed(fuzz::text(data, size)));
  return 0;
}
