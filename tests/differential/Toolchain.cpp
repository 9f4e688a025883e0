#include "tests/differential/Toolchain.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace wavesmith::differential {
namespace {

namespace fs = std::filesystem;

// Signed overflow wraps, conversions saturate, each operation is rounded to its type.
constexpr const char *kMeaning =
    "-x c++ -std=c++20 -nostdinc -ffreestanding -fno-exceptions -fno-rtti -fwrapv "
    "-fno-strict-float-cast-overflow -fno-strict-aliasing -ffp-contract=off "
    "-Xclang -ffloat16-excess-precision=none -Xclang -fbfloat16-excess-precision=none -w "
    "-I " WAVESMITH_SOURCE_DIR;

std::string head(const fs::path &file) {
  std::ifstream stream(file);
  std::string text, line;
  for (int i = 0; i < 12 && std::getline(stream, line); ++i)
    text += "\n  " + line;
  return text;
}

} // namespace

HostLibrary::~HostLibrary() {
  if (handle_)
    ::dlclose(handle_);
}

HostEntry HostLibrary::entry(const std::string &program) const {
  return reinterpret_cast<HostEntry>(::dlsym(handle_, ("program_" + program).c_str()));
}

Expected<Toolchain> Toolchain::create() {
  if (!fs::exists(WAVESMITH_CLANG))
    return error(StatusCode::NotFound, "no clang 22 at '{}'", WAVESMITH_CLANG);
  std::string pattern = (fs::temp_directory_path() / "wavesmith-differential-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return error(StatusCode::Internal, "cannot make a directory like {}", pattern);
  return Toolchain(pattern);
}

Toolchain::~Toolchain() {
  std::error_code ignored;
  if (!directory_.empty())
    fs::remove_all(directory_, ignored);
}

Expected<fs::path> Toolchain::compile(const std::string &source, const std::string &options) {
  const fs::path base = directory_ / std::to_string(files_++);
  const std::string in = base.string() + ".cpp", out = base.string() + ".so",
                    log = base.string() + ".log";
  std::ofstream(in) << source;
  // TMPDIR: what a crashing compiler leaves behind goes away with the directory.
  const std::string command = fmt::format("TMPDIR={} {} {} {} {} -o {} 2> {}", directory_.string(),
                                          WAVESMITH_CLANG, kMeaning, options, in, out, log);
  if (std::system(command.c_str()) != 0)
    return error(StatusCode::Internal, "clang {} fails:{}", options, head(log));
  fs::remove(in);
  fs::remove(log);
  return fs::path(out);
}

Expected<std::vector<std::byte>> Toolchain::compileForDevice(const std::string &source,
                                                             const std::string &target,
                                                             const std::string &level) {
  auto file = compile(
      source, fmt::format("--target=amdgcn-amd-amdhsa -mcpu={} -nogpulib -{}", target, level));
  if (!file)
    return file.status();
  std::ifstream stream(*file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  fs::remove(*file);
  const auto *data = reinterpret_cast<const std::byte *>(text.data());
  return std::vector<std::byte>(data, data + text.size());
}

Expected<HostLibrary> Toolchain::compileForHost(const std::string &source) {
  // Its conversions of half and fused multiply-adds are the machine's where there are any;
  // compiler-rt has the rest, also those of bfloat16, which an older libgcc lacks.
  const char *machine = __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3" : "x86-64";
  auto file = compile(source, fmt::format("-march={} -O0 -fPIC -shared --rtlib=compiler-rt -lm "
                                          "-fvisibility=hidden",
                                          machine));
  if (!file)
    return file.status();
  void *handle = ::dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL);
  fs::remove(*file);
  if (!handle)
    return error(StatusCode::Internal, "dlopen: {}", ::dlerror());
  return HostLibrary(handle);
}

} // namespace wavesmith::differential
