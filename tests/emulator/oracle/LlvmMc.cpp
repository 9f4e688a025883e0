#include "tests/emulator/oracle/LlvmMc.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace wavesmith::emulator::oracle {
namespace {

namespace fs = std::filesystem;

/// Stands behind every input; s_ttracedata_imm-like text that no input is drawn to give.
std::uint32_t marker(std::size_t index) {
  return 0xbf800000 | static_cast<std::uint32_t>(index & 0xffff);
}

void writeBlock(std::FILE *file, const std::uint32_t *words, int count) {
  std::fputc('[', file);
  for (int i = 0; i < count; ++i)
    for (int shift = 0; shift < 32; shift += 8)
      std::fprintf(file, "%s0x%02x", i || shift ? "," : "", (words[i] >> shift) & 0xff);
  std::fputs("]\n", file);
}

std::string trimmed(std::string line) {
  for (char &c : line)
    if (c == '\t')
      c = ' ';
  std::size_t from = line.find_first_not_of(' '), to = line.find_last_not_of(' ');
  if (from == std::string::npos)
    return "";
  line = line.substr(from, to - from + 1);
  // Comments give a value or a target's name; they are no part of the instruction.
  if (std::size_t at = line.find(" //"); at != std::string::npos)
    line = trimmed(line.substr(0, at));
  return line;
}

/// Takes out remarks about invalid operands; were there any?
bool strip(std::string &text) {
  bool any = false;
  for (std::size_t at; (at = text.find("/*")) != std::string::npos; any = true) {
    std::size_t end = text.find("*/", at);
    text.erase(at, end == std::string::npos ? std::string::npos : end + 2 - at);
  }
  text = trimmed(text);
  return any;
}

bool askOnce(const std::vector<Words> &inputs, std::size_t first, std::size_t last,
             const std::string &target, std::vector<Answer> &answers) {
  fs::path base =
      fs::temp_directory_path() / ("wavesmith-oracle." + std::to_string(::getpid()) + "." + target);
  std::string in = base.string() + ".in", out = base.string() + ".out";
  std::FILE *file = std::fopen(in.c_str(), "w");
  if (!file)
    return false;
  for (std::size_t i = first; i < last; ++i) {
    writeBlock(file, inputs[i].word, inputs[i].count);
    std::uint32_t mark = marker(i);
    writeBlock(file, &mark, 1);
  }
  std::fclose(file);
  std::string command = std::string(WAVESMITH_LLVM_MC) +
                        " -disassemble -triple=amdgcn-amd-amdhsa -mcpu=" + target + " " + in +
                        " > " + out + " 2> /dev/null";
  // 1 says that some words were no instruction; more is a crash.
  int status = std::system(command.c_str());
  bool alive = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
  if (alive) {
    std::ifstream stream(out);
    std::size_t at = first;
    std::optional<std::string> text;
    for (std::string line; at < last && std::getline(stream, line);) {
      line = trimmed(line);
      if (line.empty() || line[0] == '.')
        continue;
      std::uint32_t imm = marker(at) & 0xffff;
      char expected[32];
      std::snprintf(expected, sizeof(expected), imm <= 64 ? "s_nop %u" : "s_nop 0x%x", imm);
      if (line == expected) {
        if (text) {
          answers[at].marked = strip(*text);
          answers[at].text = text;
        }
        ++at;
        text.reset();
      } else if (!text) {
        text = line;
      }
    }
    alive = at == last;
  }
  fs::remove(in);
  fs::remove(out);
  return alive;
}

void ask(const std::vector<Words> &inputs, std::size_t first, std::size_t last,
         const std::string &target, std::vector<Answer> &answers) {
  if (first == last || askOnce(inputs, first, last, target, answers))
    return;
  if (last - first == 1) {
    answers[first].crashed = true;
    return;
  }
  std::size_t middle = first + (last - first) / 2;
  ask(inputs, first, middle, target, answers);
  ask(inputs, middle, last, target, answers);
}

} // namespace

std::vector<Answer> askLlvm(const std::vector<Words> &inputs, const std::string &target) {
  constexpr std::size_t kBatch = 8192;
  std::vector<Answer> answers(inputs.size());
  for (std::size_t first = 0; first < inputs.size(); first += kBatch)
    ask(inputs, first, std::min(inputs.size(), first + kBatch), target, answers);
  return answers;
}

} // namespace wavesmith::emulator::oracle
