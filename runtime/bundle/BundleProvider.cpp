#include "runtime/bundle/BundleProvider.h"

#include "runtime/support/Log.h"

namespace wavesmith {

BundleProvider::BundleProvider(BundleOptions options) : options_(std::move(options)) {
  for (const std::string &directory : options_.directories)
    slots_.push_back({.directory = directory});
}

void BundleProvider::reportDamage(const std::string &path, const Status &reason) const {
  {
    const std::lock_guard lock(mutex_);
    if (!said_.insert(path + '\n' + reason.message()).second)
      return;
  }
  ++damaged_;
  log::warn("bundle", "not loaded: {}", reason.message());
  if (options_.onDamaged)
    options_.onDamaged(path, reason);
}

void BundleProvider::reportToolchain(std::size_t index, const BundleManifest &manifest,
                                     std::string_view what) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(slots_[index].saidToolchain, true))
      return;
  }
  log::warn("bundle",
            "{} objects of another toolchain path={} theirs=\"LLVM {}, compiler {:.12}, templates "
            "{:.12}\" ours=\"LLVM {}, compiler {:.12}, templates {:.12}\"",
            what, slots_[index].directory, manifest.toolchain.llvmVersion,
            manifest.toolchain.compilerBuild, manifest.toolchain.templateDigest,
            options_.toolchain.llvmVersion, options_.toolchain.compilerBuild,
            options_.toolchain.templateDigest);
}

std::shared_ptr<const Bundle> BundleProvider::bundle(std::size_t index) const {
  Status damage;
  std::shared_ptr<const Bundle> found;
  {
    const std::lock_guard lock(mutex_);
    Slot &slot = slots_[index];
    if (!std::exchange(slot.tried, true)) {
      Expected<Bundle> opened = Bundle::open(slot.directory);
      if (opened) {
        slot.bundle = std::make_shared<const Bundle>(*std::move(opened));
        slot.trouble.clear();
      } else {
        damage = opened.status();
        slot.trouble = damage.message();
        // Out of descriptors or memory says nothing about the bundle: asked again.
        slot.tried = damage.code() != StatusCode::ResourceExhausted;
      }
    }
    found = slot.bundle;
  }
  if (!damage.isOk())
    reportDamage(options_.directories[index], damage);
  return found;
}

std::shared_ptr<const Bundle> BundleProvider::replacement(std::size_t index, const Bundle &known) {
  Expected<Bundle> now = Bundle::open(known.directory());
  if (!now || now->manifest().entries == known.manifest().entries) {
    now.ignoreError("what we know is reported");
    return nullptr;
  }
  auto bundle = std::make_shared<const Bundle>(*std::move(now));
  const std::lock_guard lock(mutex_);
  slots_[index].bundle = bundle;
  return bundle;
}

Expected<SharedCodeObject> BundleProvider::load(std::size_t index, const KernelSpec &spec,
                                                bool ours) {
  const std::string build = buildKey(spec, options_.toolchain);
  std::shared_ptr<const Bundle> bundle = this->bundle(index);
  Status damage;
  std::string path;
  // Twice, because a build may replace the bundle between its manifest and an object.
  for (int attempt = 0; bundle && attempt < 2; ++attempt) {
    damage = Status::ok();
    const BundleEntry *entry = bundle->manifest().find(spec.key());
    if (!entry || (entry->buildKey == build) != ours)
      break;
    if (!ours && !options_.anyToolchain) {
      ++refused_;
      reportToolchain(index, bundle->manifest(), "WAVESMITH_BUNDLE_TOOLCHAIN=same refuses");
      break;
    }
    Expected<SharedCodeObject> object = bundle->load(*entry);
    if (object) {
      if (!ours) {
        ++otherToolchain_;
        reportToolchain(index, bundle->manifest(), "serving");
      }
      return object;
    }
    damage = object.status();
    path = bundle->pathOf(*entry);
    if (attempt == 0)
      bundle = replacement(index, *bundle);
  }
  if (!damage.isOk())
    reportDamage(path, damage);
  return error(StatusCode::NotFound, "no bundle has a kernel for [{}]", spec.text());
}

Expected<SharedCodeObject> BundleProvider::get(const KernelSpec &spec) {
  for (const bool ours : {true, false})
    for (std::size_t i = 0; i < options_.directories.size(); ++i) {
      Expected<SharedCodeObject> object = load(i, spec, ours);
      if (object) {
        ++hits_;
        return object;
      }
      object.ignoreError("reported where it is more than a miss");
    }
  ++misses_;
  return error(StatusCode::NotFound, "no bundle has a kernel for [{}]", spec.text());
}

std::vector<KernelSpec> BundleProvider::list() const {
  std::vector<KernelSpec> specs;
  for (std::size_t i = 0; i < options_.directories.size(); ++i)
    if (const std::shared_ptr<const Bundle> bundle = this->bundle(i))
      for (const BundleEntry &entry : bundle->manifest().entries) {
        const auto spec = KernelSpec::parse(entry.specText);
        spec.ignoreError("a spec of another version is not at hand");
        if (spec)
          specs.push_back(*spec);
      }
  return specs;
}

std::string BundleProvider::trouble() const {
  std::string text;
  for (std::size_t i = 0; i < options_.directories.size(); ++i) {
    static_cast<void>(bundle(i));
    const std::lock_guard lock(mutex_);
    if (!slots_[i].trouble.empty())
      text += (text.empty() ? "" : "; ") + slots_[i].trouble;
  }
  return text;
}

BundleCounters BundleProvider::counters() const {
  return {hits_, misses_, otherToolchain_, refused_, damaged_};
}

} // namespace wavesmith
