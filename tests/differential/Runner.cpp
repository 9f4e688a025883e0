#include "tests/differential/Runner.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "runtime/codeobject/CodeObject.h"
#include "tests/differential/Random.h"

namespace wavesmith::differential {
namespace {

/// As the prelude declares it.
struct Params {
  std::uint64_t a = 0x123456789abcdef1;
  std::uint8_t b = 200;
  std::int16_t c = -3000;
  float d = 1.5f;
  std::uint32_t e = 77;
  double f = -12345.678;
  std::uint16_t g = 0x4500; // half: 5
  std::int64_t h = -1234567890123;
};
static_assert(sizeof(Params) == 48);

/// Random bytes would hardly ever be a small number, an infinity or a subnormal.
std::vector<std::byte> inputBytes(std::uint64_t seed) {
  Random random(seed ^ 0x1234567);
  std::vector<std::uint64_t> words(kInputBytes / 8);
  for (std::uint64_t &word : words) {
    const std::uint64_t bits = random.bits();
    const auto number = static_cast<float>(random.below(2000) - 1000) / 8;
    switch (random.below(8)) {
    case 0: // small integers
      word = bits & 0x0000000f0000001f;
      break;
    case 1: // small negative integers
      word = ~(bits & 0x0000000f0000000f);
      break;
    case 2: { // two numbers of float32
      const float two[2] = {number, -3 * number};
      std::memcpy(&word, two, 8);
      break;
    }
    case 3: { // float64
      const double wide = number;
      std::memcpy(&word, &wide, 8);
      break;
    }
    case 4: // halves and bfloat16 of moderate size
      word = (bits & 0x83ff83ff83ff83ff) | 0x3c003c003c003c00;
      break;
    case 5: // infinities, subnormals
      word =
          random.pick<std::uint64_t>({0x7f800000ff800000, 0x0000000100800000, 0x7ff0000000000000,
                                      0x7c00fc0003ff0001, 0x8000000000000000, 0x7fc000007f7fffff});
      break;
    default:
      word = bits;
    }
  }
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}

std::string mnemonic(const std::string &disassembly) {
  return disassembly.substr(0, disassembly.find(' '));
}

} // namespace

struct Runner::Results {
  std::vector<std::byte> out, shared;

  explicit Results(const Program &program)
      : out(static_cast<std::size_t>(program.stride() * program.workItems * kGroups)),
        shared(kSharedBytes) {}
};

std::string_view name(Verdict::Kind kind) {
  constexpr std::string_view kNames[] = {"same", "different", "fault", "not compiled"};
  return kNames[static_cast<int>(kind)];
}

std::string sourceOf(std::span<const Program> programs) {
  std::string source = "#include \"tests/differential/prelude/Atomics.h\"\n"
                       "#include \"tests/differential/prelude/Builtins.h\"\n"
                       "#include \"tests/differential/prelude/Convert.h\"\n";
  for (const Program &program : programs)
    source += "\n" + program.source();
  return source;
}

Expected<Runner::Results> Runner::runOnHost(const HostLibrary &library,
                                            const Program &program) const {
  const HostEntry entry = library.entry(program.name());
  if (!entry)
    return error(StatusCode::Internal, "the host's library has no {}", program.name());
  Results results(program);
  const Params params;
  entry(inputBytes(program.seed).data(), results.out.data(), results.shared.data(), &params,
        kGroups);
  return results;
}

Verdict Runner::runOnDevice(emulator::Device &device, const emulator::Module &module,
                            const Program &program, const Results &expected,
                            const std::string &order) {
  const std::vector<std::byte> input = inputBytes(program.seed);
  Results actual(program);
  std::vector<std::uint64_t> addresses;
  auto upload = [&](std::span<const std::byte> bytes) -> Status {
    auto address = device.allocate(bytes.size());
    if (!address)
      return address.status();
    addresses.push_back(*address);
    return device.write(*address, bytes);
  };
  auto attempt = [&]() -> Expected<emulator::RunReport> {
    WAVESMITH_TRY(upload(input));
    WAVESMITH_TRY(upload(actual.out));
    WAVESMITH_TRY(upload(actual.shared));
    struct {
      std::uint64_t in, out, shared;
      Params params;
    } arguments = {addresses[0], addresses[1], addresses[2], {}};
    emulator::LaunchConfig launch;
    launch.kernel = "program_" + program.name();
    launch.grid = {kGroups, 1, 1};
    launch.block = {static_cast<std::uint32_t>(program.workItems), 1, 1};
    launch.kernarg = std::as_bytes(std::span(&arguments, 1));
    emulator::RunOptions options;
    options.seed = program.seed + 1;
    options.threads = 1;
    options.coverage = true;
    options.maxInstructionsPerWave = 1 << 24;
    auto parsed = emulator::ExecutionOrder::parse(order);
    if (!parsed)
      return parsed.status();
    options.order = *parsed;
    auto report = device.run(module, launch, options);
    if (!report)
      return report.status();
    WAVESMITH_TRY(device.read(addresses[1], actual.out));
    WAVESMITH_TRY(device.read(addresses[2], actual.shared));
    return report;
  };
  auto report = attempt();
  for (std::uint64_t address : addresses)
    if (Status freed = device.free(address); !freed.isOk())
      return {Verdict::Kind::Fault, freed.message()};
  if (!report)
    return {Verdict::Kind::NotCompiled, report.status().message()};
  ++runs_;
  for (const auto &executed : report->coverage)
    coverage_[mnemonic(executed.disassembly)] += executed.count;
  if (!report->clean())
    return {Verdict::Kind::Fault, fmt::format("order {}: {}", order, report->faults[0].text())};
  auto differs = [&](const char *what, const std::vector<std::byte> &want,
                     const std::vector<std::byte> &got, int stride) -> std::optional<Verdict> {
    const auto [w, g] = std::mismatch(want.begin(), want.end(), got.begin());
    if (w == want.end())
      return std::nullopt;
    const int at = static_cast<int>(w - want.begin());
    auto hex = [&](const std::vector<std::byte> &bytes) {
      std::string text;
      const int first = at / 8 * 8,
                last = std::min<int>(first + 16, static_cast<int>(bytes.size()));
      for (int i = first; i < last; ++i)
        text += fmt::format("{}{:02x}", i == at ? "[" : "", std::to_integer<int>(bytes[i])) +
                (i == at ? "]" : "");
      return text;
    };
    return Verdict{Verdict::Kind::Different,
                   fmt::format("order {}: {}: work-item {}, byte {}: host ..{}.., emulator ..{}..",
                               order, what, at / stride, at % stride, hex(want), hex(got))};
  };
  if (auto verdict = differs("results", expected.out, actual.out, program.stride()))
    return *verdict;
  if (auto verdict = differs("shared", expected.shared, actual.shared, kSharedBytes))
    return *verdict;
  return {};
}

std::vector<Verdict> Runner::run(std::span<const Program> programs,
                                 const Configuration &configuration) {
  std::vector<Verdict> verdicts(programs.size());
  auto all = [&](const Status &status) {
    std::fill(verdicts.begin(), verdicts.end(),
              Verdict{Verdict::Kind::NotCompiled, status.message()});
    return verdicts;
  };
  const std::string source = sourceOf(programs);
  if (source != hostSource_) {
    host_.reset();
    hostSource_.clear();
    auto host = toolchain_.compileForHost(source);
    if (!host)
      return all(host.status());
    host_ = std::make_unique<HostLibrary>(std::move(*host));
    hostSource_ = source;
  }
  auto object = toolchain_.compileForDevice(source, configuration.target, configuration.level);
  if (!object)
    return all(object.status());
  auto code = CodeObject::parse(*object, "programs");
  if (!code)
    return all(code.status());
  auto device = emulator::Device::create({configuration.target});
  if (!device)
    return all(device.status());
  auto module = (*device)->load(*code);
  if (!module)
    return all(module.status());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!programs[i].only.empty() && configuration.target != programs[i].only)
      continue;
    auto expected = runOnHost(*host_, programs[i]);
    if (!expected) {
      verdicts[i] = {Verdict::Kind::NotCompiled, expected.status().message()};
      continue;
    }
    for (const std::string &order : configuration.orders) {
      verdicts[i] = runOnDevice(**device, **module, programs[i], *expected, order);
      if (verdicts[i].kind != Verdict::Kind::Same)
        break;
    }
  }
  return verdicts;
}

} // namespace wavesmith::differential
