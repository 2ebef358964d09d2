// What `cuda/src/cuda/sys.rs` says of the CUDA runtime, asserted of the toolkit's own headers. Compiled, never run.
#include <cuda_runtime_api.h>
#include <stddef.h>

#include <type_traits>

static_assert(sizeof(cudaError_t) == sizeof(unsigned) && sizeof(cudaDeviceAttr) == sizeof(int), "enums are words");
static_assert(sizeof(cudaMemcpyKind) == sizeof(int), "enums are words");
static_assert(cudaSuccess == 0 && cudaErrorMemoryAllocation == 2 && cudaErrorInitializationError == 3, "codes");
static_assert(cudaErrorInsufficientDriver == 35 && cudaErrorNoDevice == 100 && cudaErrorNotReady == 600, "codes");

static_assert(cudaErrorInvalidKernelImage == 200 && cudaErrorNoKernelImageForDevice == 209, "codes of kernels");
static_assert(cudaErrorInvalidPtx == 218 && cudaErrorJitCompilerNotFound == 221, "codes of kernels");
static_assert(cudaErrorUnsupportedPtxVersion == 222 && cudaErrorJitCompilationDisabled == 223, "codes of kernels");
static_assert(cudaErrorInvalidDeviceFunction == 98, "codes of kernels");
static_assert(cudaErrorECCUncorrectable == 214 && cudaErrorNvlinkUncorrectable == 220, "sticky codes");
static_assert(cudaErrorContained == 226 && cudaErrorIllegalAddress == 700 && cudaErrorLaunchTimeout == 702, "sticky codes");
static_assert(cudaErrorAssert == 710 && cudaErrorHardwareStackError == 714, "sticky codes");
static_assert(cudaErrorIllegalInstruction == 715 && cudaErrorMisalignedAddress == 716, "sticky codes");
static_assert(cudaErrorInvalidAddressSpace == 717 && cudaErrorInvalidPc == 718, "sticky codes");
static_assert(cudaErrorLaunchFailure == 719 && cudaErrorTensorMemoryLeak == 721, "sticky codes");
static_assert(cudaErrorMpsClientTerminated == 810 && cudaErrorExternalDevice == 911 && cudaErrorUnknown == 999, "sticky codes");

static_assert(cudaStreamNonBlocking == 1 && cudaEventDisableTiming == 2 && cudaHostAllocPortable == 1, "flags");
static_assert(cudaMemcpyDefault == 4, "the runtime finds out where memory is");
static_assert(cudaDevAttrMultiProcessorCount == 16 && cudaDevAttrMaxSharedMemoryPerBlockOptin == 97, "attributes");
static_assert(cudaDevAttrComputeCapabilityMajor == 75 && cudaDevAttrComputeCapabilityMinor == 76, "attributes");
static_assert(offsetof(cudaDeviceProp, name) == 0 && sizeof(cudaDeviceProp::name) == 256, "the name comes first");
static_assert(sizeof(cudaDeviceProp) <= 8192, "room for all of it");

template <class Declared, class Function>
constexpr bool is(Function *) {
  return std::is_same<Declared, Function>::value;
}
using Stream = cudaStream_t;
using Event = cudaEvent_t;
static_assert(std::is_pointer<Stream>::value && std::is_pointer<Event>::value, "opaque pointers");
static_assert(is<cudaError_t(int *)>(cudaGetDeviceCount) && is<cudaError_t(int)>(cudaSetDevice), "");
static_assert(is<cudaError_t(int *, cudaDeviceAttr, int)>(cudaDeviceGetAttribute), "");
static_assert(is<cudaError_t(cudaDeviceProp *, int)>(cudaGetDeviceProperties), "");
static_assert(is<cudaError_t(size_t *, size_t *)>(cudaMemGetInfo) && is<cudaError_t()>(cudaDeviceSynchronize), "");
static_assert(is<cudaError_t(void *)>(cudaFree) && is<cudaError_t(void *)>(cudaFreeHost), "");
// These two have overloads, among which there must be ours.
[[maybe_unused]] cudaError_t (*const allocate)(void **, size_t) = cudaMalloc;
[[maybe_unused]] cudaError_t (*const allocate_pinned)(void **, size_t, unsigned) = cudaHostAlloc;
static_assert(is<cudaError_t(Stream *, unsigned)>(cudaStreamCreateWithFlags), "");
static_assert(is<cudaError_t(Stream)>(cudaStreamDestroy) && is<cudaError_t(Stream)>(cudaStreamSynchronize), "");
static_assert(is<cudaError_t(Stream)>(cudaStreamQuery), "");
static_assert(is<cudaError_t(Stream, Event, unsigned)>(cudaStreamWaitEvent), "");
static_assert(is<cudaError_t(Event *, unsigned)>(cudaEventCreateWithFlags), "");
static_assert(is<cudaError_t(Event)>(cudaEventDestroy) && is<cudaError_t(Event, Stream)>(cudaEventRecord), "");
static_assert(is<cudaError_t(Event)>(cudaEventQuery) && is<cudaError_t(Event)>(cudaEventSynchronize), "");
static_assert(is<cudaError_t(void *, const void *, size_t, cudaMemcpyKind, Stream)>(cudaMemcpyAsync), "");
static_assert(is<cudaError_t(void *, int, size_t, Stream)>(cudaMemsetAsync), "");
static_assert(is<cudaError_t()>(cudaGetLastError) && is<const char *(cudaError_t)>(cudaGetErrorString), "");
