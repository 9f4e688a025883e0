#include "runtime/dispatch/tuning/Tuning.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

#include "runtime/dispatch/AttentionProblem.h"
#include "runtime/support/Hash.h"

namespace wavesmith::tuning {
namespace {

using policy::Crossover;
using policy::Path;
using policy::Values;

template <typename... Args> Status wrong(fmt::format_string<Args...> format, Args &&...args) {
  return error(StatusCode::InvalidArgument, format, std::forward<Args>(args)...);
}

/// Microseconds of both paths, by length; 0 where there is no record.
struct Pair {
  double bf16 = 0, fp8 = 0;
};
using Pairs = std::map<std::int64_t, Pair>;

bool isComplete(const Pairs::value_type &pair) {
  return pair.second.bf16 > 0 && pair.second.fp8 > 0;
}

} // namespace

std::string_view sourceName(Record::Source source) {
  return source == Record::Source::Measured ? "measured" : "modelled";
}

Status Record::validate() const {
  constexpr std::size_t kMaxText = 64;
  for (const auto &[name, text] : {std::pair{"device", &device},
                                   {"target", &target},
                                   {"head_dim", &headDim},
                                   {"toolchain", &toolchain}})
    if (text->empty() || text->size() > kMaxText)
      return wrong("{} has {} bytes; want 1 to {}", name, text->size(), kMaxText);
  if (heads < 1 || heads > kMaxHeads || kvHeads < 1 || heads % kvHeads != 0)
    return wrong("heads is {}, kv_heads {}; want 1 to {} heads, which kv_heads divides", heads,
                 kvHeads, kMaxHeads);
  if (qLen < 1 || kvLen < qLen || kvLen > kMaxTokens)
    return wrong("q_len is {}, kv_len {}; want 1 to {} tokens, at least as many keys as queries",
                 qLen, kvLen, kMaxTokens);
  const bool quantises = scales == "static" || scales == "dynamic" || scales == "unit";
  if (path == Path::Fp8 ? !quantises : path != Path::Bf16 || scales != "none")
    return wrong("path is {}, scales \"{}\"; bf16 has none, fp8 static, dynamic or unit",
                 policy::pathName(path), scales.substr(0, kMaxText));
  if (!std::isfinite(microseconds) || microseconds <= 0)
    return wrong("microseconds is {}; want a positive number", microseconds);
  return Status::ok();
}

std::string toolchainId(const Toolchain &toolchain) {
  return sha256Hex(fmt::format("{}\n{}\n{}\n{}", toolchain.templateDigest, toolchain.compilerBuild,
                               toolchain.llvmVersion, toolchain.environment))
      .substr(0, 16);
}

std::string chipOf(std::string_view deviceName) {
  for (std::size_t at = 0; at < deviceName.size();) {
    const std::size_t end = std::min(deviceName.find(' ', at), deviceName.size());
    const std::string_view word = deviceName.substr(at, end - at);
    if (word.size() > 2 && word.starts_with("MI") &&
        std::isdigit(static_cast<unsigned char>(word[2])))
      return std::string(word);
    at = end + 1;
  }
  return std::string(deviceName);
}

Tuning::Tuning(const std::vector<Record> &records, std::string chip, std::string toolchain)
    : chip_(std::move(chip)) {
  for (const Record &record : records) {
    if (record.device != chip_)
      continue;
    if (record.toolchain != toolchain) {
      ++otherToolchains_;
      continue;
    }
    records_[{record.target, record.headDim, record.heads, record.kvHeads, record.causal}]
        .push_back(record);
    ++size_;
  }
}

std::optional<Crossover> Tuning::crossover(std::string_view name, const Values &values) const {
  const bool overContext = name == policy::kFp8ContextLen;
  if (!overContext && name != policy::kFp8QLen)
    return std::nullopt;
  const auto kind =
      records_.find({values.target, values.headDim, values.heads, values.kvHeads, values.causal});
  if (kind == records_.end())
    return std::nullopt;
  const auto fits = [&](const Record &record) {
    return (record.path == Path::Bf16 || record.scales == values.scales) &&
           (record.kvLen > record.qLen) == overContext;
  };
  for (const auto source : {Record::Source::Measured, Record::Source::Modelled}) {
    // By the number of queries, which is the length itself where there is no context.
    std::map<std::int64_t, Pairs> byQueries;
    for (const Record &record : kind->second) {
      if (record.source != source || !fits(record) || (overContext && record.qLen > values.qLen))
        continue;
      Pair &pair = overContext ? byQueries[record.qLen][record.kvLen - record.qLen]
                               : byQueries[0][record.qLen];
      (record.path == Path::Fp8 ? pair.fp8 : pair.bf16) = record.microseconds;
    }
    for (const auto &[queries, all] : std::views::reverse(byQueries)) {
      Pairs pairs;
      std::ranges::copy_if(all, std::inserter(pairs, pairs.end()), isComplete);
      if (pairs.empty())
        continue;
      std::int64_t from = Crossover::kNever;
      for (const auto &[length, pair] : std::views::reverse(pairs)) {
        if (pair.fp8 >= pair.bf16)
          break;
        from = length;
      }
      const std::string where =
          fmt::format("{} on {}, {} heads, {} lengths from {} to {}{}", sourceName(source), chip_,
                      values.heads, pairs.size(), pairs.begin()->first, pairs.rbegin()->first,
                      overContext ? fmt::format(" before {} queries", queries) : "");
      return Crossover{from, from == Crossover::kNever
                                 ? fmt::format("FP8 is not faster at the longest: {}", where)
                                 : fmt::format("FP8 is faster from {}: {}", from, where)};
    }
  }
  return std::nullopt;
}

policy::Crossovers Tuning::crossovers() const {
  if (records_.empty())
    return {};
  return [kept = std::make_shared<const Tuning>(*this)](
             std::string_view name, const Values &values) { return kept->crossover(name, values); };
}

} // namespace wavesmith::tuning
