#include "runtime/provider/ProviderChain.h"

#include <algorithm>

#include "runtime/codeobject/Verification.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Log.h"

namespace wavesmith {

ProviderChain::ProviderChain(std::vector<std::shared_ptr<Provider>> providers, Accept accept)
    : accept_(accept) {
  for (std::shared_ptr<Provider> &provider : providers) {
    links_.push_back(std::make_unique<Link>());
    links_.back()->provider = std::move(provider);
  }
}

Expected<SharedCodeObject> ProviderChain::ask(Link &link, const KernelSpec &spec) {
  Expected<SharedCodeObject> object = link.provider->get(spec);
  if (object && accept_ == Accept::Verified &&
      !isVerificationOf((*object)->verification, sha256Hex((*object)->bytes))) {
    log::info("cache", "passed over: {} has {} without a verification record",
              link.provider->name(), (*object)->kernelName);
    object = error(StatusCode::NotFound, "{} has [{}] without a verification record",
                   link.provider->name(), spec.text());
  }
  if (object)
    ++link.hits;
  else if (object.status().code() != StatusCode::NotFound)
    ++link.errors;
  return object;
}

Expected<SharedCodeObject> ProviderChain::claim(std::size_t end, const KernelSpec &spec,
                                                Claims &claims) {
  for (std::size_t i = 0; i < end; ++i) {
    std::unique_ptr<Claim> claim = links_[i]->provider->claim(spec);
    if (!claim)
      continue;
    claims.push_back(std::move(claim));
    // Whoever held the claim before us may have made the object.
    Expected<SharedCodeObject> object = ask(*links_[i], spec);
    if (object)
      return offer(i, spec, *std::move(object));
    if (object.status().code() != StatusCode::NotFound)
      return object;
  }
  return SharedCodeObject();
}

SharedCodeObject ProviderChain::offer(std::size_t from, const KernelSpec &spec,
                                      SharedCodeObject object) {
  if (links_[from]->provider->offersCopies())
    for (std::size_t earlier = 0; earlier < from; ++earlier)
      links_[earlier]->provider->put(spec, object);
  return object;
}

Expected<SharedCodeObject> ProviderChain::get(const KernelSpec &spec) {
  Claims claims;
  Status last(StatusCode::NotFound, "no provider is configured");
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link &link = *links_[i];
    if (link.provider->makes()) {
      WAVESMITH_ASSIGN(SharedCodeObject object, claim(i, spec, claims));
      if (object) {
        last.ignoreError("another process has made the object");
        return object;
      }
    }
    Expected<SharedCodeObject> object = ask(link, spec);
    if (object) {
      last.ignoreError("a later provider had the object");
      return offer(i, spec, *std::move(object));
    }
    last = object.status();
    if (last.code() == StatusCode::NotFound) {
      ++link.misses;
      continue;
    }
    if (last.code() == StatusCode::JitForbidden)
      return Status(StatusCode::JitForbidden, last.message() + nearest(spec));
    return last;
  }
  return last;
}

std::string_view ProviderChain::wouldServe(const KernelSpec &spec) {
  for (const std::unique_ptr<Link> &link : links_) {
    if (link->provider->makes()) {
      if (link->provider->canMake())
        return link->provider->name();
      continue;
    }
    const Expected<SharedCodeObject> object = ask(*link, spec);
    if (object)
      return link->provider->name();
    if (object.status().code() != StatusCode::NotFound)
      return {}; // this error would end the search
  }
  return {};
}

std::vector<ProviderCounters> ProviderChain::counters() const {
  std::vector<ProviderCounters> all;
  for (const std::unique_ptr<Link> &link : links_)
    all.push_back({std::string(link->provider->name()), link->hits, link->misses, link->errors});
  return all;
}

int specDistance(const KernelSpec &a, const KernelSpec &b) {
  if (a.row.kernel != b.row.kernel)
    return 100;
  if (a.isRowKernel()) {
    int distance = 8 * (a.target != b.target);
    for (std::size_t i = 0; i < std::min(a.row.values.size(), b.row.values.size()); ++i)
      distance += 4 * (a.row.values[i] != b.row.values[i]);
    return distance;
  }
  const AttentionSpec &x = a.attention;
  const AttentionSpec &y = b.attention;
  return 8 * (a.target != b.target) + 6 * (x.headDimQk != y.headDimQk) +
         6 * (x.headDimV != y.headDimV) + 4 * (x.dtype != y.dtype) + 2 * (x.causal != y.causal) +
         2 * (x.writeLse != y.writeLse) + 2 * (x.splitKv != y.splitKv) +
         4 * (x.softCap != y.softCap) + 4 * (x.window != y.window) + 4 * (x.sink != y.sink) +
         (a.schedule != b.schedule);
}

std::string ProviderChain::nearest(const KernelSpec &spec) const {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<int, std::string>> specs;
  std::string troubles;
  for (const std::unique_ptr<Link> &link : links_) {
    for (const KernelSpec &known : link->provider->list())
      specs.emplace_back(specDistance(spec, known),
                         fmt::format("{}: {}", link->provider->name(), known.text()));
    if (const std::string trouble = link->provider->trouble(); !trouble.empty())
      troubles += fmt::format("; {} not usable: {}", link->provider->name(), trouble);
  }
  if (specs.empty())
    return "; no provider has any entry" + troubles;
  std::ranges::sort(specs);
  std::string text = "; nearest entries:";
  for (std::size_t i = 0; i < std::min(kShown, specs.size()); ++i) {
    // The same spec of another toolchain is what a drifted cache looks like; say so.
    const char *note = specs[i].first == 0 ? " (the same spec)" : "";
    text += fmt::format("{} [{}]{}", i ? "," : "", specs[i].second, note);
  }
  return text + troubles;
}

} // namespace wavesmith
