#pragma once
// Errors outside the compiler: a Status is a code and a sentence, Expected<T> a value or a Status.
// Both are [[nodiscard]]; a debug build aborts when an error dies unread, and dropping one on
// purpose is spelled ignoreError("reason"). Values; no shared state, any thread.

#include <cassert>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace wavesmith {

/// What went wrong, by what the caller may do about it. The integers are those of the C ABI:
/// append only.
enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1,   ///< the caller's value is wrong; the message names it and what would fit
  Unsupported = 2,       ///< well-formed, but this build or target does not do it
  NotFound = 3,          ///< a named thing does not exist
  ResourceExhausted = 4, ///< memory, disk, registers, LDS
  CompileFailed = 5,     ///< the compiler refused or died; the message names the reproducer
  DeviceError = 6,       ///< HIP reported an error
  EmulationFault = 7,    ///< the emulator's checks found a bug in the code it ran
  Io = 8,                ///< a file or network operation failed
  Internal = 9,          ///< our bug
  Cancelled = 10,
  Timeout = 11,
  Corrupt = 12,            ///< stored data does not match its checksum or format
  VerificationFailed = 13, ///< results disagree with the reference
  JitForbidden = 14,       ///< a compile would be needed and WAVESMITH_JIT=forbid
};

/// The code's stable lower-case name, as logs and JSON print it.
std::string_view statusCodeName(StatusCode code);

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {
    assert(code != StatusCode::Ok && "an Ok status carries no message");
  }

  // Whoever holds the copy has the duty to read it; the original has done its part.
  Status(const Status &other) : code_(other.code_), message_(other.message_) { other.read_ = true; }
  Status &operator=(const Status &other) {
    code_ = other.code_;
    message_ = other.message_;
    read_ = false;
    other.read_ = true;
    return *this;
  }
  Status(Status &&other) noexcept
      : code_(other.code_), message_(std::move(other.message_)), read_(other.read_) {
    other.read_ = true;
  }
  Status &operator=(Status &&other) noexcept {
    code_ = other.code_;
    message_ = std::move(other.message_);
    read_ = other.read_;
    other.read_ = true;
    return *this;
  }
  ~Status() { assert((code_ == StatusCode::Ok || read_) && "an error was dropped unread"); }

  static Status ok() { return {}; }

  bool isOk() const {
    read_ = true;
    return code_ == StatusCode::Ok;
  }
  explicit operator bool() const { return isOk(); }
  StatusCode code() const {
    read_ = true;
    return code_;
  }
  const std::string &message() const {
    read_ = true;
    return message_;
  }
  /// The same error with the place where it happened in front: "context: message".
  Status withContext(std::string_view context) const {
    read_ = true;
    return isOk() ? Status() : Status(code_, fmt::format("{}: {}", context, message_));
  }
  /// Drops the error on purpose; the reason is for the reader (and for grep).
  void ignoreError(const char * /*reason*/) const { read_ = true; }

private:
  template <typename T> friend class Expected;

  StatusCode code_ = StatusCode::Ok;
  std::string message_;
  mutable bool read_ = false;
};

/// An error with a formatted message: `return error(StatusCode::Io, "cannot open {}", path);`
template <typename... Args>
Status error(StatusCode code, fmt::format_string<Args...> format, Args &&...args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

template <typename T> class [[nodiscard]] Expected {
public:
  // NOLINTNEXTLINE(google-explicit-constructor): returning a T or a Status must read plainly.
  template <typename U = T>
    requires(std::is_convertible_v<U &&, T> && !std::is_same_v<std::decay_t<U>, Status> &&
             !std::is_same_v<std::decay_t<U>, Expected>)
  Expected(U &&value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Expected(Status status) : state_(std::in_place_index<1>, std::move(status)) { // NOLINT
    assert(std::get<1>(state_).code_ != StatusCode::Ok &&
           "an Expected without a value needs an error");
  }

  /// Asking counts as reading, as Status::isOk() does.
  explicit operator bool() const {
    if (state_.index() == 0)
      return true;
    std::get<1>(state_).read_ = true;
    return false;
  }
  T &operator*() & { return std::get<0>(state_); }
  const T &operator*() const & { return std::get<0>(state_); }
  T &&operator*() && { return std::get<0>(std::move(state_)); }
  T *operator->() { return &std::get<0>(state_); }
  const T *operator->() const { return &std::get<0>(state_); }
  /// The error; Ok when there is a value.
  Status status() const {
    if (*this)
      return Status();
    return std::get<1>(state_);
  }
  void ignoreError(const char *reason) const {
    if (!*this)
      std::get<1>(state_).ignoreError(reason);
  }

private:
  std::variant<T, Status> state_;
};

#define WAVESMITH_CONCAT_IMPL(a, b) a##b
#define WAVESMITH_CONCAT(a, b) WAVESMITH_CONCAT_IMPL(a, b)
/// Returns from the enclosing function when `expression` (a Status) is an error.
#define WAVESMITH_TRY(expression)                                                                  \
  do {                                                                                             \
    if (::wavesmith::Status status_ = (expression); !status_.isOk())                               \
      return status_;                                                                              \
  } while (false)
/// Declares `declaration` from an Expected, or returns its error.
#define WAVESMITH_ASSIGN(declaration, expression)                                                  \
  auto WAVESMITH_CONCAT(expected_, __LINE__) = (expression);                                       \
  if (!WAVESMITH_CONCAT(expected_, __LINE__))                                                      \
    return WAVESMITH_CONCAT(expected_, __LINE__).status();                                         \
  declaration = *std::move(WAVESMITH_CONCAT(expected_, __LINE__))

} // namespace wavesmith
