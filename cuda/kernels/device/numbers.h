// Conversions between the types of a cache and binary32, and their packing in pairs.
//
// On a GPU these are single instructions where the chip has them. On the CPU device they are integer code with the
// same results for every input, subnormals and NaN included: held exhaustively by `cuda/tests`.
//
//   kvk::f16, kvk::bf16              16 bits, `.bits`
//   kvk::to_float(f16|bf16)          exact
//   kvk::from_float<T>(float)        nearest even; f16 overflows to infinity
//   kvk::pack<T>(float a, float b)   two of T in a word, a below
//   kvk::low<T>(word) high<T>(word)  their values as floats
//   kvk::e4m3 e5m2 int8              tags, for the below
//   kvk::unpack<Q>(uint16_t two)     two 8-bit numbers as a pair of f16 in a word: exact
//   kvk::quantize<Q>(float)          one 8-bit number: nearest even, saturated to +-448, +-57344, +-127; NaN stays NaN
//                                    (0 in int8)
#ifndef KVK_DEVICE_NUMBERS_H
#define KVK_DEVICE_NUMBERS_H

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif

namespace kvk {

struct e4m3 {};
struct e5m2 {};
struct int8 {};

#if defined(__CUDACC__)

KVK_DEVICE float to_float(f16 v) { return __half2float(__ushort_as_half(v.bits)); }
KVK_DEVICE float to_float(bf16 v) { return __bfloat162float(__ushort_as_bfloat16(v.bits)); }

template <class T>
KVK_DEVICE T from_float(float v);
template <>
KVK_DEVICE f16 from_float<f16>(float v) {
  return f16{__half_as_ushort(__float2half_rn(v))};
}
template <>
KVK_DEVICE bf16 from_float<bf16>(float v) {
  return bf16{__bfloat16_as_ushort(__float2bfloat16_rn(v))};
}

template <class T>
KVK_DEVICE uint32_t pack(float a, float b);
template <>
KVK_DEVICE uint32_t pack<f16>(float a, float b) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  return word;
}
template <>
KVK_DEVICE uint32_t pack<bf16>(float a, float b) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(b), "f"(a));
  return word;
}

template <class Q>
KVK_DEVICE uint32_t unpack(uint16_t two);
template <>
KVK_DEVICE uint32_t unpack<e4m3>(uint16_t two) {
  const __half2_raw pair = __nv_cvt_fp8x2_to_halfraw2(two, __NV_E4M3);
  return static_cast<uint32_t>(pair.x) | static_cast<uint32_t>(pair.y) << 16;
}
template <>
KVK_DEVICE uint32_t unpack<e5m2>(uint16_t two) {
  // The upper half of binary16.
  return static_cast<uint32_t>(two & 0x00FFu) << 8 | static_cast<uint32_t>(two & 0xFF00u) << 16;
}
template <>
KVK_DEVICE uint32_t unpack<int8>(uint16_t two) {
  // 0x6400 is 1,024 with a unit of 1 in the last place: the number is put there as it is, biased by 128.
  const uint32_t biased = static_cast<uint32_t>(two) ^ 0x8080u;
  const uint32_t pair = 0x64006400u | (biased & 0xFFu) | (biased & 0xFF00u) << 8;
  const __half2 difference = __hsub2(reinterpret_cast<const __half2 &>(pair), __float2half2_rn(1152.0f));
  return reinterpret_cast<const uint32_t &>(difference);
}

template <class Q>
KVK_DEVICE uint8_t quantize(float v);
template <>
KVK_DEVICE uint8_t quantize<e4m3>(float v) {
  return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
}
template <>
KVK_DEVICE uint8_t quantize<e5m2>(float v) {
  return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2);
}
template <>
KVK_DEVICE uint8_t quantize<int8>(float v) {
  if (!(v == v)) return 0;
  return static_cast<uint8_t>(static_cast<int8_t>(__float2int_rn(fminf(fmaxf(v, -127.0f), 127.0f))));
}

#else
#include "../../cpu/numbers.h"
#endif

template <class T>
KVK_DEVICE float low(uint32_t word) {
  return to_float(T{static_cast<uint16_t>(word)});
}
template <class T>
KVK_DEVICE float high(uint32_t word) {
  return to_float(T{static_cast<uint16_t>(word >> 16)});
}

}  // namespace kvk

#endif
