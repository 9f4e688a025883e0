#pragma once
// A code object with our note and argument block whose kernel ends at once; for the loader's
// checks. Empty where no assembler is installed.

#include <algorithm>
#include <string>

#include "runtime/codeobject/Note.h"
#include "runtime/provider/Provider.h"
#include "runtime/spec/AttentionAbi.h"
#include "tests/device/Assembler.h"

namespace wavesmith::test {

struct FakeObjectOptions {
  bool note = true;
  std::string abi = kAttentionLayout;
  std::string noteSpec; ///< "" = the spec's
  std::string fp8Format;
  std::string buildKey = "b";
  int arguments = sizeof(AttentionArguments) / 8;
  int maxThreads = kAttentionThreads;
};

inline SharedCodeObject fakeObject(const KernelSpec &spec, const FakeObjectOptions &options = {}) {
  std::string section;
  if (options.note) {
    std::string json = printNote({.spec = options.noteSpec.empty() ? spec.text() : options.noteSpec,
                                  .specKey = spec.key(),
                                  .buildKey = options.buildKey,
                                  .abi = options.abi,
                                  .fp8Format = options.fp8Format,
                                  .schedule = "default",
                                  .toolchain = "t"});
    std::string escaped;
    for (char c : json)
      escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
    section =
        fmt::format("  .section .note.wavesmith,\"a\",@note\n  .p2align 2\n  .long 10, {}, 1\n"
                    "  .asciz \"Wavesmith\"\n  .p2align 2\n  .ascii \"{}\"\n  .p2align 2\n",
                    json.size(), escaped);
  }
  KernelSource kernel{.name = spec.kernelName(), .body = ""};
  kernel.arguments.assign(static_cast<std::size_t>(options.arguments), "8 by_value");
  kernel.maxThreads = options.maxThreads;
  auto blob = std::make_shared<CodeObjectBlob>();
  blob->bytes = assemble(kernelSource({kernel}, section), spec.target);
  blob->kernelName = spec.kernelName();
  blob->provider = "jit";
  return blob;
}

} // namespace wavesmith::test
