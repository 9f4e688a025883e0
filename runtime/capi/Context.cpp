#include "runtime/capi/Context.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/capi/Call.h"
#include "runtime/dispatch/tuning/TuningDatabase.h"
#include "runtime/support/Env.h"
#include "runtime/support/Hash.h"

namespace wavesmith::capi {
namespace {

constexpr std::size_t kDefaultPlans = 1024;

/// Text of a field that may be null; InvalidArgument when it is empty.
Expected<std::optional<std::string>> textOf(const char *field, std::string_view name) {
  if (!field)
    return std::optional<std::string>();
  if (!*field)
    return error(StatusCode::InvalidArgument, "{} is empty; null means the default", name);
  return std::optional<std::string>(field);
}

Expected<DeviceChoice> deviceChoice(std::int32_t device) {
  switch (device) {
  case WAVESMITH_DEVICE_DEFAULT:
    return parseDeviceChoice(env::get("WAVESMITH_DEVICE"));
  case WAVESMITH_DEVICE_AUTO:
    return DeviceChoice::Auto;
  case WAVESMITH_DEVICE_HIP:
    return DeviceChoice::Hip;
  case WAVESMITH_DEVICE_EMULATOR:
    return DeviceChoice::Emulator;
  default:
    return error(StatusCode::InvalidArgument,
                 "options.device is {}; want 0 (default), 1 (auto), 2 (hip) or 3 (emulator)",
                 device);
  }
}

Expected<KernelStoreOptions> storeOptions(const wavesmith_context_options &options) {
  WAVESMITH_ASSIGN(const std::optional<std::string> directory,
                   textOf(options.cache_directory, "options.cache_directory"));
  WAVESMITH_ASSIGN(KernelStoreOptions store, KernelStoreOptions::fromEnvironment());
  if (directory && *directory == "off") {
    store.disk.reset();
  } else if (directory) {
    store.disk.emplace();
    store.disk->directory = *directory;
    WAVESMITH_ASSIGN(store.disk->maxBytes, env::cacheSizeBytes());
  }
  WAVESMITH_ASSIGN(const std::optional<std::string> bundles,
                   textOf(options.bundles, "options.bundles"));
  if (bundles)
    store.bundles.directories = env::splitPaths(*bundles);
  switch (options.jit) {
  case WAVESMITH_JIT_DEFAULT:
    break;
  case WAVESMITH_JIT_ALLOW:
    store.jit.allowed = true;
    break;
  case WAVESMITH_JIT_FORBID:
    store.jit.allowed = false;
    break;
  default:
    return error(StatusCode::InvalidArgument,
                 "options.jit is {}; want 0 (default), 1 (allow) or 2 (forbid)", options.jit);
  }
  return store;
}

/// Contexts with equal cache options share a store: eight devices of a process compile once.
std::shared_ptr<KernelStore> sharedStore(KernelStoreOptions options) {
  static std::mutex mutex;
  // Outlives every caller.
  static auto &stores = *new std::map<std::vector<std::string>, std::weak_ptr<KernelStore>>;
  const RedisAddress remote = options.remote ? options.remote->address : RedisAddress();
  std::vector<std::string> key = {
      options.disk ? options.disk->directory : "",
      fmt::format("{} {} {} {} {} {} {}", options.disk ? options.disk->maxBytes : 0,
                  options.jit.allowed, options.verifiedOnly, options.bundles.anyToolchain,
                  remote.port, remote.database,
                  options.remote ? options.remote->timeout.count() : 0),
      remote.host,
      remote.password,
      options.jit.compilerLibrary,
      options.jit.compile.templateDirectory,
      options.jit.compile.dumpDirectory,
      options.jit.compile.reproducerDirectory};
  key.insert(key.end(), options.bundles.directories.begin(), options.bundles.directories.end());
  const std::lock_guard lock(mutex);
  std::weak_ptr<KernelStore> &known = stores[key];
  std::shared_ptr<KernelStore> store = known.lock();
  if (!store) {
    store = std::make_shared<KernelStore>(std::move(options));
    known = store;
  }
  return store;
}

Expected<policy::Policy> choosePolicy(const char *field) {
  WAVESMITH_ASSIGN(const std::optional<std::string> text, textOf(field, "options.policy"));
  if (!text)
    return policy::Policy::fromEnvironment();
  if (text->front() == '{')
    return policy::Policy::parse(*text, "options.policy");
  return policy::Policy::named(*text);
}

Expected<tuning::Tuning> chooseTuning(const char *field, const DeviceInfo &device,
                                      const Toolchain &toolchain) {
  WAVESMITH_ASSIGN(const std::optional<std::string> path, textOf(field, "options.tuning"));
  Expected<tuning::Tuning> tuning =
      tuning::tuningFor(path.value_or(env::get("WAVESMITH_TUNING")), device.name, toolchain);
  if (!tuning && !path)
    return tuning.status().withContext("WAVESMITH_TUNING");
  return tuning;
}

} // namespace

Expected<std::shared_ptr<Context>> Context::create(const wavesmith_context_options *given) {
  wavesmith_context_options options{};
  options.ordinal = WAVESMITH_FIRST_USABLE;
  if (given)
    WAVESMITH_TRY(readStruct(given, options, sizeof(options.size), "options"));
  if (options.ordinal < WAVESMITH_FIRST_USABLE)
    return error(StatusCode::InvalidArgument,
                 "options.ordinal is {}; want a device number, or -1 for the first usable",
                 options.ordinal);
  WAVESMITH_ASSIGN(policy::Policy policy, choosePolicy(options.policy));
  WAVESMITH_ASSIGN(const DeviceChoice choice, deviceChoice(options.device));
  WAVESMITH_ASSIGN(KernelStoreOptions store, storeOptions(options));
  WAVESMITH_ASSIGN(HipTablePtr table, HipTable::open(choice, options.ordinal));
  // A process's first digest starts the crypto library: here, and not in its first plan.
  (void)sha256Hex("");
  auto device = std::make_shared<Device>(std::move(table), sharedStore(std::move(store)));
  WAVESMITH_ASSIGN(const tuning::Tuning tuning,
                   chooseTuning(options.tuning, device->info(), device->store().toolchain()));
  return std::make_shared<Context>(std::move(device), std::move(policy), tuning.crossovers(),
                                   options.plan_cache_entries ? options.plan_cache_entries
                                                              : kDefaultPlans);
}

HandleTable<Context> &contexts() {
  static auto &table = *new HandleTable<Context>(HandleKind::Context); // outlives every caller
  return table;
}

Expected<HandleTable<Context>::Use> use(wavesmith_context context) {
  const auto handle = reinterpret_cast<std::uint64_t>(context);
  HandleTable<Context>::Use found = contexts().use(handle);
  if (!found)
    return badHandle(handle, HandleKind::Context);
  return found;
}

} // namespace wavesmith::capi

using namespace wavesmith;
using namespace wavesmith::capi;

wavesmith_status wavesmith_context_create(const wavesmith_context_options *options,
                                          wavesmith_context *context) {
  return call("wavesmith_context_create", [&]() -> Status {
    if (!context)
      return isNull("context");
    WAVESMITH_ASSIGN(std::shared_ptr<Context> made, Context::create(options));
    WAVESMITH_ASSIGN(const std::uint64_t handle, contexts().add(std::move(made)));
    *context = reinterpret_cast<wavesmith_context>(handle);
    return Status::ok();
  });
}

wavesmith_status wavesmith_context_destroy(wavesmith_context context) {
  return call("wavesmith_context_destroy", [&]() -> Status {
    const auto handle = reinterpret_cast<std::uint64_t>(context);
    return contexts().remove(handle) ? Status::ok() : badHandle(handle, HandleKind::Context);
  });
}

wavesmith_status wavesmith_context_get_info(wavesmith_context context,
                                            wavesmith_context_info *info) {
  return call("wavesmith_context_get_info", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    const DeviceInfo &device = found->device->info();
    WAVESMITH_ASSIGN(const Target target, parseTarget(device.target));
    wavesmith_context_info filled{};
    filled.ordinal = device.ordinal;
    filled.is_emulator = found->device->table().isEmulator();
    filled.compute_units = device.computeUnits;
    filled.fp8_format = static_cast<std::int32_t>(target.fp8);
    filled.name = device.name.c_str();
    filled.target = device.target.c_str();
    filled.library = found->device->table().library().c_str();
    filled.policy = found->policy.name().c_str();
    return writeStruct(info, filled, "info");
  });
}

wavesmith_status wavesmith_get_statistics(wavesmith_context context,
                                          wavesmith_statistics *statistics) {
  return call("wavesmith_get_statistics", [&]() -> Status {
    WAVESMITH_ASSIGN(const auto found, use(context));
    const Counters &counters = found->device->counters;
    const KernelStoreCounters kernels = found->device->store().counters();
    wavesmith_statistics filled{};
    filled.plans = counters.plans.load(std::memory_order_relaxed);
    filled.plan_hits = counters.planHits.load(std::memory_order_relaxed);
    filled.launches = counters.launches.load(std::memory_order_relaxed);
    filled.refusals = counters.refusals.load(std::memory_order_relaxed);
    filled.kernels_loaded = found->device->kernelsLoaded();
    filled.memory_hits = kernels.memory.hits;
    filled.waits = kernels.memory.waits;
    filled.failures = kernels.memory.failures;
    for (const ProviderCounters &provider : kernels.providers) {
      const struct {
        const char *name;
        std::uint64_t &hits;
      } known[] = {{"disk", filled.disk_hits},
                   {"bundle", filled.bundle_hits},
                   {"remote", filled.remote_hits},
                   {"jit", filled.compiles}};
      for (const auto &row : known)
        if (provider.name == row.name)
          row.hits += provider.hits;
    }
    return writeStruct(statistics, filled, "statistics");
  });
}
