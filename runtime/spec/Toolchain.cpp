#include <algorithm>
#include <filesystem>
#include <system_error>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Env.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"

namespace wavesmith {
namespace {

#include "runtime/spec/Toolchain.inc"

constexpr std::uint64_t kTemplateLimit = 16u << 20;

} // namespace

const Toolchain &Toolchain::builtin() {
  static const Toolchain toolchain = {kTemplateDigest, kCompilerBuild, kLlvmVersion,
                                      env::codeEnvironment()};
  return toolchain;
}

Expected<Toolchain> Toolchain::withTemplates(const std::string &directory) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code code;
  fs::recursive_directory_iterator item(directory, code);
  for (; !code && item != fs::recursive_directory_iterator(); item.increment(code))
    if (item->path().extension() == ".mlir" && item->is_regular_file(code))
      names.push_back(item->path().lexically_relative(directory).string());
  if (code)
    return error(StatusCode::NotFound, "template directory {}: {}", directory, code.message());
  if (names.empty())
    return error(StatusCode::NotFound, "template directory {} holds no .mlir file", directory);
  std::ranges::sort(names);
  std::string lines;
  for (const std::string &name : names) {
    WAVESMITH_ASSIGN(const std::vector<std::byte> bytes,
                     readFile(directory + "/" + name, kTemplateLimit));
    lines += fmt::format("{} {}\n", name, sha256Hex(bytes));
  }
  Toolchain toolchain = builtin();
  toolchain.templateDigest = sha256Hex(lines);
  return toolchain;
}

std::string buildKey(const KernelSpec &spec, const Toolchain &toolchain) {
  // Length prefixes keep the parts apart whatever they contain.
  std::string text;
  for (const std::string &part : {spec.text(), toolchain.templateDigest, toolchain.compilerBuild,
                                  toolchain.llvmVersion, toolchain.environment})
    text += fmt::format("{}:{}\n", part.size(), part);
  return sha256Hex(text);
}

} // namespace wavesmith
