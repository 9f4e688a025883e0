#include "tools/wavesmith/Disassembly.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "emulator/Emulator.h"
#include "runtime/codeobject/LineTable.h"

namespace wavesmith::cli {
namespace {

constexpr std::array<std::string_view, 9> kKinds = {"mfma",   "valu",          "transcendental",
                                                    "lds",    "vector memory", "scalar memory",
                                                    "scalar", "branch",        "wait and barrier"};

template <std::size_t N>
bool startsWithAny(std::string_view text, const std::array<std::string_view, N> &prefixes) {
  for (const std::string_view prefix : prefixes)
    if (text.starts_with(prefix))
      return true;
  return false;
}

} // namespace

std::string_view instructionKind(std::string_view mnemonic) {
  using Prefixes = std::array<std::string_view, 6>;
  if (mnemonic.starts_with("v_mfma") || mnemonic.starts_with("v_smfmac"))
    return "mfma";
  if (startsWithAny(mnemonic,
                    Prefixes{"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_"}) ||
      mnemonic.starts_with("v_cos_"))
    return "transcendental";
  if (mnemonic.starts_with("v_"))
    return "valu";
  if (mnemonic.starts_with("ds_"))
    return "lds";
  if (startsWithAny(mnemonic, std::array<std::string_view, 5>{"buffer_", "global_", "flat_",
                                                              "scratch_", "tbuffer_"}))
    return "vector memory";
  if (startsWithAny(mnemonic, Prefixes{"s_load", "s_store", "s_buffer_", "s_scratch_", "s_dcache",
                                       "s_atomic"}) ||
      mnemonic.starts_with("s_memtime") || mnemonic.starts_with("s_memrealtime"))
    return "scalar memory";
  if (startsWithAny(mnemonic, std::array<std::string_view, 9>{"s_waitcnt", "s_barrier", "s_nop",
                                                              "s_sleep", "s_setprio", "s_icache",
                                                              "s_sethalt", "s_wakeup", "s_trap"}))
    return "wait and barrier";
  if (startsWithAny(mnemonic,
                    Prefixes{"s_branch", "s_cbranch", "s_endpgm", "s_setpc", "s_swappc", "s_call"}))
    return "branch";
  return "scalar";
}

std::string sourceHeading(const Instruction *before, const Instruction &instruction) {
  if (instruction.source.empty() || (before && before->source == instruction.source))
    return {};
  return fmt::format("    ; {}\n", instruction.source);
}

Disassembly disassembleKernel(const CodeObject &object, const KernelInfo &kernel) {
  Disassembly result;
  const auto bytes = object.at(kernel.entryAddress, kernel.codeSize);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  if (!words.empty())
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
  std::array<std::uint64_t, kKinds.size()> counts{};
  const auto lines = LineTable::read(object.bytes(), "lines");
  if (!lines)
    lines.ignoreError("a listing without source lines");
  for (std::size_t at = 0; at < words.size();) {
    Instruction instruction;
    instruction.pc = at * 4;
    std::size_t size = 4;
    const auto rest = std::span<const std::uint32_t>(words).subspan(at);
    const auto text = emulator::disassemble(rest, instruction.pc, object.target(), &size);
    if (text) {
      instruction.text = *text;
      const std::string_view kind = instructionKind(*text);
      for (std::size_t index = 0; index < kKinds.size(); ++index)
        counts[index] += kKinds[index] == kind;
    } else {
      text.ignoreError("shown as data and counted");
      size = 4;
      instruction.text = fmt::format(".long {:#010x}", words[at]);
      ++result.unknown;
    }
    const std::size_t taken = std::min(std::max<std::size_t>(size / 4, 1), rest.size());
    instruction.words.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(taken));
    if (lines)
      instruction.source = lines->find(kernel.entryAddress + instruction.pc).value_or("");
    at += taken;
    result.instructions.push_back(std::move(instruction));
  }
  for (std::size_t index = 0; index < kKinds.size(); ++index)
    result.mix.emplace_back(kKinds[index], counts[index]);
  return result;
}

} // namespace wavesmith::cli
