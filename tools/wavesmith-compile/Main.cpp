// wavesmith-compile: one spec to one code object, in a process of its own. Foreign templates and
// sweeps compile through it, because LLVM can abort a process on IR that it cannot lower.

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "compiler/library/CompileKernel.h"
#include "runtime/support/Files.h"

namespace {

constexpr int kBadInput = 2, kFailed = 1;

int fail(int code, const wavesmith::Status &status) {
  fmt::print(stderr, "wavesmith-compile: {}\n", status.message());
  return code;
}

int usage() {
  fmt::print(stderr, "usage: wavesmith-compile --spec TEXT -o FILE [--template-dir DIR] "
                     "[--dump-dir DIR] [--reproducer-dir DIR]\n");
  return kBadInput;
}

} // namespace

int main(int argc, char **argv) {
  std::string specText, output;
  wavesmith::CompileOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--spec")
      specText = argv[i + 1];
    else if (flag == "-o")
      output = argv[i + 1];
    else if (flag == "--template-dir")
      options.templateDirectory = argv[i + 1];
    else if (flag == "--dump-dir")
      options.dumpDirectory = argv[i + 1];
    else if (flag == "--reproducer-dir")
      options.reproducerDirectory = argv[i + 1];
    else
      return usage();
  }
  if (argc % 2 == 0 || specText.empty() || output.empty())
    return usage();
  auto spec = wavesmith::KernelSpec::parse(specText);
  if (!spec)
    return fail(kBadInput, spec.status());
  if (wavesmith::Status valid = spec->validate(); !valid)
    return fail(kBadInput, valid);
  auto object = wavesmith::compiler::compileKernel(*spec, options);
  if (!object)
    return fail(kFailed, object.status());
  if (wavesmith::Status written = wavesmith::publishFile(output, object->bytes); !written)
    return fail(kFailed, written);
  fmt::print("{} {} bytes, {:.0f} ms\n", object->kernelName, object->bytes.size(),
             object->compileMs);
  return 0;
}
