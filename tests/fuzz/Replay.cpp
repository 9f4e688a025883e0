// The main of a fuzz target without libFuzzer: every file of a corpus, then a number of mutations
// of them, always the same ones. What kills the process is left in <target>.crash, for the
// libFuzzer binary or this one.
//
//   <target> CORPUS MUTATIONS [SEED]
//   <target> FILE

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "tests/fuzz/Fuzz.h"
#include "tests/fuzz/Mutator.h"

namespace {

namespace fs = std::filesystem;

// What a signal handler may look at.
std::string crashPath;
const std::string *current = nullptr;

void onCrash(int signal) {
  if (current) {
    const int fd = ::open(crashPath.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const bool kept = fd >= 0 && ::write(fd, current->data(), current->size()) ==
                                     static_cast<ssize_t>(current->size());
    const std::string_view text = kept ? "fuzz: crashed; the input is in " : "fuzz: crashed at ";
    if (::write(2, text.data(), text.size()) < 0 ||
        ::write(2, crashPath.data(), crashPath.size()) < 0 || ::write(2, "\n", 1) < 0)
      ::_exit(3);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void feed(const std::string &input) {
  current = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(input.data()), input.size());
  current = nullptr;
}

std::string contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CORPUS MUTATIONS [SEED], or %s FILE\n", argv[0], argv[0]);
    return 2;
  }
  crashPath = fs::path(argv[0]).filename().string() + ".crash";
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
    ::signal(signal, onCrash);
  if (fs::is_regular_file(argv[1])) {
    feed(contents(argv[1]));
    return 0;
  }
  std::vector<fs::path> paths;
  for (const auto &entry : fs::directory_iterator(argv[1]))
    if (entry.is_regular_file())
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const fs::path &path : paths)
    inputs.push_back(contents(path));
  if (inputs.empty()) {
    std::fprintf(stderr, "%s: holds no input\n", argv[1]);
    return 2;
  }
  feed({});
  for (const std::string &input : inputs)
    feed(input);
  const auto number = [&](int i, unsigned long long otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const unsigned long long mutations = number(2, 1000), seed = number(3, 1);
  wavesmith::fuzz::Mutator mutator(seed);
  for (unsigned long long i = 0; i < mutations; ++i) {
    const std::string &input = inputs[mutator.below(inputs.size())];
    feed(mutator.mutate(input, inputs[mutator.below(inputs.size())]));
  }
  std::printf("%zu files and %llu mutations of them (seed %llu)\n", inputs.size(), mutations, seed);
  return 0;
}
