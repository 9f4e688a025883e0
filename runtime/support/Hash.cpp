#include "runtime/support/Hash.h"

#include <array>
#include <cassert>
#include <cstdlib>

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace wavesmith {

std::string sha256Hex(std::span<const std::span<const std::byte>> parts) {
  // Reading openssl.cnf costs more than our whole cache hit, and no provider setting concerns us.
  static const int initialised = OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  static const EVP_MD *const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<unsigned char, 32> digest{};
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  bool good = initialised == 1 && algorithm && context &&
              EVP_DigestInit_ex(context, algorithm, nullptr) == 1;
  for (std::span<const std::byte> part : parts)
    good = good && EVP_DigestUpdate(context, part.data(), part.size()) == 1;
  good = good && EVP_DigestFinal_ex(context, digest.data(), nullptr) == 1;
  EVP_MD_CTX_free(context);
  // Only an exhausted heap or a broken libcrypto gets here; a wrong key must never be used.
  if (!good)
    std::abort();

  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(64, '0');
  for (std::size_t i = 0; i < digest.size(); ++i) {
    text[2 * i] = kDigits[digest[i] >> 4];
    text[2 * i + 1] = kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256Hex(std::span<const std::byte> bytes) { return sha256Hex(std::span(&bytes, 1)); }

std::string sha256Hex(std::string_view text) { return sha256Hex(asBytes(text)); }

} // namespace wavesmith
