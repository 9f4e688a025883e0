#include "runtime/dispatch/DecisionJson.h"

#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

namespace wavesmith {
namespace {

using Json = nlohmann::ordered_json;

Json valuesJson(const policy::Values &values) {
  Json json = Json::object();
  for (const policy::Variable &variable : policy::variables())
    std::visit([&](const auto &value) { json[std::string(variable.name)] = value; },
               variable.get(values));
  return json;
}

Json choiceJson(const Decisions::Choice &choice, DType inputs) {
  const policy::Decision &decision = choice.decision;
  Json flips = Json::array();
  for (const policy::Flip &flip : decision.flips)
    flips.push_back({{"variable", flip.variable},
                     {"value", flip.value},
                     {"path", pathName(flip.path, inputs)},
                     {"rule", flip.rule}});
  return {{"path", pathName(decision.path, inputs)},
          {"rule", decision.rule},
          {"reason", decision.reason},
          {"values", valuesJson(choice.values)},
          {"flips", std::move(flips)}};
}

} // namespace

void putDecisions(const Decisions &decisions, Json &into) {
  Json sequences = Json::array();
  for (const Decisions::Choice &choice : decisions.choices) {
    Json one = choiceJson(choice, decisions.inputs);
    if (decisions.choices.size() == 1)
      into.update(one);
    one["sequences"] = choice.sequences;
    sequences.push_back(std::move(one));
  }
  into["sequences"] = std::move(sequences);
}

} // namespace wavesmith
