#include "runtime/cache/KernelStore.h"

#include <chrono>

#include "runtime/provider/EmulatorVerifier.h"
#include "runtime/support/Env.h"
#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

std::vector<std::shared_ptr<Provider>> makeProviders(KernelStoreOptions options) {
  std::vector<std::shared_ptr<Provider>> providers;
  if (options.disk) {
    options.disk->toolchain = options.jit.toolchain;
    providers.push_back(std::make_shared<DiskCache>(*std::move(options.disk)));
  }
  if (!options.bundles.directories.empty()) {
    options.bundles.toolchain = options.jit.toolchain;
    providers.push_back(std::make_shared<BundleProvider>(std::move(options.bundles)));
  }
  if (options.remote) {
    options.remote->toolchain = options.jit.toolchain;
    providers.push_back(std::make_shared<RemoteCache>(*std::move(options.remote)));
  }
  providers.push_back(std::make_shared<JitProvider>(std::move(options.jit)));
  return providers;
}

} // namespace

Expected<KernelStoreOptions> KernelStoreOptions::fromEnvironment() {
  KernelStoreOptions options;
  WAVESMITH_ASSIGN(options.jit, JitOptions::fromEnvironment());
  WAVESMITH_ASSIGN(const bool verify, env::verifyKernels());
  if (verify)
    options.verifyOnEmulator();
  options.bundles.directories = env::bundleDirectories();
  WAVESMITH_ASSIGN(options.bundles.anyToolchain, env::anyBundleToolchain());
  WAVESMITH_ASSIGN(const std::uint64_t maxBytes, env::cacheSizeBytes());
  if (const std::string url = env::get("WAVESMITH_REMOTE"); !url.empty()) {
    if (!RedisClient::supported())
      return Status(
          StatusCode::Unsupported,
          "WAVESMITH_REMOTE is set, but this build has no Redis client; unset it, or build "
          "with hiredis and -DWAVESMITH_REDIS=ON");
    options.remote.emplace();
    WAVESMITH_ASSIGN(options.remote->address, RedisAddress::parse(url));
    WAVESMITH_ASSIGN(const std::uint64_t timeout, env::remoteTimeoutMs());
    options.remote->timeout = std::chrono::milliseconds(timeout);
  }
  Expected<std::string> directory = env::cacheDirectory();
  if (!directory) {
    log::warn("cache", "going on without the disk cache: {}", directory.status().message());
  } else if (*directory != "off") {
    options.disk.emplace();
    options.disk->directory = *std::move(directory);
    options.disk->maxBytes = maxBytes;
  }
  return options;
}

void KernelStoreOptions::verifyOnEmulator() {
  verifiedOnly = true;
  jit.verify = [verifier = VerifierOptions{.program = env::get("WAVESMITH_VERIFIER")}](
                   const KernelSpec &spec, const SharedCodeObject &object) {
    return wavesmith::verifyOnEmulator(spec, object, verifier);
  };
}

KernelStore::KernelStore(KernelStoreOptions options)
    : toolchain_(options.jit.toolchain), dumpDirectory_(options.jit.compile.dumpDirectory),
      memory_(options.memoryBytes),
      accept_(options.verifiedOnly ? ProviderChain::Accept::Verified : ProviderChain::Accept::Any),
      chain_(makeProviders(std::move(options)), accept_) {}

KernelStore::KernelStore(std::vector<std::shared_ptr<Provider>> providers, Toolchain toolchain,
                         std::uint64_t memoryBytes)
    : toolchain_(std::move(toolchain)), memory_(memoryBytes), chain_(std::move(providers)) {}

Expected<KernelLookup> KernelStore::get(const KernelSpec &spec) {
  WAVESMITH_TRY(spec.validate());
  const auto start = std::chrono::steady_clock::now();
  MemoryCache::Outcome outcome{};
  WAVESMITH_ASSIGN(
      SharedCodeObject object,
      memory_.getOrMake(buildKey(spec, toolchain_), [&] { return chain_.get(spec); }, &outcome));
  KernelLookup lookup;
  if (outcome == MemoryCache::Outcome::Hit) {
    lookup.provider = "memory";
  } else {
    lookup.provider = object->provider;
    lookup.compileMs = object->compileMs;
  }
  // What this process compiled was dumped then; asked for and missing is worth a line.
  if (!dumpDirectory_.empty() && object->provider != "jit" && !saidNoDump_.test_and_set())
    log::warn("cache",
              "nothing dumped to WAVESMITH_DUMP_DIR={}: the kernel came from the {} cache; "
              "WAVESMITH_CACHE_DIR=off compiles it again",
              dumpDirectory_, object->provider);
  lookup.object = std::move(object);
  lookup.lookupMs =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return lookup;
}

std::string_view KernelStore::wouldServe(const KernelSpec &spec) {
  if (memory_.has(buildKey(spec, toolchain_)))
    return "memory";
  const std::string_view provider = chain_.wouldServe(spec);
  return provider.empty() ? "missing" : provider;
}

KernelStoreCounters KernelStore::counters() const {
  return {memory_.counters(), chain_.counters()};
}

} // namespace wavesmith
