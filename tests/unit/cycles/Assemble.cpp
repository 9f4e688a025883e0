#include "tests/unit/cycles/Assemble.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace wavesmith::emulator::test {

namespace fs = std::filesystem;

bool haveAssembler() { return fs::exists(WAVESMITH_LLVM_MC) && fs::exists(WAVESMITH_LD_LLD); }

Expected<CodeObject> assemble(const std::string &name, const std::string &target, int repeat,
                              int value) {
  std::string base =
      (fs::temp_directory_path() / (name + "." + std::to_string(::getpid()))).string();
  std::string object = base + ".o", linked = base + ".co";
  std::string folder = WAVESMITH_CYCLE_TESTS "/kernels";
  std::string command =
      fmt::format("{} -I {} -triple=amdgcn-amd-amdhsa -mcpu={} -defsym REPEAT={} -defsym VALUE={} "
                  "-filetype=obj {}/{}.s -o {} && {} -shared {} -o {}",
                  WAVESMITH_LLVM_MC, folder, target, repeat, value, folder, name, object,
                  WAVESMITH_LD_LLD, object, linked);
  if (std::system(command.c_str()) != 0)
    return error(StatusCode::Internal, "{}.s does not assemble", name);
  std::ifstream stream(linked, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(stream)), {});
  fs::remove(object);
  fs::remove(linked);
  auto bytes = std::as_bytes(std::span(text));
  return CodeObject::parse({bytes.begin(), bytes.end()}, name);
}

Expected<RunReport> runMicro(const CodeObject &code, const std::string &chip, std::uint32_t block,
                             std::uint32_t grid, int threads, std::shared_ptr<TraceFile> trace,
                             bool replayAll, std::span<const double> weights) {
  constexpr std::uint64_t kBytes = 96 << 20;
  WAVESMITH_ASSIGN(auto device, Device::create({code.target()}));
  std::array<std::uint64_t, 2> arguments{};
  for (std::uint64_t &argument : arguments) {
    WAVESMITH_ASSIGN(argument, device->allocate(kBytes));
  }
  WAVESMITH_ASSIGN(auto module, device->load(code));
  LaunchConfig launch;
  launch.kernel = "test";
  launch.grid = {grid, 1, 1};
  launch.block = {block, 1, 1};
  launch.kernarg = std::as_bytes(std::span(arguments));
  launch.weights = weights;
  RunOptions options;
  options.checks = Checks::none();
  options.modelCycles = true;
  options.chip = chip;
  options.threads = threads;
  options.trace = std::move(trace);
  options.replayAll = replayAll;
  WAVESMITH_ASSIGN(RunReport report, device->run(*module, launch, options));
  if (!report.clean())
    return error(StatusCode::Internal, "{}", report.faults.front().text());
  return report;
}

} // namespace wavesmith::emulator::test
