#pragma once
// Where LLVM IR text of a kernel can be broken in one place, and the text broken there. A site's
// name stays the same as long as the kernel's structure does, so a list can refer to it. Pure.

#include <cstddef>
#include <string>
#include <vector>

namespace wavesmith::testing {

enum class MutationKind {
  Wait,    ///< delete one s.waitcnt
  Barrier, ///< delete one s.barrier
  Mask,    ///< a score is taken where -inf was chosen for some lanes
};

struct MutationSite {
  MutationKind kind{};
  std::string name;      ///< "wait 3 in M_FA0": the third of its kind in the kernel, and where
  std::size_t begin = 0; ///< of the line in the text
  std::size_t end = 0;   ///< after its newline
};

/// In the order of the text.
std::vector<MutationSite> findMutations(const std::string &ir);
std::string mutate(const std::string &ir, const MutationSite &site);

} // namespace wavesmith::testing
