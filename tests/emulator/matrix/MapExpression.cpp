#include "tests/emulator/matrix/MapExpression.h"

#include <cctype>
#include <stdexcept>

namespace wavesmith::emulator {
namespace {

class Parser {
public:
  Parser(const std::string &text, MapValues &values) : text_(text), values_(values) {}

  void run() {
    while (skip(), at_ < text_.size()) {
      std::string name = word();
      expect('=');
      values_[name] = sum();
      skip();
      if (at_ < text_.size())
        expect(';');
    }
  }

private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c))
      throw std::runtime_error("expected '" + std::string(1, c) + "' at " + std::to_string(at_) +
                               " of " + text_);
  }
  std::string word() {
    skip();
    std::size_t first = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])))
      ++at_;
    return text_.substr(first, at_ - first);
  }
  int sum() {
    int value = product();
    while (take('+'))
      value += product();
    return value;
  }
  int product() {
    int value = atom();
    for (;;) {
      if (take('*'))
        value *= atom();
      else if (take('/'))
        value /= atom();
      else if (take('%'))
        value %= atom();
      else
        return value;
    }
  }
  int atom() {
    if (take('(')) {
      int value = sum();
      expect(')');
      return value;
    }
    std::string name = word();
    if (name.empty())
      throw std::runtime_error("no value at " + std::to_string(at_) + " of " + text_);
    return std::isdigit(static_cast<unsigned char>(name[0])) ? std::stoi(name) : values_.at(name);
  }

  const std::string &text_;
  MapValues &values_;
  std::size_t at_ = 0;
};

} // namespace

MapValues evaluateMap(const std::string &map, MapValues values) {
  Parser(map, values).run();
  return values;
}

} // namespace wavesmith::emulator
