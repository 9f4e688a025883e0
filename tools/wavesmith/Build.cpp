// wavesmith build: a bundle of code objects ahead of time. What stands there already is kept, an
// interrupted build goes on, and the manifest changes in one step at the end.

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/bundle/BundleWriter.h"
#include "runtime/cache/KernelStore.h"
#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Files.h"
#include "runtime/support/Status.h"
#include "tools/wavesmith/Arguments.h"
#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/KernelSelection.h"
#include "tools/wavesmith/Progress.h"

namespace wavesmith::cli {
namespace {

namespace fs = std::filesystem;

struct Built {
  KernelSpec spec;
  std::string provider;
  double compileMs = 0;
  Status status;
};

Status makeOne(KernelStore &store, BundleWriter &writer, bool verified, Built &kernel) {
  if (writer.keep(kernel.spec, verified)) {
    kernel.provider = "bundle";
    return Status::ok();
  }
  const Expected<KernelLookup> lookup = store.get(kernel.spec);
  if (!lookup)
    return asEnvironment(lookup.status());
  kernel.provider = lookup->provider;
  kernel.compileMs = lookup->compileMs;
  return writer.add(kernel.spec, *lookup->object);
}

/// All of them, `jobs` at a time; the first error in the specs' order.
Status makeAll(KernelStore &store, BundleWriter &writer, bool verified, std::vector<Built> &kernels,
               std::size_t jobs) {
  Progress progress(kernels.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  {
    std::vector<std::jthread> workers;
    for (std::size_t job = 0; job < std::min(jobs, kernels.size()); ++job)
      workers.emplace_back([&] {
        for (std::size_t at; (at = next.fetch_add(1)) < kernels.size() && !failed;) {
          kernels[at].status = makeOne(store, writer, verified, kernels[at]);
          if (!kernels[at].status.isOk())
            failed = true;
          progress.done(kernels[at].spec.kernelName());
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
    selection_.declare(app);
    app.add_option("-o,--output", output_, "Directory for the objects and manifest.json")
        ->required();
    app.add_option("--jobs", jobs_, "Compiles at a time; default: all cores");
    app.add_flag("--verify", verify_,
                 "Run each kernel on the emulator first; only those that pass go into the bundle");
  }

  Expected<Result> run() override {
    WAVESMITH_ASSIGN(std::vector<Built> kernels, check());
    WAVESMITH_TRY(checkOutput());
    const auto start = std::chrono::steady_clock::now();
    WAVESMITH_ASSIGN(KernelStoreOptions options, KernelStoreOptions::fromEnvironment());
    if (verify_)
      options.verifyOnEmulator();
    verify_ = options.verifiedOnly;
    options.bundles.anyToolchain = false; // the manifest names one toolchain, ours
    KernelStore store(std::move(options));
    WAVESMITH_ASSIGN(const std::unique_ptr<BundleWriter> writer,
                     BundleWriter::open(output_, store.toolchain()));
    WAVESMITH_TRY(makeAll(store, *writer, verify_, kernels, static_cast<std::size_t>(jobCount_)));
    std::vector<KernelSpec> specs;
    for (const Built &kernel : kernels)
      specs.push_back(kernel.spec);
    WAVESMITH_ASSIGN(const std::size_t removed, writer->finish(specs));

    Result result;
    result.json = {{"ok", true},
                   {"directory", output_},
                   {"manifest", (fs::path(output_) / BundleManifest::kName).string()},
                   {"kernels", Json::array()}};
    result.text = fmt::format("{:<58} {:>8}  {:<7} {:>10}\n", "kernel", "bytes", "from", "compile");
    std::size_t kept = 0;
    for (const Built &kernel : kernels) {
      const BundleEntry &entry = *writer->find(kernel.spec);
      kept += kernel.provider == "bundle";
      result.json["kernels"].push_back({{"name", entry.kernel},
                                        {"file", entry.file},
                                        {"spec", entry.specText},
                                        {"spec_key", entry.specKey},
                                        {"build_key", entry.buildKey},
                                        {"sha256", entry.sha256},
                                        {"bytes", entry.bytes},
                                        {"verified", !entry.verification.empty()},
                                        {"provider", kernel.provider},
                                        {"compile_ms", kernel.compileMs}});
      result.text += fmt::format("{:<58} {:>8}  {:<7} {:>7.1f} ms{}\n", entry.kernel, entry.bytes,
                                 kernel.provider, kernel.compileMs,
                                 entry.verification.empty() ? "" : "  verified");
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.json["kept"] = kept;
    result.json["removed"] = removed;
    result.json["seconds"] = seconds;
    result.text += fmt::format("{} kernels ({} were there, {} of earlier builds removed) in {:.1f} "
                               "s, {}\n",
                               kernels.size(), kept, removed, seconds,
                               result.json["manifest"].get<std::string>());
    return result;
  }

private:
  Expected<std::vector<Built>> check() {
    WAVESMITH_ASSIGN(std::vector<KernelSpec> specs, selection_.specs());
    jobCount_ = std::max(1u, std::thread::hardware_concurrency());
    if (!jobs_.empty()) {
      WAVESMITH_ASSIGN(jobCount_, parseCount("--jobs", jobs_, 1, 1024));
    }
    std::vector<Built> kernels;
    for (KernelSpec &spec : specs)
      kernels.push_back({.spec = std::move(spec)});
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

  KernelSelection selection_;
  std::string output_, jobs_;
  bool verify_ = false;
  std::int64_t jobCount_ = 0;
};

} // namespace

std::unique_ptr<Command> makeBuild() { return std::make_unique<Build>(); }

} // namespace wavesmith::cli
