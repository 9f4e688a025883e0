// A program as hipcc would build it: kernels in the host's source, launched with <<<>>>. It knows
// nothing of the emulator. Compiled by the test with clang, without ROCm's headers.
#include <cstdio>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))

typedef struct ihipStream_t *hipStream_t;
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
extern "C" {
int hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
int __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, hipStream_t = nullptr);
int __hipPopCallConfiguration(dim3 *, dim3 *, unsigned long *, hipStream_t *);
int hipMalloc(void **, unsigned long);
int hipFree(void *);
int hipMemcpy(void *, const void *, unsigned long, int);
int hipMemcpyToSymbol(const void *, const void *, unsigned long, unsigned long, int);
int hipGetLastError();
}

__device__ int factor;

__global__ void scale(int *out, int value) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  out[i] = factor * (value + i);
}

int main() {
  int *device = nullptr, host[128] = {}, three = 3;
  if (hipMalloc(reinterpret_cast<void **>(&device), sizeof(host)) != 0 ||
      hipMemcpyToSymbol(&factor, &three, sizeof(three), 0, 1) != 0)
    return 1;
  scale<<<dim3(2), dim3(64), 0, nullptr>>>(device, 5);
  if (hipGetLastError() != 0 || hipMemcpy(host, device, sizeof(host), 2) != 0)
    return 2;
  for (int i = 0; i < 128; ++i)
    if (host[i] != 3 * (5 + i)) {
      std::printf("element %d is %d\n", i, host[i]);
      return 3;
    }
  return hipFree(device);
}
