#include "tools/wavesmith/Comgr.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <dlfcn.h>
#include <fmt/format.h>

#if __has_include(<amd_comgr.h>)
#include <amd_comgr.h>
#define WAVESMITH_HAVE_COMGR 1
#elif __has_include(<amd_comgr/amd_comgr.h>)
#include <amd_comgr/amd_comgr.h>
#define WAVESMITH_HAVE_COMGR 1
#endif

namespace wavesmith::cli {

#ifndef WAVESMITH_HAVE_COMGR

ComgrOpinion askComgr(const CodeObject &) { return {}; }

#else

namespace {

/// The functions that we call, from the library.
struct Api {
  decltype(&amd_comgr_get_version) getVersion = nullptr;
  decltype(&amd_comgr_create_data) createData = nullptr;
  decltype(&amd_comgr_release_data) releaseData = nullptr;
  decltype(&amd_comgr_set_data) setData = nullptr;
  decltype(&amd_comgr_get_data_metadata) getDataMetadata = nullptr;
  decltype(&amd_comgr_destroy_metadata) destroyMetadata = nullptr;
  decltype(&amd_comgr_metadata_lookup) metadataLookup = nullptr;
  decltype(&amd_comgr_get_metadata_list_size) getMetadataListSize = nullptr;
  decltype(&amd_comgr_index_list_metadata) indexListMetadata = nullptr;
  decltype(&amd_comgr_get_metadata_string) getMetadataString = nullptr;

  bool load() {
    // Never unloaded: its LLVM registers exit handlers.
    void *library = dlopen("libamd_comgr.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      library = dlopen("libamd_comgr.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return false;
    const auto take = [&](auto &function, const char *name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return take(getVersion, "amd_comgr_get_version") && take(createData, "amd_comgr_create_data") &&
           take(releaseData, "amd_comgr_release_data") && take(setData, "amd_comgr_set_data") &&
           take(getDataMetadata, "amd_comgr_get_data_metadata") &&
           take(destroyMetadata, "amd_comgr_destroy_metadata") &&
           take(metadataLookup, "amd_comgr_metadata_lookup") &&
           take(getMetadataListSize, "amd_comgr_get_metadata_list_size") &&
           take(indexListMetadata, "amd_comgr_index_list_metadata") &&
           take(getMetadataString, "amd_comgr_get_metadata_string");
  }
};

/// Owns a metadata node.
class Node {
public:
  Node(const Api &api, amd_comgr_metadata_node_t node) : api_(&api), node_(node) {}
  Node(Node &&other) noexcept : api_(other.api_), node_(other.node_) { other.api_ = nullptr; }
  Node &operator=(Node &&) = delete;
  ~Node() {
    if (api_)
      (void)api_->destroyMetadata(node_);
  }

  std::optional<Node> lookup(const char *key) const {
    amd_comgr_metadata_node_t found;
    if (api_->metadataLookup(node_, key, &found) != AMD_COMGR_STATUS_SUCCESS)
      return std::nullopt;
    return Node(*api_, found);
  }
  std::size_t size() const {
    std::size_t count = 0;
    return api_->getMetadataListSize(node_, &count) == AMD_COMGR_STATUS_SUCCESS ? count : 0;
  }
  std::optional<Node> at(std::size_t index) const {
    amd_comgr_metadata_node_t found;
    if (api_->indexListMetadata(node_, index, &found) != AMD_COMGR_STATUS_SUCCESS)
      return std::nullopt;
    return Node(*api_, found);
  }
  std::optional<std::string> string(const char *key) const {
    const std::optional<Node> value = lookup(key);
    std::size_t size = 0;
    if (!value || api_->getMetadataString(value->node_, &size, nullptr) != AMD_COMGR_STATUS_SUCCESS)
      return std::nullopt;
    std::string text(size, '\0');
    if (api_->getMetadataString(value->node_, &size, text.data()) != AMD_COMGR_STATUS_SUCCESS)
      return std::nullopt;
    text.resize(std::char_traits<char>::length(text.c_str()));
    return text;
  }

private:
  const Api *api_;
  amd_comgr_metadata_node_t node_;
};

void compareKernel(const Node &theirs, const KernelInfo &ours, ComgrOpinion &opinion) {
  struct Field {
    const char *key;
    std::uint64_t ours;
  };
  const Field fields[] = {{".vgpr_count", ours.vgprs},
                          {".sgpr_count", ours.sgprs},
                          {".agpr_count", ours.agprs},
                          {".group_segment_fixed_size", ours.ldsBytes},
                          {".private_segment_fixed_size", ours.scratchBytes},
                          {".kernarg_segment_size", ours.kernargBytes},
                          {".max_flat_workgroup_size", ours.maxFlatWorkgroupSize},
                          {".wavefront_size", ours.wavefrontSize}};
  for (const Field &field : fields) {
    const std::optional<std::string> text = theirs.string(field.key);
    if (text && *text != fmt::format("{}", field.ours))
      opinion.differences.push_back(
          fmt::format("{}: {} is {} here, {} in comgr", ours.name, field.key, field.ours, *text));
  }
  if (const auto arguments = theirs.lookup(".args");
      arguments && arguments->size() != ours.arguments.size())
    opinion.differences.push_back(fmt::format("{}: {} arguments here, {} in comgr", ours.name,
                                              ours.arguments.size(), arguments->size()));
}

void compare(const Node &metadata, const CodeObject &object, ComgrOpinion &opinion) {
  const std::optional<Node> kernels = metadata.lookup("amdhsa.kernels");
  if (!kernels) {
    opinion.differences.emplace_back("comgr finds no amdhsa.kernels");
    return;
  }
  if (kernels->size() != object.kernels().size())
    opinion.differences.push_back(
        fmt::format("{} kernels here, {} in comgr", object.kernels().size(), kernels->size()));
  for (const KernelInfo &ours : object.kernels()) {
    bool found = false;
    for (std::size_t index = 0; index < kernels->size() && !found; ++index) {
      const std::optional<Node> theirs = kernels->at(index);
      if (!theirs || theirs->string(".name") != ours.name)
        continue;
      found = true;
      compareKernel(*theirs, ours, opinion);
    }
    if (!found)
      opinion.differences.push_back(fmt::format("{}: comgr has no kernel of that name", ours.name));
  }
}

} // namespace

ComgrOpinion askComgr(const CodeObject &object) {
  ComgrOpinion opinion;
  Api api;
  if (!api.load())
    return opinion;
  opinion.available = true;
  std::size_t major = 0, minor = 0;
  api.getVersion(&major, &minor);
  opinion.version = fmt::format("{}.{}", major, minor);

  amd_comgr_data_t data;
  if (api.createData(AMD_COMGR_DATA_KIND_EXECUTABLE, &data) != AMD_COMGR_STATUS_SUCCESS) {
    opinion.problem = "it could not create a data object";
    return opinion;
  }
  const auto bytes = object.bytes();
  amd_comgr_metadata_node_t root;
  if (api.setData(data, bytes.size(), reinterpret_cast<const char *>(bytes.data())) !=
          AMD_COMGR_STATUS_SUCCESS ||
      api.getDataMetadata(data, &root) != AMD_COMGR_STATUS_SUCCESS)
    opinion.problem = "it could not read the object's metadata";
  else
    compare(Node(api, root), object, opinion);
  (void)api.releaseData(data);
  return opinion;
}

#endif

} // namespace wavesmith::cli
