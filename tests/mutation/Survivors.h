#pragma once
// The list of mutants that nothing can catch, each with the reason. Lines
// "<kernel> <mutation>: <reason>"; # starts a comment.

#include <map>
#include <string>

#include "runtime/support/Status.h"

namespace wavesmith::testing {

/// From "<kernel> <mutation>" to the reason.
Expected<std::map<std::string, std::string>> readSurvivors(const std::string &path);

} // namespace wavesmith::testing
