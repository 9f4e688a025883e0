#include "tests/device/DeviceFixture.h"

namespace wavesmith::test {
namespace {

// v1 = byte offset of this work-item in out, for blocks of 64 work-items in x.
constexpr const char *kAddress = R"(  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_and_b32 v0, 0x3ff, v0
  s_lshl_b32 s7, s2, 6
  v_add_u32 v0, s7, v0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
)";

KernelSource make(std::string name, std::string body) {
  return {.name = std::move(name),
          .body = kAddress + std::move(body),
          .arguments = {"8 global_buffer", "4 by_value"},
          .maxThreads = 256};
}

} // namespace

KernelSource iotaKernel(std::string name) {
  return make(std::move(name), R"(  v_add_u32 v2, s6, v0
  global_store_dword v1, v2, s[4:5])");
}

KernelSource addKernel(std::string name) {
  return make(std::move(name), R"(  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32 v2, s6, v2
  global_store_dword v1, v2, s[4:5])");
}

KernelSource storeKernel(std::string name) {
  return make(std::move(name), R"(  v_mov_b32 v2, s6
  global_store_dword v1, v2, s[4:5])");
}

} // namespace wavesmith::test
