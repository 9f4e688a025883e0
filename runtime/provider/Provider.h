#pragma once
// Where code objects come from: one interface, "spec -> code object", and the chain of those that
// implement it (memory, disk, ... JIT). Thread-safe: any thread may ask any provider.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith {

/// A compiled kernel as it is cached and loaded: bytes and where they came from.
struct CodeObjectBlob {
  std::vector<std::byte> bytes;
  std::string kernelName;
  std::string provider; ///< "memory", "disk", "bundle", "remote", "jit"
  double compileMs = 0; ///< wall time of the compile that made it; 0 when it was not now
};
using SharedCodeObject = std::shared_ptr<const CodeObjectBlob>;

class Provider {
public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  /// The object, or NotFound when this provider has none and the next may be asked; any other
  /// error ends the search.
  virtual Expected<SharedCodeObject> get(const KernelSpec &spec) = 0;
  /// Offers an object that a later provider made; keeping it is optional, failing to is reported
  /// by log and never fails the request.
  virtual void put(const KernelSpec &, const SharedCodeObject &) {}
};

} // namespace wavesmith
