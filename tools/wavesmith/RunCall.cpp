#include "tools/wavesmith/RunCall.h"

#include <string_view>
#include <utility>

#include "tools/wavesmith/Command.h"
#include "tools/wavesmith/Progress.h"

namespace wavesmith::cli {

Expected<std::unique_ptr<Session>> openSession(DeviceChoice device) {
  auto session = Session::create({.device = device, .store = std::nullopt});
  if (!session)
    return asEnvironment(session.status());
  return session;
}

Expected<RunReport> runShowingStages(Session &session, RunRequest request) {
  Stage stage; // clears its line when it goes
  request.progress = [&stage](std::string_view name) { stage.enter(name); };
  Expected<RunReport> report = session.run(request);
  if (!report)
    return asEnvironment(report.status());
  return report;
}

} // namespace wavesmith::cli
