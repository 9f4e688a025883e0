#pragma once
// The HIP functions that the runtime calls, filled at run time from libamdhip64 or from the
// emulator's library: there is no link-time HIP and one device interface. Immutable once opened,
// any thread; the library stays loaded for the life of the process.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <hip/hip_runtime_api.h>

#include "runtime/support/Status.h"

struct WavesmithDevicePropertiesR0600; ///< newer than the 5.2 headers; read by offset

namespace wavesmith {

enum class DeviceChoice {
  Auto,     ///< real HIP when it has a gfx942 or gfx950 device, else the emulator
  Hip,      ///< real HIP or an error
  Emulator, ///< the emulator, also where a GPU is present
};
/// "auto", "hip" or "emulator".
Expected<DeviceChoice> parseDeviceChoice(std::string_view text);

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  std::string target; ///< "gfx942" or "gfx950"
  int computeUnits = 0;
  int clockKhz = 0;
  std::uint64_t ldsBytes = 0; ///< per workgroup
};

class HipTable {
public:
#define REQUIRED(name) decltype(&::name) name = nullptr;
#define TYPED(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#define OPTIONAL(name) decltype(&::name) name = nullptr;
#define NEWER(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#define EMULATOR(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "runtime/hip/HipFunctions.def"
#undef REQUIRED
#undef TYPED
#undef OPTIONAL
#undef NEWER
#undef EMULATOR

  /// Loads a library, initialises it and makes its first gfx942 or gfx950 device current on this
  /// thread. `Hip` never falls back. The message of Auto says why HIP was passed over.
  static Expected<std::shared_ptr<const HipTable>> open(DeviceChoice choice);
  /// The same with the device of that number, kFirstUsable for the first that is a gfx942 or
  /// gfx950. The calling thread's current device stays as it is. A device that HIP has and that is
  /// of another kind is an error, also with Auto.
  static Expected<std::shared_ptr<const HipTable>> open(DeviceChoice choice, int ordinal);
  static constexpr int kFirstUsable = -1;

  bool isEmulator() const { return wavesmithEmulatorConfigure != nullptr; }
  const std::string &library() const { return library_; }
  const DeviceInfo &device() const { return device_; }
  /// Makes the device current on the calling thread. HIP keeps that per thread.
  Status makeCurrent() const;
  /// Asks the device again: the emulator's chip may have been changed.
  Expected<DeviceInfo> queryDevice(int ordinal) const;

  /// Ok, or an error that names the call, HIP's error and, on the emulator, the reason.
  Status check(hipError_t code, std::string_view call) const;

private:
  /// The library and its functions; nothing is called yet.
  static Expected<std::shared_ptr<HipTable>> bind(const std::string &path);
  static Expected<std::shared_ptr<HipTable>> load(const std::string &path);
  static Expected<std::shared_ptr<HipTable>> openHip(int ordinal);
  static Expected<std::shared_ptr<HipTable>> openEmulator(int ordinal);
  Status selectDevice(int ordinal);

  std::string library_;
  hipError_t (*propertiesR0600_)(WavesmithDevicePropertiesR0600 *, int) = nullptr;
  DeviceInfo device_;
};

} // namespace wavesmith
