#include "runtime/hip/HipTable.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include <dlfcn.h>

#include "runtime/support/Env.h"
#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

constexpr const char *kEmulatorLibrary = "libwavesmith-hip-emulator.so";
constexpr std::string_view kTargets[] = {"gfx942", "gfx950"};

// Where HIP's property functions put gcnArchName: the 5.2 layout, and that of ROCm 6 and later
// (1472 bytes). The buffer has room for a layout that grew.
constexpr std::size_t kArchOffset = 396, kArchOffsetR0600 = 1160, kPropertyBytes = 8192;
static_assert(offsetof(hipDeviceProp_t, gcnArchName) == kArchOffset);

template <typename Function> Function symbol(void *library, const char *name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// Directories in which our own libraries may lie: beside this code, in ../lib of it and of the
/// executable.
std::vector<std::string> libraryDirectories() {
  std::vector<std::string> directories;
  const auto add = [&](const std::filesystem::path &file) {
    if (file.empty())
      return;
    directories.push_back(file.parent_path().string());
    directories.push_back((file.parent_path() / "../lib").string());
  };
  Dl_info self;
  if (dladdr(reinterpret_cast<const void *>(&libraryDirectories), &self) && self.dli_fname)
    add(self.dli_fname);
  std::error_code ignored;
  add(std::filesystem::read_symlink("/proc/self/exe", ignored));
  return directories;
}

std::string baseTarget(std::string_view arch) {
  return std::string(arch.substr(0, arch.find(':')));
}

StatusCode statusCodeOf(hipError_t code, bool emulator) {
  switch (code) {
  case hipErrorOutOfMemory:
    return StatusCode::ResourceExhausted;
  case hipErrorInvalidImage:
    return StatusCode::Corrupt;
  case hipErrorNoBinaryForGpu:
    return StatusCode::Unsupported;
  case hipErrorNotFound:
  case hipErrorFileNotFound:
    return StatusCode::NotFound;
  case hipErrorInvalidConfiguration:
    return StatusCode::InvalidArgument;
  case hipErrorLaunchFailure:
    return emulator ? StatusCode::EmulationFault : StatusCode::DeviceError;
  default:
    return StatusCode::DeviceError;
  }
}

} // namespace

Expected<DeviceChoice> parseDeviceChoice(std::string_view text) {
  if (text == "auto")
    return DeviceChoice::Auto;
  if (text == "hip")
    return DeviceChoice::Hip;
  if (text == "emulator")
    return DeviceChoice::Emulator;
  return error(StatusCode::InvalidArgument, "device '{}': want auto, hip or emulator", text);
}

Expected<std::shared_ptr<HipTable>> HipTable::bind(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    return error(StatusCode::NotFound, "cannot load {}: {}", path, reason ? reason : "unknown");
  }
  auto table = std::make_shared<HipTable>();
  table->library_ = path;
#define REQUIRED(name)                                                                             \
  table->name = symbol<decltype(table->name)>(library, #name);                                     \
  if (!table->name)                                                                                \
    return error(StatusCode::Unsupported, "{} has no function {}; it is no HIP runtime we know",   \
                 path, #name);
#define TYPED(name, ...) REQUIRED(name)
#define OPTIONAL(name) table->name = symbol<decltype(table->name)>(library, #name);
#define NEWER(name, ...) OPTIONAL(name)
#define EMULATOR(name, ...) OPTIONAL(name)
#include "runtime/hip/HipFunctions.def"
#undef REQUIRED
#undef TYPED
#undef OPTIONAL
#undef NEWER
#undef EMULATOR
  // Not in the 5.2 headers, and the old symbol has the old layout in every release.
  table->propertiesR0600_ =
      symbol<decltype(table->propertiesR0600_)>(library, "hipGetDevicePropertiesR0600");
  return table;
}

Expected<std::shared_ptr<HipTable>> HipTable::load(const std::string &path) {
  WAVESMITH_ASSIGN(std::shared_ptr<HipTable> table, bind(path));
  // It has its own copy of the log, which would complain of a bad WAVESMITH_LOG once more.
  if (table->wavesmithEmulatorLog)
    table->wavesmithEmulatorLog(log::settings().c_str());
  const hipError_t started = table->hipInit(0);
  // The emulator refuses to start only for settings that it cannot read: its caller's mistake.
  if (started != hipSuccess && table->isEmulator())
    return Status(StatusCode::InvalidArgument, table->wavesmithEmulatorLastError());
  WAVESMITH_TRY(table->check(started, "hipInit").withContext(path));
  return table;
}

Expected<DeviceInfo> HipTable::queryDevice(int ordinal) const {
  DeviceInfo info;
  info.ordinal = ordinal;
  std::vector<char> properties(kPropertyBytes);
  std::size_t offset = kArchOffsetR0600;
  if (propertiesR0600_) {
    WAVESMITH_TRY(
        check(propertiesR0600_(
                  reinterpret_cast<WavesmithDevicePropertiesR0600 *>(properties.data()), ordinal),
              "hipGetDeviceProperties"));
  } else if (hipGetDeviceProperties) {
    offset = kArchOffset;
    WAVESMITH_TRY(check(
        hipGetDeviceProperties(reinterpret_cast<hipDeviceProp_t *>(properties.data()), ordinal),
        "hipGetDeviceProperties"));
  } else {
    return error(StatusCode::Unsupported, "{} has no hipGetDeviceProperties", library_);
  }
  const char *arch = properties.data() + offset;
  info.target = baseTarget({arch, strnlen(arch, 256)});
  if (!info.target.starts_with("gfx"))
    return error(StatusCode::Unsupported,
                 "{}: device {} does not say its architecture; its properties have a layout we do "
                 "not know",
                 library_, ordinal);
  char name[256] = {};
  WAVESMITH_TRY(check(hipDeviceGetName(name, sizeof(name), ordinal), "hipDeviceGetName"));
  info.name = name;
  int lds = 0;
  WAVESMITH_TRY(check(
      hipDeviceGetAttribute(&info.computeUnits, hipDeviceAttributeMultiprocessorCount, ordinal),
      "hipDeviceGetAttribute(MultiprocessorCount)"));
  WAVESMITH_TRY(
      check(hipDeviceGetAttribute(&lds, hipDeviceAttributeMaxSharedMemoryPerBlock, ordinal),
            "hipDeviceGetAttribute(MaxSharedMemoryPerBlock)"));
  WAVESMITH_TRY(check(hipDeviceGetAttribute(&info.clockKhz, hipDeviceAttributeClockRate, ordinal),
                      "hipDeviceGetAttribute(ClockRate)"));
  info.ldsBytes = static_cast<std::uint64_t>(lds);
  return info;
}

Status HipTable::selectDevice(int wanted) {
  int count = 0;
  WAVESMITH_TRY(check(hipGetDeviceCount(&count), "hipGetDeviceCount"));
  std::string seen;
  std::optional<DeviceInfo> first;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    WAVESMITH_ASSIGN(DeviceInfo info, queryDevice(ordinal));
    seen += fmt::format("{}{} {}", seen.empty() ? "" : ", ", ordinal, info.target);
    if (std::ranges::find(kTargets, info.target) == std::end(kTargets))
      continue;
    if (wanted == ordinal || wanted == kFirstUsable) {
      device_ = std::move(info);
      return Status::ok();
    }
    if (!first)
      first = std::move(info);
  }
  if (first)
    return error(StatusCode::InvalidArgument, "device {} is no gfx942 or gfx950; {} has: {}",
                 wanted, library_, seen);
  return error(StatusCode::Unsupported, "{}: {} devices{}{}; want gfx942 or gfx950", library_,
               count, seen.empty() ? "" : ": ", seen);
}

Status HipTable::makeCurrent() const {
  return check(hipSetDevice(device_.ordinal), "hipSetDevice");
}

Expected<std::shared_ptr<HipTable>> HipTable::openHip(int ordinal) {
  std::vector<std::string> names = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                    "libamdhip64.so"};
  if (const auto path = env::find("WAVESMITH_HIP_LIBRARY"))
    names = {*path};
  Status first;
  for (const std::string &name : names) {
    auto table = load(name);
    if (table) {
      WAVESMITH_TRY((*table)->selectDevice(ordinal));
      return table;
    }
    // A library that exists but does not work says more than one that is missing.
    if (first.isOk() || table.status().code() != StatusCode::NotFound)
      first = table.status();
  }
  return first;
}

Expected<std::shared_ptr<HipTable>> HipTable::openEmulator(int ordinal) {
  std::string path;
  if (const auto configured = env::find("WAVESMITH_EMULATOR_LIBRARY")) {
    path = *configured;
  } else {
    std::string tried;
    for (const std::string &directory : libraryDirectories()) {
      const std::string candidate = directory + "/" + kEmulatorLibrary;
      if (std::error_code ignored; std::filesystem::exists(candidate, ignored)) {
        path = candidate;
        break;
      }
      tried += (tried.empty() ? "" : ", ") + directory;
    }
    if (path.empty())
      return error(StatusCode::NotFound, "no {} in {}; WAVESMITH_EMULATOR_LIBRARY can name it",
                   kEmulatorLibrary, tried);
  }
  WAVESMITH_ASSIGN(std::shared_ptr<HipTable> table, load(path));
  if (!table->isEmulator())
    return error(StatusCode::InvalidArgument, "{} is not the emulator's HIP library", path);
  WAVESMITH_TRY(table->selectDevice(ordinal));
  return table;
}

Expected<std::shared_ptr<const HipTable>> HipTable::open(DeviceChoice choice) {
  WAVESMITH_ASSIGN(std::shared_ptr<const HipTable> table, open(choice, kFirstUsable));
  WAVESMITH_TRY(table->makeCurrent());
  return table;
}

Expected<std::shared_ptr<const HipTable>> HipTable::open(DeviceChoice choice, int ordinal) {
  const auto share =
      [](Expected<std::shared_ptr<HipTable>> table) -> Expected<std::shared_ptr<const HipTable>> {
    if (!table)
      return table.status();
    return std::shared_ptr<const HipTable>(*std::move(table));
  };
  if (choice == DeviceChoice::Emulator)
    return share(openEmulator(ordinal));
  // Without the kernel driver there is no AMD device, and loading ROCm to hear that is slow.
  std::error_code ignored;
  const bool driver = std::filesystem::exists("/dev/kfd", ignored) ||
                      env::find("WAVESMITH_HIP_LIBRARY").has_value();
  // Who names a library wants that one: a typing error must not end in the emulator.
  if (const auto named = env::find("WAVESMITH_HIP_LIBRARY"); named && choice == DeviceChoice::Auto)
    if (const auto bound = bind(*named); !bound)
      return error(StatusCode::InvalidArgument, "WAVESMITH_HIP_LIBRARY: {}; correct or unset it",
                   bound.status().message());
  std::string reason = "no amdgpu driver (/dev/kfd)";
  if (choice == DeviceChoice::Hip || driver) {
    auto table = openHip(ordinal);
    if (table)
      return share(std::move(table));
    // A device that HIP has and that is the wrong one was asked for by number: no fallback.
    if (choice == DeviceChoice::Auto && table.status().code() == StatusCode::InvalidArgument)
      return table.status();
    if (choice == DeviceChoice::Hip)
      return error(table.status().code(), "no usable GPU: {}; the device emulator needs none",
                   table.status().message());
    reason = table.status().message();
  }
  static std::atomic_flag said;
  if (!said.test_and_set())
    log::info("hip", "using the emulator reason=\"{}\"", reason);
  auto emulator = openEmulator(ordinal);
  if (!emulator && emulator.status().code() == StatusCode::InvalidArgument)
    return emulator.status();
  if (!emulator)
    return error(emulator.status().code(), "no GPU ({}) and no emulator: {}", reason,
                 emulator.status().message());
  return share(std::move(emulator));
}

Status HipTable::check(hipError_t code, std::string_view call) const {
  if (code == hipSuccess)
    return Status::ok();
  std::string message =
      fmt::format("{}: {} ({})", call, hipGetErrorName(code), hipGetErrorString(code));
  if (isEmulator()) {
    std::string reason = code == hipErrorLaunchFailure ? wavesmithEmulatorLastFault() : "";
    if (reason.empty())
      reason = wavesmithEmulatorLastError();
    if (!reason.empty())
      message += ": " + reason;
  }
  return Status(statusCodeOf(code, isEmulator()), std::move(message));
}

} // namespace wavesmith
