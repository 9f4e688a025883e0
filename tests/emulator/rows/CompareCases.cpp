// All vector compares (CDNA3 ISA 12.9): condition and type are the name; NaN makes every ordered
// condition false. v_cmp_class tests the ten classes of a float.

#include <cmath>
#include <string_view>

#include "tests/emulator/rows/Cases.h"
#include "tests/emulator/rows/Forms.h"

namespace wavesmith::emulator::rows {
namespace {

double value(Half x) { return number(x); }
template <typename T> T value(T x) { return x; }

/// The sixteen float conditions are sets of the outcomes less, equal, greater, unordered.
struct Condition {
  const char *name;
  const char *outcomes;
};
constexpr Condition kFloatConditions[] = {
    {"f", ""},     {"lt", "<"},    {"eq", "="},    {"le", "<="},   {"gt", ">"},   {"lg", "<>"},
    {"ge", "=>"},  {"o", "<=>"},   {"u", "?"},     {"nge", "<?"},  {"nlg", "=?"}, {"ngt", "<=?"},
    {"nle", ">?"}, {"neq", "<>?"}, {"nlt", "=>?"}, {"tru", "<=>?"}};
constexpr Condition kIntegerConditions[] = {{"f", ""},   {"lt", "<"},  {"eq", "="},  {"le", "<="},
                                            {"gt", ">"}, {"ne", "<>"}, {"ge", "=>"}, {"t", "<=>"}};

template <typename T> Operation comparison(const char *outcomes) {
  return operation([outcomes](T a, T b) {
    auto x = value(a), y = value(b);
    char outcome = x < y ? '<' : (x > y ? '>' : (x == y ? '=' : '?'));
    return std::string_view(outcomes).find(outcome) != std::string_view::npos;
  });
}

/// Bits of the mask: signalling NaN, quiet NaN, -infinity, -normal, -denormal, -0, +0, +denormal,
/// +normal, +infinity.
template <typename T> bool isClass(T x, u32 mask) {
  u64 bits = toBits(x);
  constexpr int kMantissa = sizeof(T) == 2 ? 10 : (sizeof(T) == 4 ? 23 : 52);
  constexpr int kSize = 8 * sizeof(T);
  u64 fraction = bits & ((u64{1} << kMantissa) - 1);
  u64 exponent = (bits >> kMantissa) & ((u64{1} << (kSize - 1 - kMantissa)) - 1);
  bool negative = (bits >> (kSize - 1)) & 1;
  bool top = exponent == (u64{1} << (kSize - 1 - kMantissa)) - 1;
  if (top && fraction)
    return (mask >> ((fraction >> (kMantissa - 1)) & 1)) & 1;
  int magnitude = top ? 3 : (exponent ? 2 : (fraction ? 1 : 0));
  return (mask >> (negative ? 5 - magnitude : 6 + magnitude)) & 1;
}

template <typename T>
void add(std::vector<Entry> &all, const std::string &type, const Condition &condition, u32 forms) {
  all.push_back({std::string("v_cmp_") + condition.name + type, Encoding::Vopc,
                 comparison<T>(condition.outcomes), forms});
  all.push_back({std::string("v_cmpx_") + condition.name + type, Encoding::VopcX,
                 comparison<T>(condition.outcomes), forms});
}
template <typename T> void addClass(std::vector<Entry> &all, const std::string &type, u32 forms) {
  Operation op = operation([](T x, u32 mask) { return isClass(x, mask); });
  all.push_back({"v_cmp_class" + type, Encoding::Vopc, op, forms});
  all.push_back({"v_cmpx_class" + type, Encoding::VopcX, op, forms});
}

} // namespace

std::vector<Case> compareCases() {
  constexpr u32 kFloat = Entry::kSigns | Entry::kSdwa, kInteger = Entry::kSdwa | Entry::kExtend;
  std::vector<Entry> all;
  for (const Condition &condition : kFloatConditions) {
    add<Half>(all, "_f16", condition, kFloat);
    add<float>(all, "_f32", condition, kFloat);
    add<double>(all, "_f64", condition, Entry::kSigns);
  }
  for (const Condition &condition : kIntegerConditions) {
    add<i16>(all, "_i16", condition, kInteger);
    add<u16>(all, "_u16", condition, kInteger);
    add<i32>(all, "_i32", condition, kInteger);
    add<u32>(all, "_u32", condition, kInteger);
    add<i64>(all, "_i64", condition, 0);
    add<u64>(all, "_u64", condition, 0);
  }
  addClass<Half>(all, "_f16", 0);
  addClass<float>(all, "_f32", 0);
  addClass<double>(all, "_f64", 0);
  return casesOf(all);
}

} // namespace wavesmith::emulator::rows
