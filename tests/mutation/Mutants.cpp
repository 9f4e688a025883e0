#include "tests/mutation/Mutants.h"

#include <array>
#include <cassert>
#include <cctype>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace wavesmith::testing {
namespace {

constexpr std::string_view kMinusInfinity = "0xFFF0000000000000";
constexpr std::array<std::string_view, 3> kKindNames{"wait", "barrier", "mask"};

/// What `%result = select ... float %score, float -inf` (either order) chooses from.
struct Mask {
  std::string_view result, score;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  return text;
}

std::optional<Mask> parseMask(std::string_view line) {
  const std::size_t equals = line.find(" = select ");
  if (equals == std::string_view::npos)
    return std::nullopt;
  std::array<std::string_view, 2> values;
  std::size_t at = equals;
  for (std::string_view &value : values) {
    constexpr std::string_view type = ", float ";
    at = line.find(type, at);
    if (at == std::string_view::npos)
      return std::nullopt;
    at += type.size();
    value = line.substr(at, line.find_first_of(", !\n", at) - at);
  }
  const std::string_view result = trimmed(line.substr(0, equals));
  if (values[0] == kMinusInfinity && values[1].starts_with('%'))
    return Mask{result, values[1]};
  if (values[1] == kMinusInfinity && values[0].starts_with('%'))
    return Mask{result, values[0]};
  return std::nullopt;
}

std::optional<MutationKind> kindOf(std::string_view line) {
  if (line.find("call void @llvm.amdgcn.s.waitcnt(") != std::string_view::npos)
    return MutationKind::Wait;
  if (line.find("call void @llvm.amdgcn.s.barrier(") != std::string_view::npos)
    return MutationKind::Barrier;
  if (parseMask(line))
    return MutationKind::Mask;
  return std::nullopt;
}

/// Follows the blocks and, where a kernel has them, the marks in its assembly comments. Numbered
/// blocks are counted, since their numbers move with every instruction.
class Place {
public:
  void line(std::string_view text) {
    constexpr std::string_view mark = "\"; MARK ";
    if (const std::size_t at = text.find(mark); at != std::string_view::npos) {
      const std::size_t begin = at + mark.size();
      name_ = text.substr(begin, text.find('"', begin) - begin);
      return;
    }
    const std::size_t colon = text.find(':');
    if (text.empty() || text.front() == ' ' || text.front() == '!' || text.front() == ';' ||
        colon == std::string_view::npos || text.find_first_of(" (=\"") < colon)
      return;
    ++blocks_;
    const bool numbered = std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    name_ = numbered ? fmt::format("block {}", blocks_) : std::string(text.substr(0, colon));
  }
  const std::string &name() const { return name_; }

private:
  int blocks_ = 0;
  std::string name_ = "entry";
};

} // namespace

std::vector<MutationSite> findMutations(const std::string &ir) {
  std::vector<MutationSite> sites;
  std::array<int, kKindNames.size()> counts{};
  Place place;
  for (std::size_t begin = 0; begin < ir.size();) {
    const std::size_t newline = ir.find('\n', begin);
    const std::size_t end = newline == std::string::npos ? ir.size() : newline + 1;
    const std::string_view line(ir.data() + begin, end - begin);
    place.line(line);
    if (const auto kind = kindOf(line)) {
      const auto index = static_cast<std::size_t>(*kind);
      sites.push_back({*kind,
                       fmt::format("{} {} in {}", kKindNames[index], ++counts[index], place.name()),
                       begin, end});
    }
    begin = end;
  }
  return sites;
}

std::string mutate(const std::string &ir, const MutationSite &site) {
  std::string replacement;
  if (site.kind == MutationKind::Mask) {
    const Mask mask =
        parseMask(std::string_view(ir).substr(site.begin, site.end - site.begin)).value_or(Mask{});
    assert(!mask.result.empty() && "the site is from another text");
    replacement = fmt::format("  {} = bitcast float {} to float\n", mask.result, mask.score);
  }
  return ir.substr(0, site.begin) + replacement + ir.substr(site.end);
}

} // namespace wavesmith::testing
