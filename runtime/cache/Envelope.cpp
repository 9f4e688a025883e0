#include "runtime/cache/Envelope.h"

#include <array>
#include <bit>
#include <cstring>

#include <nlohmann/json.hpp>

#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

static_assert(std::endian::native == std::endian::little, "the envelope is little-endian");

constexpr std::string_view kMagic = "WSMITHOB";
constexpr std::size_t kChecked = 24, kPrefix = kChecked + 64;

template <typename T> void append(std::vector<std::byte> &to, T value) {
  const auto *bytes = reinterpret_cast<const std::byte *>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

template <typename T> T readAt(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string headerDigest(std::span<const std::byte> checked, std::span<const std::byte> header) {
  const std::array parts = {checked, header};
  return sha256Hex(parts);
}

Status corrupt(std::string_view what) { return Status(StatusCode::Corrupt, std::string(what)); }

bool readString(const nlohmann::json &header, const char *name, std::string &to) {
  const auto field = header.find(name);
  if (field == header.end() || !field->is_string())
    return false;
  to = field->get<std::string>();
  return true;
}

} // namespace

std::vector<std::byte> encodeEnvelope(const CodeObjectBlob &blob, const KernelSpec &spec,
                                      const Toolchain &toolchain) {
  nlohmann::ordered_json header = {
      {"spec", spec.text()},
      {"spec_key", spec.key()},
      {"build_key", buildKey(spec, toolchain)},
      {"kernel", blob.kernelName},
      {"payload_sha256", sha256Hex(blob.bytes)},
      {"payload_bytes", blob.bytes.size()},
      {"compile_ms", blob.compileMs},
      {"verification", blob.verification},
      {"toolchain",
       {{"templates", toolchain.templateDigest},
        {"compiler", toolchain.compilerBuild},
        {"llvm", toolchain.llvmVersion},
        {"environment", toolchain.environment}}},
  };
  // The environment may hold any bytes; a header must still be JSON.
  const std::string text =
      header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::vector<std::byte> bytes;
  bytes.reserve(kPrefix + text.size());
  for (char c : kMagic)
    bytes.push_back(static_cast<std::byte>(c));
  append(bytes, kEnvelopeVersion);
  append(bytes, static_cast<std::uint32_t>(text.size()));
  append(bytes, static_cast<std::uint64_t>(blob.bytes.size()));
  const std::string digest = headerDigest(bytes, asBytes(text));
  for (std::string_view part : {std::string_view(digest), std::string_view(text)})
    for (char c : part)
      bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

Expected<Envelope> decodeEnvelope(std::span<const std::byte> bytes) {
  if (bytes.size() < kPrefix)
    return error(StatusCode::Corrupt, "{} bytes are too few for an entry", bytes.size());
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return corrupt("the magic number is wrong");
  if (const auto version = readAt<std::uint32_t>(bytes, 8); version != kEnvelopeVersion)
    return error(StatusCode::Corrupt, "format version {} is not {}", version, kEnvelopeVersion);
  const std::uint64_t headerBytes = readAt<std::uint32_t>(bytes, 12);
  const auto payloadBytes = readAt<std::uint64_t>(bytes, 16);
  if (headerBytes > bytes.size() - kPrefix || payloadBytes != bytes.size() - kPrefix - headerBytes)
    return error(StatusCode::Corrupt, "{} bytes, but prefix {} + header {} + payload {} belong",
                 bytes.size(), kPrefix, headerBytes, payloadBytes);
  const std::span<const std::byte> header = bytes.subspan(kPrefix, headerBytes);
  const std::string digest = headerDigest(bytes.first(kChecked), header);
  if (std::memcmp(bytes.data() + kChecked, digest.data(), digest.size()) != 0)
    return corrupt("the header's checksum is wrong");

  const nlohmann::json json = nlohmann::json::parse(
      reinterpret_cast<const char *>(header.data()),
      reinterpret_cast<const char *>(header.data()) + header.size(), nullptr, false);
  Envelope envelope;
  if (!json.is_object() || !readString(json, "spec", envelope.specText) ||
      !readString(json, "spec_key", envelope.specKey) ||
      !readString(json, "build_key", envelope.buildKey) ||
      !readString(json, "kernel", envelope.kernelName) ||
      !readString(json, "verification", envelope.verification) ||
      !readString(json, "payload_sha256", envelope.payloadSha256))
    return corrupt("the header lacks a field");
  if (const auto time = json.find("compile_ms"); time != json.end() && time->is_number())
    envelope.compileMs = time->get<double>();
  envelope.payload = bytes.subspan(kPrefix + headerBytes);
  if (sha256Hex(envelope.payload) != envelope.payloadSha256)
    return corrupt("the code object's checksum is wrong");
  return envelope;
}

Expected<SharedCodeObject> openEnvelope(std::span<const std::byte> bytes, const KernelSpec &spec,
                                        std::string_view buildKey, std::string_view provider) {
  WAVESMITH_ASSIGN(const Envelope envelope, decodeEnvelope(bytes));
  if (envelope.specText != spec.text() || envelope.specKey != spec.key())
    return error(StatusCode::Corrupt, "it holds [{}] instead of [{}]", envelope.specText,
                 spec.text());
  if (envelope.buildKey != buildKey)
    return error(StatusCode::Corrupt, "it is of build key {} instead of {}", envelope.buildKey,
                 buildKey);
  auto object = std::make_shared<CodeObjectBlob>();
  object->bytes.assign(envelope.payload.begin(), envelope.payload.end());
  object->kernelName = envelope.kernelName;
  object->provider = provider;
  object->verification = envelope.verification;
  return SharedCodeObject(std::move(object));
}

} // namespace wavesmith
