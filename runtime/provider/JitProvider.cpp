#include "runtime/provider/JitProvider.h"

#include <chrono>

#include <dlfcn.h>

#include "runtime/support/Env.h"
#include "runtime/support/Log.h"
#include "runtime/support/OwnDirectory.h"

namespace wavesmith {
namespace {

constexpr const char *kLibraryName = "libwavesmith-compiler.so";

} // namespace

Expected<JitOptions> JitOptions::fromEnvironment() {
  JitOptions options;
  WAVESMITH_ASSIGN(options.allowed, env::jitAllowed());
  options.compilerLibrary = env::get("WAVESMITH_COMPILER_LIBRARY");
  options.compile.templateDirectory = env::get("WAVESMITH_TEMPLATE_DIR");
  options.compile.dumpDirectory = env::get("WAVESMITH_DUMP_DIR");
  options.compile.reproducerDirectory = env::temporaryDirectory();
  if (!options.compile.templateDirectory.empty()) {
    WAVESMITH_ASSIGN(options.toolchain,
                     Toolchain::withTemplates(options.compile.templateDirectory));
  }
  return options;
}

JitProvider::JitProvider(JitOptions options) : options_(std::move(options)) {}

std::vector<std::string> compilerLibraryCandidates() {
  const std::string directory = ownDirectory();
  if (directory.empty())
    return {kLibraryName};
  return {directory + "/" + kLibraryName, directory + "/../lib/" + kLibraryName};
}

Expected<std::unique_ptr<KernelCompiler>> JitProvider::open() const {
  if (options_.create)
    return options_.create();
  std::vector<std::string> candidates = {options_.compilerLibrary};
  if (options_.compilerLibrary.empty())
    candidates = compilerLibraryCandidates();
  std::string tried;
  for (const std::string &path : candidates) {
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      // glibc's text starts with the path.
      const char *reason = ::dlerror(); // NOLINT(concurrency-mt-unsafe): per thread in glibc
      tried += fmt::format("{}{}", tried.empty() ? "" : "; ", reason ? reason : path.c_str());
      continue;
    }
    using Create = KernelCompiler *();
    auto *create = reinterpret_cast<Create *>(::dlsym(library, "wavesmithCompilerCreate"));
    if (!create)
      return error(StatusCode::Unsupported,
                   "{} is not a Wavesmith compiler: it exports no wavesmithCompilerCreate", path);
    std::unique_ptr<KernelCompiler> compiler(create());
    if (!compiler)
      return error(StatusCode::Internal, "{} created no compiler", path);
    log::info("jit", "compiler loaded path={}", path);
    return compiler;
  }
  return error(StatusCode::Unsupported, "no compiler library to make the kernel with: {}", tried);
}

Expected<KernelCompiler *> JitProvider::compiler() {
  const std::lock_guard lock(mutex_);
  if (!tried_) {
    tried_ = true;
    Expected<std::unique_ptr<KernelCompiler>> opened = open();
    if (!opened) {
      failure_ = opened.status();
    } else {
      compiler_ = *std::move(opened);
      const std::string theirs = compiler_->buildId();
      const std::string &ours = Toolchain::builtin().compilerBuild;
      if (theirs != ours) {
        compiler_.reset();
        failure_ = error(StatusCode::Unsupported,
                         "the compiler library is of build {}, this runtime of build {}; both must "
                         "come from one build",
                         theirs, ours);
      }
    }
  }
  if (!compiler_)
    return failure_;
  return compiler_.get();
}

bool JitProvider::loaded() const {
  const std::lock_guard lock(mutex_);
  return compiler_ != nullptr;
}

Expected<SharedCodeObject> JitProvider::get(const KernelSpec &spec) {
  if (!options_.allowed)
    return error(StatusCode::JitForbidden,
                 "WAVESMITH_JIT=forbid and no prebuilt kernel for [{}]: spec key {}, build key {}",
                 spec.text(), spec.key(), buildKey(spec, options_.toolchain));
  WAVESMITH_ASSIGN(KernelCompiler * compiler, this->compiler());
  const auto start = std::chrono::steady_clock::now();
  Expected<CodeObjectBlob> blob = compiler->compile(spec, options_.compile);
  if (!blob)
    return blob.status();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  auto object = std::make_shared<CodeObjectBlob>(*std::move(blob));
  object->provider = "jit";
  object->compileMs = elapsed.count();
  if (object->bytes.empty())
    return error(StatusCode::Internal, "the compiler returned an empty object for [{}]",
                 spec.text());
  if (object->kernelName.empty())
    object->kernelName = spec.kernelName();
  log::info("jit", "compiled kernel={} ms={:.1f} bytes={}", object->kernelName, object->compileMs,
            object->bytes.size());
  if (options_.verify) {
    WAVESMITH_ASSIGN(object->verification, options_.verify(spec, object));
  }
  return SharedCodeObject(std::move(object));
}

} // namespace wavesmith
