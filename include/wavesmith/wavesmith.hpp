#pragma once
// RAII over wavesmith.h: handles that destroy themselves, errors as exceptions. Header only, C++17;
// nothing here is part of the binary interface, so library and program may use different compilers.
// Contracts, units and threads are those of wavesmith.h. Launching allocates nothing unless it
// fails.

#include <cstdint>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "wavesmith.h"

namespace wavesmith {

/// A call that failed; what() is the sentence of wavesmith_last_error().
class Error : public std::runtime_error {
public:
  Error(wavesmith_status status, const char *text) : std::runtime_error(text), status_(status) {}
  wavesmith_status status() const noexcept { return status_; }

private:
  wavesmith_status status_;
};

/// Throws Error unless the status is OK.
inline void check(wavesmith_status status) {
  if (status != WAVESMITH_OK)
    throw Error(status, wavesmith_last_error());
}

namespace detail {

/// An owned handle, movable. A moved-from or default one is empty.
template <typename Handle, wavesmith_status (*Destroy)(Handle)> class Owned {
public:
  Owned() = default;
  explicit Owned(Handle handle) noexcept : handle_(handle) {}
  Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_)
      (void)Destroy(handle_); // fails only if somebody destroyed the handle behind our back
  }
  Handle get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /// Gives the handle up; the caller destroys it.
  Handle release() noexcept { return std::exchange(handle_, nullptr); }

private:
  Handle handle_ = nullptr;
};

} // namespace detail

/// A plan: what to run, whatever the addresses.
class Plan {
public:
  Plan() = default;
  /// Takes a handle over.
  explicit Plan(wavesmith_plan handle) noexcept : handle_(handle) {}

  wavesmith_plan get() const noexcept { return handle_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  wavesmith_plan_info info() const {
    auto info = WAVESMITH_INIT(wavesmith_plan_info);
    check(wavesmith_plan_get_info(get(), &info));
    return info;
  }
  /// Of one sequence; its texts live as long as the plan.
  wavesmith_decision decision(std::int64_t sequence) const {
    auto decision = WAVESMITH_INIT(wavesmith_decision);
    check(wavesmith_plan_get_decision(get(), sequence, &decision));
    return decision;
  }
  /// The decision as JSON.
  std::string explain() const {
    const char *json = nullptr;
    check(wavesmith_plan_explain(get(), &json));
    return json;
  }
  /// Enqueues the copy of the work lists; the plan must live until the stream has passed it.
  void upload(void *workspace, std::uint64_t bytes, void *stream) const {
    check(wavesmith_upload(get(), workspace, bytes, stream));
  }
  void launch(const wavesmith_attention_buffers &buffers, void *stream) const {
    check(wavesmith_launch_attention(get(), &buffers, stream));
  }
  void launch(const wavesmith_merge_buffers &buffers, void *stream) const {
    check(wavesmith_launch_merge(get(), &buffers, stream));
  }
  void launch(const wavesmith_combine_buffers &buffers, void *stream) const {
    check(wavesmith_launch_combine(get(), &buffers, stream));
  }
  void launch(const wavesmith_quantize_buffers &buffers, void *stream) const {
    check(wavesmith_launch_quantize(get(), &buffers, stream));
  }
  void launch(const wavesmith_amax_buffers &buffers, void *stream) const {
    check(wavesmith_launch_amax(get(), &buffers, stream));
  }

private:
  detail::Owned<wavesmith_plan, wavesmith_plan_destroy> handle_;
};

/// Attention over cached keys in segments, then over the new ones.
class Pass {
public:
  Pass() = default;
  /// Takes a handle over.
  Pass(wavesmith_pass handle, const wavesmith_pass_info &info) noexcept
      : handle_(handle), info_(info) {}

  wavesmith_pass get() const noexcept { return handle_.get(); }
  const wavesmith_pass_info &info() const noexcept { return info_; }
  wavesmith_decision decision(std::int64_t sequence) const {
    auto decision = WAVESMITH_INIT(wavesmith_decision);
    check(wavesmith_pass_get_decision(get(), sequence, &decision));
    return decision;
  }
  std::string explain() const {
    const char *json = nullptr;
    check(wavesmith_pass_explain(get(), &json));
    return json;
  }

  void upload(void *workspace, std::uint64_t bytes, void *stream) const {
    check(wavesmith_pass_upload(get(), workspace, bytes, stream));
  }
  void segment(std::uint64_t index, const wavesmith_attention_buffers &buffers,
               void *stream) const {
    check(wavesmith_pass_segment(get(), index, &buffers, stream));
  }
  void finish(const wavesmith_attention_buffers &buffers, void *stream) const {
    check(wavesmith_pass_finish(get(), &buffers, stream));
  }

private:
  detail::Owned<wavesmith_pass, wavesmith_pass_destroy> handle_;
  wavesmith_pass_info info_{};
};

/// Maxima of q, k and v for each layer and head of a rank.
class Collector {
public:
  Collector() = default;
  /// Takes a handle over.
  explicit Collector(wavesmith_collector handle) noexcept : handle_(handle) {}

  wavesmith_collector get() const noexcept { return handle_.get(); }
  void enable(bool on = true) const { check(wavesmith_collector_enable(get(), on ? 1 : 0)); }
  void observe(const wavesmith_observation &seen, void *stream) const {
    check(wavesmith_collector_observe(get(), &seen, stream));
  }
  void save(const std::string &directory) const {
    check(wavesmith_collector_save(get(), directory.c_str()));
  }

private:
  detail::Owned<wavesmith_collector, wavesmith_collector_destroy> handle_;
};

/// One rank's share of calibrated scales, on the device.
class Scales {
public:
  Scales() = default;
  /// Takes a handle over.
  explicit Scales(wavesmith_scales handle) noexcept : handle_(handle) {}

  wavesmith_scales get() const noexcept { return handle_.get(); }
  wavesmith_layer_scales layer(std::int32_t number) const {
    auto values = WAVESMITH_INIT(wavesmith_layer_scales);
    check(wavesmith_scales_get_layer(get(), number, &values));
    return values;
  }
  struct Saturation {
    std::vector<std::uint64_t> q, k, v; ///< for each head of the rank
  };
  Saturation saturation(std::int32_t number) const {
    const wavesmith_layer_scales values = layer(number);
    const auto heads = static_cast<std::size_t>(values.heads),
               kvHeads = static_cast<std::size_t>(values.kv_heads);
    Saturation counts{std::vector<std::uint64_t>(heads), std::vector<std::uint64_t>(kvHeads),
                      std::vector<std::uint64_t>(kvHeads)};
    check(wavesmith_scales_read_saturation(get(), number, counts.q.data(), counts.k.data(),
                                           counts.v.data()));
    return counts;
  }

private:
  detail::Owned<wavesmith_scales, wavesmith_scales_destroy> handle_;
};

/// Told how far a preparation is; true goes on, false cancels it.
using Progress = std::function<bool(const wavesmith_progress &)>;

/// One device.
class Context {
public:
  /// All defaults: the first usable device.
  Context() {
    wavesmith_context handle = nullptr;
    check(wavesmith_context_create(nullptr, &handle));
    handle_ = Owner(handle);
  }
  explicit Context(const wavesmith_context_options &options) {
    wavesmith_context handle = nullptr;
    check(wavesmith_context_create(&options, &handle));
    handle_ = Owner(handle);
  }

  wavesmith_context get() const noexcept { return handle_.get(); }

  wavesmith_context_info info() const {
    auto info = WAVESMITH_INIT(wavesmith_context_info);
    check(wavesmith_context_get_info(get(), &info));
    return info;
  }
  wavesmith_statistics statistics() const {
    auto statistics = WAVESMITH_INIT(wavesmith_statistics);
    check(wavesmith_get_statistics(get(), &statistics));
    return statistics;
  }

  Plan plan(const wavesmith_attention &call) const { return made(wavesmith_plan_attention, call); }
  Plan plan(const wavesmith_merge &call) const { return made(wavesmith_plan_merge, call); }
  Plan plan(const wavesmith_combine &call) const { return made(wavesmith_plan_combine, call); }
  Plan plan(const wavesmith_quantize &call) const { return made(wavesmith_plan_quantize, call); }
  Plan plan(const wavesmith_amax &call) const { return made(wavesmith_plan_amax, call); }

  /// `segments` are the cu_seqlens_kv of each, batch + 1 numbers.
  Pass begin(const wavesmith_attention &attention,
             const std::vector<const std::int32_t *> &segments) const {
    auto options = WAVESMITH_INIT(wavesmith_pass_options);
    options.attention = &attention;
    options.segments = segments.data();
    options.segment_count = segments.size();
    wavesmith_pass pass = nullptr;
    auto info = WAVESMITH_INIT(wavesmith_pass_info);
    check(wavesmith_pass_begin(get(), &options, &pass, &info));
    return Pass(pass, info);
  }

  Collector collector(const wavesmith_collector_options &options) const {
    wavesmith_collector handle = nullptr;
    check(wavesmith_collector_create(get(), &options, &handle));
    return Collector(handle);
  }

  Scales scales(const wavesmith_scales_options &options) const {
    wavesmith_scales handle = nullptr;
    check(wavesmith_scales_load(get(), &options, &handle));
    return Scales(handle);
  }

  /// Everything that calls of these kinds may need. An exception of `progress` cancels and is
  /// passed on.
  void prepare(const std::vector<wavesmith_attention> &attentions,
               const Progress &progress = {}) const {
    std::vector<const wavesmith_attention *> pointers;
    pointers.reserve(attentions.size());
    for (const wavesmith_attention &attention : attentions)
      pointers.push_back(&attention);
    Watch watch{&progress, nullptr};
    auto options = WAVESMITH_INIT(wavesmith_prepare_options);
    options.attentions = pointers.data();
    options.attention_count = pointers.size();
    options.progress = progress ? &Watch::report : nullptr;
    options.user = &watch;
    const wavesmith_status status = wavesmith_prepare(get(), &options);
    if (watch.thrown)
      std::rethrow_exception(watch.thrown);
    check(status);
  }

private:
  using Owner = detail::Owned<wavesmith_context, wavesmith_context_destroy>;
  template <typename Call>
  Plan made(wavesmith_status (*plan)(wavesmith_context, const Call *, wavesmith_plan *,
                                     wavesmith_plan_info *),
            const Call &call) const {
    wavesmith_plan handle = nullptr;
    check(plan(get(), &call, &handle, nullptr));
    return Plan(handle);
  }
  /// No exception may pass through C.
  struct Watch {
    const Progress *progress;
    std::exception_ptr thrown;
    static std::int32_t report(void *user, const wavesmith_progress *state) {
      auto &self = *static_cast<Watch *>(user);
      try {
        return (*self.progress)(*state) ? 0 : 1;
      } catch (...) {
        self.thrown = std::current_exception();
        return 1;
      }
    }
  };

  Owner handle_;
};

} // namespace wavesmith
