// wavesmith inspect: what a code object holds: resources, notes, instruction mix, disassembly.

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/codeobject/CodeObject.h"
#include "runtime/codeobject/Note.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Annotation.h"
#include "tools/wavesmith/Comgr.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/Disassembly.h"
#include "tools/wavesmith/Input.h"

namespace wavesmith::cli {
namespace {

Json argumentsJson(const KernelInfo &kernel) {
  Json list = Json::array();
  for (const KernelArgument &argument : kernel.arguments)
    list.push_back({{"name", argument.name},
                    {"kind", argument.valueKind},
                    {"offset", argument.offset},
                    {"size", argument.size}});
  return list;
}

Json kernelJson(const KernelInfo &kernel, const Disassembly &code, const Annotation *annotation) {
  Json mix = Json::object();
  for (const auto &[kind, count] : code.mix)
    mix[kind] = count;
  Json lines = Json::array();
  for (const Instruction &instruction : code.instructions) {
    lines.push_back(
        {{"pc", instruction.pc}, {"words", instruction.words}, {"text", instruction.text}});
    if (!instruction.source.empty())
      lines.back()["source"] = instruction.source;
    if (annotation)
      lines.back()["annotated"] = annotatedJson(*annotation, kernel.name, instruction.pc);
  }
  return {{"name", kernel.name},
          {"vgprs", kernel.vgprs},
          {"agprs", kernel.agprs},
          {"sgprs", kernel.sgprs},
          {"lds_bytes", kernel.ldsBytes},
          {"scratch_bytes", kernel.scratchBytes},
          {"code_bytes", kernel.codeSize},
          {"vgpr_spills", kernel.vgprSpills},
          {"sgpr_spills", kernel.sgprSpills},
          {"kernarg_bytes", kernel.kernargBytes},
          {"max_workgroup_size", kernel.maxFlatWorkgroupSize},
          {"wavefront_size", kernel.wavefrontSize},
          {"arguments", argumentsJson(kernel)},
          {"instruction_mix", std::move(mix)},
          {"unknown_instructions", code.unknown},
          {"disassembly", std::move(lines)}};
}

std::string kernelText(const KernelInfo &kernel, const Disassembly &code,
                       const Annotation *annotation) {
  std::string text =
      fmt::format("\nkernel {}\n"
                  "  registers   {} VGPR (of which {} AGPR), {} SGPR; spills {} VGPR, {} SGPR\n"
                  "  memory      LDS {} B, scratch {} B, kernel arguments {} B, code {} B\n"
                  "  workgroup   at most {} work-items, wavefront {}\n",
                  kernel.name, kernel.vgprs, kernel.agprs, kernel.sgprs, kernel.vgprSpills,
                  kernel.sgprSpills, kernel.ldsBytes, kernel.scratchBytes, kernel.kernargBytes,
                  kernel.codeSize, kernel.maxFlatWorkgroupSize, kernel.wavefrontSize);
  text += "  arguments\n";
  for (const KernelArgument &argument : kernel.arguments)
    text += fmt::format("    {:>4} {:>3}  {:<24} {}\n", argument.offset, argument.size,
                        argument.valueKind, argument.name);
  text += "  instructions\n";
  for (const auto &[kind, count] : code.mix)
    text += fmt::format("    {:>6}  {}\n", count, kind);
  if (code.unknown)
    text += fmt::format("    {:>6}  unknown to the emulator's table\n", code.unknown);
  if (annotation)
    return text + annotatedText(*annotation, kernel.name, code.instructions);
  text += "  disassembly\n";
  const Instruction *before = nullptr;
  for (const Instruction &instruction : code.instructions) {
    text += sourceHeading(std::exchange(before, &instruction), instruction);
    std::string words;
    for (const std::uint32_t word : instruction.words)
      words += fmt::format(" {:08x}", word);
    text += fmt::format("    {:06x}  {:<58} //{}\n", instruction.pc, instruction.text, words);
  }
  return text;
}

class Inspect final : public Command {
public:
  std::string name() const override { return "inspect"; }
  std::string summary() const override {
    return "resources, notes, instruction mix and disassembly of a code object";
  }
  void declare(CLI::App &app) override {
    app.add_option("file", file_, "Code object")->required();
    app.add_option("--kernel", kernel_, "Only this kernel");
    annotateOption_ = app.add_option("--annotate", annotate_,
                                     "Run it on the emulator as this launch file says (none: a "
                                     "small attention call) and show what each line costs")
                          ->expected(0, 1);
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(std::vector<std::byte> bytes, readInput(file_));
    const std::string digest = sha256Hex(bytes);
    WAVESMITH_ASSIGN(const CodeObject object, CodeObject::parse(std::move(bytes), file_));
    if (!kernel_.empty()) {
      WAVESMITH_ASSIGN([[maybe_unused]] const KernelInfo *found, object.kernel(kernel_));
    }

    Result result;
    result.json = {{"ok", true},
                   {"file", file_},
                   {"sha256", digest},
                   {"target", object.target()},
                   {"code_object_version", object.version()},
                   {"elf_flags", object.elfFlags()},
                   {"note", nullptr},
                   {"kernels", Json::array()}};
    result.text = fmt::format("{}: {}, code object version {}, sha256 {}\n", file_, object.target(),
                              object.version(), digest);
    std::optional<ObjectNote> note;
    if (object.wavesmithNote()) {
      WAVESMITH_ASSIGN(note, parseNote(*object.wavesmithNote(), file_));
      describeNote(*note, result);
    } else {
      result.text += "no Wavesmith note: another compiler made it\n";
    }
    std::optional<Annotation> annotation;
    if (annotateOption_->count()) {
      WAVESMITH_ASSIGN(annotation, annotate(object, note));
      describeRun(*annotation, result);
    }
    for (const KernelInfo &kernel : object.kernels()) {
      if (!kernel_.empty() && kernel.name != kernel_)
        continue;
      const Disassembly code = disassembleKernel(object, kernel);
      const Annotation *lines = annotation ? &*annotation : nullptr;
      result.json["kernels"].push_back(kernelJson(kernel, code, lines));
      result.text += kernelText(kernel, code, lines);
    }
    describeComgr(askComgr(object), result);
    return result;
  }

private:
  Expected<Annotation> annotate(const CodeObject &object,
                                const std::optional<ObjectNote> &note) const {
    if (!annotate_.empty())
      return annotateLaunch(object, annotate_);
    if (!note || !note->spec.starts_with("attention "))
      return error(StatusCode::InvalidArgument,
                   "--annotate: {} is no attention kernel of ours, so say how to launch it; want "
                   "--annotate LAUNCH.json (docs/launch-json.md)",
                   file_);
    return annotateAttention(object, *note);
  }

  static void describeRun(const Annotation &annotation, Result &result) {
    result.json["annotated_with"] = annotation.call;
    result.json["faults"] = annotation.faults;
    for (const std::string &fault : annotation.faults)
      result.text += fmt::format("fault      {}\n", fault);
    if (annotation.faults.empty())
      return;
    result.exitCode = ExitCode::Failed;
    result.json["ok"] = false;
  }

  static void describeNote(const ObjectNote &note, Result &result) {
    result.json["note"] = {{"spec", note.spec},
                           {"spec_key", note.specKey},
                           {"build_key", note.buildKey},
                           {"abi", note.abi},
                           {"fp8_format", note.fp8Format},
                           {"schedule", note.schedule},
                           {"toolchain", note.toolchain}};
    result.text += fmt::format("note\n  spec       {}\n  spec key   {}\n  build key  {}\n"
                               "  abi        {}\n  fp8        {}\n  schedule   {}\n"
                               "  toolchain  {}\n",
                               note.spec, note.specKey, note.buildKey, note.abi,
                               note.fp8Format.empty() ? "none" : note.fp8Format, note.schedule,
                               note.toolchain);
  }

  // A disagreement means that one of two readers is wrong: a failed check, not a bad file.
  static void describeComgr(const ComgrOpinion &opinion, Result &result) {
    result.json["comgr"] = {{"available", opinion.available},
                            {"version", opinion.version},
                            {"problem", opinion.problem},
                            {"differences", opinion.differences}};
    if (!opinion.available) {
      result.text += "\ncomgr: not installed, metadata not cross-checked\n";
    } else if (!opinion.problem.empty()) {
      result.text += fmt::format("\ncomgr {}: {}\n", opinion.version, opinion.problem);
    } else if (opinion.differences.empty()) {
      result.text += fmt::format("\ncomgr {} reads the same metadata\n", opinion.version);
    } else {
      result.exitCode = ExitCode::Failed;
      result.json["ok"] = false;
      result.text += fmt::format("\ncomgr {} disagrees:\n", opinion.version);
      for (const std::string &line : opinion.differences)
        result.text += "  " + line + "\n";
    }
  }

  std::string file_, kernel_, annotate_;
  CLI::Option *annotateOption_ = nullptr;
};

} // namespace

std::unique_ptr<Command> makeInspect() { return std::make_unique<Inspect>(); }

} // namespace wavesmith::cli
