// wavesmith build: code objects ahead of time, with a manifest of keys and digests.

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"

namespace wavesmith::cli {
namespace {

class Build final : public Command {
public:
  std::string name() const override { return "build"; }
  std::string summary() const override { return "compile kernels ahead of time into a directory"; }

  void declare(CLI::App &app) override {
    app.add_option("--targets", targets_, "gfx942")->required();
    app.add_option("--dtypes", dtypes_, "bf16 (fp8: not supported yet)")->default_val("bf16");
    app.add_option("--head-dims", headDims_, "192x128,128x128,64x64; default: all");
    app.add_option("--causal", causal_, "yes, no or both")->default_val("both");
    app.add_option("-o,--output", output_, "Directory for the objects and manifest.json")
        ->required();
    app.add_option("--jobs", jobs_, "Compiles at a time; default: all cores");
    app.add_flag("--verify", verify_, "Not supported yet");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(const std::vector<KernelSpec> specs, check());
    (void)specs;
    return error(StatusCode::Unsupported, "build: not supported yet");
  }

private:
  Expected<std::vector<KernelSpec>> check() {
    WAVESMITH_TRY(refuseLater("--verify", verify_));
    WAVESMITH_ASSIGN(const auto targets, parseList("--targets", targets_));
    WAVESMITH_ASSIGN(const auto dtypes, parseList("--dtypes", dtypes_));
    if (headDims_.empty())
      headDims_ = allHeadDims();
    WAVESMITH_ASSIGN(const auto dims, parseList("--head-dims", headDims_));
    WAVESMITH_TRY(checkWord("--causal", causal_, {"yes", "no", "both"}));
    if (!jobs_.empty()) {
      WAVESMITH_ASSIGN(jobCount_, parseCount("--jobs", jobs_, 1, 1024));
    }
    std::vector<KernelSpec> specs;
    for (const std::string &target : targets) {
      for (const std::string &dtype : dtypes) {
        for (const std::string &text : dims) {
          WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dims", text));
          for (const bool causal : {false, true}) {
            if (causal_ != "both" && causal != (causal_ == "yes"))
              continue;
            WAVESMITH_ASSIGN(KernelSpec spec, checkedSpec({"--targets", "--dtypes", "--head-dims"},
                                                          target, dtype, dim, causal));
            specs.push_back(std::move(spec));
          }
        }
      }
    }
    return specs;
  }

  std::string targets_, dtypes_, headDims_, causal_, output_, jobs_;
  bool verify_ = false;
  std::int64_t jobCount_ = 0;
};

} // namespace

std::unique_ptr<Command> makeBuild() { return std::make_unique<Build>(); }

} // namespace wavesmith::cli
