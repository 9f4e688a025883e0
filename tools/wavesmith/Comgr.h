#pragma once
// A second opinion on a code object's metadata: AMD's comgr, loaded by dlopen where it is installed
// (it brings an LLVM of its own, so nothing links it). One call, main thread.

#include <string>
#include <vector>

#include "runtime/codeobject/CodeObject.h"

namespace wavesmith::cli {

struct ComgrOpinion {
  bool available = false;
  std::string version;                  ///< "2.4" of the interface
  std::string problem;                  ///< why it gave no opinion, when available
  std::vector<std::string> differences; ///< one sentence per field that it reads differently
};

ComgrOpinion askComgr(const CodeObject &object);

} // namespace wavesmith::cli
