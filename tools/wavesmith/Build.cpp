// wavesmith build: code objects ahead of time, with a manifest of keys and digests. Everything is
// compiled and written aside before the first file takes its name; the manifest is the last one.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cache/KernelStore.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Files.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/Progress.h"

namespace wavesmith::cli {
namespace {

namespace fs = std::filesystem;

struct Built {
  KernelSpec spec;
  KernelLookup lookup;
  Status status;
};

/// Where the files wait for each other: a directory inside the output, gone with this object, as is
/// the output when this run made it and nothing was published.
class Staging {
public:
  static Expected<std::unique_ptr<Staging>> create(const std::string &output) {
    std::error_code code;
    const bool existed = fs::exists(output, code);
    fs::create_directories(output, code);
    if (code)
      return error(StatusCode::Io, "cannot make {}: {}", output, code.message());
    std::string pattern = (fs::path(output) / ".partial-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      return systemError(errno, "cannot write into", output);
    return std::unique_ptr<Staging>(new Staging(output, std::move(pattern), !existed));
  }
  Staging(const Staging &) = delete;
  Staging &operator=(const Staging &) = delete;
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
    if (created_)
      fs::remove(output_, ignored); // only when empty
  }

  Status add(const std::string &name, std::span<const std::byte> bytes) {
    WAVESMITH_TRY(publishFile((fs::path(directory_) / name).string(), bytes));
    names_.push_back(name);
    return Status::ok();
  }
  /// In the order of add().
  Status publish() const {
    for (const std::string &name : names_) {
      const fs::path to = fs::path(output_) / name;
      if (std::rename((fs::path(directory_) / name).c_str(), to.c_str()) != 0)
        return systemError(errno, "rename to", to.string());
    }
    return Status::ok();
  }

private:
  Staging(std::string output, std::string directory, bool created)
      : output_(std::move(output)), directory_(std::move(directory)), created_(created) {}

  std::string output_, directory_;
  bool created_;
  std::vector<std::string> names_;
};

/// Compiles all of them, `jobs` at a time; the first error in the specs' order.
Status compileAll(KernelStore &store, std::vector<Built> &kernels, std::size_t jobs) {
  Progress progress(kernels.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  {
    std::vector<std::jthread> workers;
    for (std::size_t job = 0; job < std::min(jobs, kernels.size()); ++job)
      workers.emplace_back([&] {
        for (std::size_t at; (at = next.fetch_add(1)) < kernels.size() && !failed;) {
          Built &kernel = kernels[at];
          auto lookup = store.get(kernel.spec);
          if (lookup) {
            kernel.lookup = *std::move(lookup);
          } else {
            kernel.status = asEnvironment(lookup.status());
            failed = true;
          }
          progress.done(kernel.spec.kernelName());
        }
      });
  }
  Status first;
  for (const Built &kernel : kernels) {
    if (first.isOk())
      first = kernel.status.withContext(kernel.spec.kernelName());
    kernel.status.ignoreError("one error is enough for a line");
  }
  return first;
}

class Build final : public Command {
public:
  std::string name() const override { return "build"; }
  std::string summary() const override { return "compile kernels ahead of time into a directory"; }

  void declare(CLI::App &app) override {
    app.add_option("--targets", targets_, "gfx942,gfx950")->required();
    app.add_option("--kernels", kernels_,
                   "attention, or kernels around it in all their variants: combine_splits, "
                   "merge_states, quantize, quantize_concat, amax")
        ->default_val("attention");
    app.add_option("--rotation", rotation_, "Seed of the quantisers' rotation; 0: none")
        ->default_val("0");
    app.add_option("--dtypes", dtypes_, "bf16, fp8 or both: bf16,fp8")->default_val("bf16");
    app.add_option("--head-dims", headDims_, "192x128,128x128,64x64; default: all");
    app.add_option("--causal", causal_, "yes, no or both")->default_val("both");
    app.add_option("-o,--output", output_, "Directory for the objects and manifest.json")
        ->required();
    app.add_option("--jobs", jobs_, "Compiles at a time; default: all cores");
    app.add_flag("--verify", verify_, "Not supported yet");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(std::vector<Built> kernels, check());
    WAVESMITH_TRY(checkOutput());
    const auto start = std::chrono::steady_clock::now();
    WAVESMITH_ASSIGN(KernelStoreOptions options, KernelStoreOptions::fromEnvironment());
    KernelStore store(std::move(options));
    WAVESMITH_TRY(compileAll(store, kernels, jobCount_));

    WAVESMITH_ASSIGN(const std::unique_ptr<Staging> staging, Staging::create(output_));
    const Toolchain &toolchain = store.toolchain();
    Json manifest = {{"version", 1},
                     {"toolchain",
                      {{"template_digest", toolchain.templateDigest},
                       {"compiler_build", toolchain.compilerBuild},
                       {"llvm_version", toolchain.llvmVersion},
                       {"environment", toolchain.environment}}},
                     {"kernels", Json::array()}};
    Result result;
    result.json = {
        {"ok", true}, {"directory", output_}, {"manifest", ""}, {"kernels", Json::array()}};
    result.text = fmt::format("{:<58} {:>8}  {:<7} {:>10}\n", "kernel", "bytes", "from", "compile");
    for (const Built &kernel : kernels) {
      WAVESMITH_ASSIGN(Json row, write(kernel, toolchain, *staging));
      manifest["kernels"].push_back(row);
      row.erase("target");
      row["provider"] = kernel.lookup.provider;
      row["compile_ms"] = kernel.lookup.compileMs;
      result.json["kernels"].push_back(std::move(row));
      result.text += fmt::format("{:<58} {:>8}  {:<7} {:>7.1f} ms\n", kernel.spec.kernelName(),
                                 kernel.lookup.object->bytes.size(), kernel.lookup.provider,
                                 kernel.lookup.compileMs);
    }
    const std::string path = (fs::path(output_) / "manifest.json").string();
    WAVESMITH_TRY(staging->add("manifest.json", asBytes(manifest.dump(2) + "\n")));
    WAVESMITH_TRY(staging->publish());

    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.json["manifest"] = path;
    result.json["seconds"] = seconds;
    result.text += fmt::format("{} kernels in {:.1f} s, {}\n", kernels.size(), seconds, path);
    return result;
  }

private:
  Expected<std::vector<Built>> check() {
    WAVESMITH_TRY(refuseLater("--verify", verify_));
    WAVESMITH_ASSIGN(const auto targets, parseList("--targets", targets_));
    WAVESMITH_ASSIGN(const auto names, parseList("--kernels", kernels_));
    WAVESMITH_ASSIGN(const auto dtypes, parseList("--dtypes", dtypes_));
    WAVESMITH_ASSIGN(const auto dims,
                     parseList("--head-dims", headDims_.empty() ? allHeadDims() : headDims_));
    WAVESMITH_TRY(checkWord("--causal", causal_, {"yes", "no", "both"}));
    jobCount_ = std::max(1u, std::thread::hardware_concurrency());
    if (!jobs_.empty()) {
      WAVESMITH_ASSIGN(jobCount_, parseCount("--jobs", jobs_, 1, 1024));
    }
    std::vector<Built> kernels;
    const auto add = [&](KernelSpec spec) {
      const auto same = [&](const Built &kernel) { return kernel.spec == spec; };
      if (std::none_of(kernels.begin(), kernels.end(), same))
        kernels.push_back({std::move(spec), {}, Status()});
    };
    WAVESMITH_ASSIGN(
        const std::int64_t rotation,
        parseCount("--rotation", rotation_, 0, std::numeric_limits<std::int32_t>::max()));
    const bool attention = std::find(names.begin(), names.end(), "attention") != names.end();
    for (const std::string &target : targets) {
      for (const std::string &name : names) {
        if (name == "attention")
          continue;
        WAVESMITH_TRY(withFlag("--targets", parseTarget(target)).status());
        WAVESMITH_TRY(withFlag("--kernels", findRowKernel(name)).status());
        for (KernelSpec &spec : rowSpecs(target, name, fmt::format("{}", rotation)))
          add(std::move(spec));
      }
      if (!attention)
        continue;
      for (const std::string &dtype : dtypes) {
        for (const std::string &text : dims) {
          WAVESMITH_ASSIGN(const HeadDim dim, parseHeadDim("--head-dims", text));
          for (const bool causal : {false, true}) {
            if (causal_ != "both" && causal != (causal_ == "yes"))
              continue;
            WAVESMITH_ASSIGN(KernelSpec spec, checkedSpec({"--targets", "--dtypes", "--head-dims"},
                                                          target, dtype, dim, causal));
            add(std::move(spec));
          }
        }
      }
    }
    return kernels;
  }

  /// What can be known before the compiles: not after minutes of work.
  Status checkOutput() const {
    std::error_code code;
    const fs::file_status status = fs::status(output_, code);
    if (status.type() == fs::file_type::not_found)
      return Status::ok();
    if (!fs::is_directory(status))
      return error(StatusCode::InvalidArgument, "--output {} is not a directory", output_);
    if (access(output_.c_str(), W_OK | X_OK) != 0)
      return systemError(errno, "cannot write into", output_);
    return Status::ok();
  }

  static Expected<Json> write(const Built &kernel, const Toolchain &toolchain, Staging &staging) {
    const CodeObjectBlob &blob = *kernel.lookup.object;
    const std::string name = kernel.spec.kernelName();
    WAVESMITH_TRY(staging.add(name + ".co", blob.bytes));
    return Json{{"name", name},
                {"file", name + ".co"},
                {"target", kernel.spec.target},
                {"spec", kernel.spec.text()},
                {"spec_key", kernel.spec.key()},
                {"build_key", buildKey(kernel.spec, toolchain)},
                {"sha256", sha256Hex(blob.bytes)},
                {"bytes", blob.bytes.size()}};
  }

  std::string targets_, kernels_, rotation_, dtypes_, headDims_, causal_, output_, jobs_;
  bool verify_ = false;
  std::int64_t jobCount_ = 0;
};

} // namespace

std::unique_ptr<Command> makeBuild() { return std::make_unique<Build>(); }

} // namespace wavesmith::cli
