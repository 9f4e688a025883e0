// One process of many that share a disk cache: asks a kernel store for kernels that a fake compiler
// makes slowly, checks every byte, and prints what happened as JSON.
// tests/fault/cache_fault_test.py starts it, kills it and takes the ground from under it.
//
//   cache_worker DIR FIRST COUNT MILLISECONDS [ROUNDS [BOUND]]
//
// Kernels FIRST to FIRST + COUNT - 1, each compiled in MILLISECONDS; ROUNDS times with a fresh
// store (0: for ever), in a cache of at most BOUND bytes.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cache/KernelStore.h"
#include "tests/unit/provider/FakeCompiler.h"

using namespace wavesmith;

namespace {

/// Objects of a size that does not fit into one page or one pipe, so that writes can be cut.
class PaddedCompiler : public test::FakeCompiler {
public:
  static std::vector<std::byte> object(const KernelSpec &spec) {
    std::string text;
    while (text.size() < 40'000)
      text += spec.text();
    return test::bytesOf(text);
  }
  Expected<CodeObjectBlob> compile(const KernelSpec &spec, const CompileOptions &options) override {
    auto blob = FakeCompiler::compile(spec, options);
    if (blob)
      blob->bytes = object(spec);
    return blob;
  }
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  const int first = std::atoi(argv[2]), count = std::atoi(argv[3]);
  const int rounds = argc > 5 ? std::atoi(argv[5]) : 1;
  PaddedCompiler compiler;
  compiler.duration = std::chrono::milliseconds(std::atoi(argv[4]));
  std::uint64_t disk = 0, jit = 0, damaged = 0;
  for (int round = 0; rounds == 0 || round < rounds; ++round) {
    KernelStoreOptions options;
    options.disk = DiskCacheOptions{.directory = argv[1]};
    if (argc > 6)
      options.disk->maxBytes = std::strtoull(argv[6], nullptr, 10);
    options.disk->onDamaged = [&](const std::string &, const Status &) { ++damaged; };
    options.jit.create = [&] { return std::make_unique<test::BorrowedCompiler>(compiler); };
    KernelStore store(std::move(options));
    for (int i = first; i < first + count; ++i) {
      KernelSpec spec = test::mainJobSpec();
      spec.schedule = "s" + std::to_string(i);
      const auto lookup = store.get(spec);
      if (!lookup) {
        fmt::print(stderr, "{}\n", lookup.status().message());
        return 1;
      }
      if (lookup->object->bytes != PaddedCompiler::object(spec)) {
        fmt::print(stderr, "wrong bytes of {} from {}\n", spec.text(), lookup->provider);
        return 1;
      }
      disk += lookup->provider == "disk";
      jit += lookup->provider == "jit";
    }
  }
  fmt::print("{{\"pid\": {}, \"disk\": {}, \"jit\": {}, \"damaged\": {}}}\n", ::getpid(), disk, jit,
             damaged);
  return 0;
}
