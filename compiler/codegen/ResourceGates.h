#pragma once
// What a code object says it needs, and the limits it must keep. A kernel with scratch, spills, too
// much LDS or more registers than its occupancy allows is an error that names figure and limit: a
// schedule that trips one is a bug. Stateless, any thread.

#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

namespace wavesmith::compiler {

/// From AMDGPU's metadata note and the symbol table.
struct KernelResources {
  std::string name;
  unsigned vgprs = 0; ///< of the unified file: vector and accumulation registers together
  unsigned agprs = 0; ///< accumulation registers among them
  unsigned sgprs = 0;
  unsigned vgprSpills = 0, sgprSpills = 0;
  unsigned ldsBytes = 0;     ///< static
  unsigned scratchBytes = 0; ///< per lane
  unsigned kernargBytes = 0;
  unsigned maxWorkgroupSize = 0;
  unsigned codeBytes = 0;
  bool dynamicStack = false;
};

struct ResourceLimits {
  unsigned ldsBytes = 65536;       ///< of the target, per workgroup
  unsigned registersPerLane = 512; ///< of a SIMD, all its waves together
  unsigned wavesPerSimd = 2;       ///< that must fit at once
  unsigned workgroupSize = 0;      ///< that must be launchable; 0 = not checked
  unsigned sgprSpills = 0;         ///< allowed spills to lanes of VGPRs

  /// Registers of one wave: a share of the file, in the allocation granule of eight.
  unsigned registersPerWave() const;
};

/// Every kernel of the object, in the order of its metadata.
llvm::Expected<std::vector<KernelResources>> readResources(llvm::ArrayRef<char> object);

/// Each limit that `kernel` breaks, as a sentence with figure and limit; empty = fine.
std::vector<std::string> resourceViolations(const KernelResources &kernel,
                                            const ResourceLimits &limits);
/// ResourceExhausted with all violations of all kernels.
llvm::Error checkResources(llvm::ArrayRef<KernelResources> kernels, const ResourceLimits &limits);

} // namespace wavesmith::compiler
