#pragma once
// Running a call for a subcommand: a session, and the stages shown on a terminal. What is missing
// is the machine's fault. Main thread.

#include <memory>

#include "runtime/session/Session.h"
#include "runtime/support/Status.h"

namespace wavesmith::cli {

Expected<std::unique_ptr<Session>> openSession(DeviceChoice device);
Expected<RunReport> runShowingStages(Session &session, RunRequest request);

} // namespace wavesmith::cli
