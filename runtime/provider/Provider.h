#pragma once
// Where code objects come from: one interface, "spec -> code object", and the chain of those that
// implement it (memory, disk, ... JIT). Thread-safe: any thread may ask any provider.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spec/KernelSpec.h"
#include "runtime/support/Status.h"

namespace wavesmith {

/// A compiled kernel as it is cached and loaded: bytes and where they came from.
struct CodeObjectBlob {
  std::vector<std::byte> bytes;
  std::string kernelName;
  std::string provider;     ///< "memory", "disk", "bundle", "remote", "jit"
  double compileMs = 0;     ///< wall time of the compile that made it; 0 when it was not now
  std::string verification; ///< JSON record of the checks that it passed; "" = none
};
using SharedCodeObject = std::shared_ptr<const CodeObjectBlob>;

/// Held while an object is being made for a provider's store, so that other processes wait for it
/// instead of making it too.
class Claim {
public:
  virtual ~Claim() = default;
};

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
  /// Asked after a miss, before an object is made: may wait until another process has made it, so
  /// the caller looks again afterwards. Null when there is nothing to hold.
  virtual std::unique_ptr<Claim> claim(const KernelSpec &) { return nullptr; }
  /// What this provider has right now, for messages; may read files.
  virtual std::vector<KernelSpec> list() const { return {}; }
  /// Whether get() makes the object if it has none: claims are taken before.
  virtual bool makes() const { return false; }
  /// Of one that makes objects: whether it could now.
  virtual bool canMake() { return false; }
  /// Whether earlier providers may keep copies of its objects. Not of objects that are at hand as
  /// they are, and that may be of another toolchain than the copies' keys say.
  virtual bool offersCopies() const { return true; }
  /// What keeps it from serving, for messages; "" when nothing does.
  virtual std::string trouble() const { return ""; }
};

} // namespace wavesmith
