#pragma once
// Which path one sequence of a batch takes, BF16 or FP8: rules as data. A policy is a list of rules
// read from JSON (docs/schemas/policy.json); the first whose conditions all hold decides. Policies
// and decisions are values; any thread.
//
// Whatever a policy or a caller says, FP8 needs a kernel and scales: checkFp8() stands behind the
// rules and behind explicit requests.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/dispatch/policy/Condition.h"
#include "runtime/support/Status.h"

namespace wavesmith::policy {

/// Bf16 takes 16-bit inputs as they are, f16 ones too.
enum class Path : std::uint8_t { Bf16, Fp8, Refuse };
std::string_view pathName(Path path); ///< "bf16", "fp8", "refuse"

struct Rule {
  std::string name;
  std::vector<Condition> when; ///< all must hold; none: always
  Path path = Path::Bf16;
  std::string reason; ///< one sentence for people
};

/// One change of a single value after which another path is taken.
struct Flip {
  std::string variable, value; ///< "q_len", "1024"
  Path path = Path::Bf16;
  std::string rule;
};

struct Decision {
  Path path = Path::Bf16;
  std::string rule;
  std::string reason; ///< the rule's, with the source of a measured threshold
  std::vector<Flip> flips;
};

/// Ok, or why these values cannot take the FP8 path: no kernel, or no scales.
Status checkFp8(const Values &values);

class Policy {
public:
  /// `origin` (a path, a preset's name) leads every message. The message names rule, field, value
  /// and what would be right. The last rule must have no condition, so that one always decides.
  static Expected<Policy> parse(std::string_view json, std::string_view origin);
  static Expected<Policy> load(const std::string &file);
  /// One of presetNames(); the error lists them.
  static Expected<Policy> preset(std::string_view name);
  static std::vector<std::string_view> presetNames();
  /// A preset's name, or a file: something with a / or ending in .json.
  static Expected<Policy> named(const std::string &presetOrFile);
  /// What WAVESMITH_POLICY names; else the preset "default".
  static Expected<Policy> fromEnvironment();

  /// The path of one sequence, and what would change it.
  Decision decide(const Values &values, const Crossovers &crossovers = {}) const;

  const std::string &name() const { return name_; }
  const std::string &origin() const { return origin_; }
  const std::vector<Rule> &rules() const { return rules_; }

private:
  struct Outcome {
    const Rule *rule;
    Path path;
    std::string reason;
  };
  Outcome evaluate(const Values &values, const Crossovers &crossovers) const;

  std::string name_, origin_;
  std::vector<Rule> rules_;
};

} // namespace wavesmith::policy
