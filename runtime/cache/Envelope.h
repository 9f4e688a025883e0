#pragma once
// One disk cache entry as bytes: fixed prefix, JSON header, code object. The prefix carries a
// checksum over itself and the header, the header one over the payload, so any changed byte is
// found. Pure functions.
//
//   0  magic "WSMITHOB"     8  u32 format version     12  u32 header bytes
//  16  u64 payload bytes   24  SHA-256 (64 hex digits) over bytes 0..24 and the header
//  88  header (JSON)            then the payload, to the end of the file

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/provider/Provider.h"

namespace wavesmith {

inline constexpr std::uint32_t kEnvelopeVersion = 1;
inline constexpr std::uint64_t kMaxEnvelopeBytes = std::uint64_t{256} << 20;

struct Envelope {
  std::string specText, specKey, buildKey, kernelName;
  std::string verification; ///< JSON text, bound to the payload by its digest; "" = none
  std::string payloadSha256;
  double compileMs = 0;
  std::span<const std::byte> payload; ///< into the bytes given to decode
};

/// Prefix and header; the payload follows them in the file.
std::vector<std::byte> encodeEnvelope(const CodeObjectBlob &blob, const KernelSpec &spec,
                                      const Toolchain &toolchain);
/// Corrupt, naming what does not fit, unless every checksum holds.
Expected<Envelope> decodeEnvelope(std::span<const std::byte> bytes);
/// The object of header and payload, if it is the one asked for; else Corrupt, naming both sides.
Expected<SharedCodeObject> openEnvelope(std::span<const std::byte> bytes, const KernelSpec &spec,
                                        std::string_view buildKey, std::string_view provider);

} // namespace wavesmith
