// Conversions against those of NVIDIA's headers, which do on a host what a GPU does: every code, and every float where a
// code changes. Needs the headers of a CUDA toolkit.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "check.h"
#include "inputs.h"

namespace {

// NaN are one to a GPU's arithmetic: which one a conversion to more bits makes is not held.
bool same(float a, float b) { return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)); }

double f16_value(uint32_t code) { return static_cast<double>(__half2float(__half_raw{static_cast<uint16_t>(code)})); }
double bf16_value(uint32_t code) {
  return static_cast<double>(__bfloat162float(__nv_bfloat16_raw{static_cast<uint16_t>(code)}));
}

void sixteen_bits() {
  for (uint32_t code = 0; code < 0x10000; code++) {
    const uint16_t bits = static_cast<uint16_t>(code);
    CHECK(same(kvk::to_float(kvk::f16{bits}), __half2float(__half_raw{bits})));
    CHECK(same(kvk::to_float(kvk::bf16{bits}), __bfloat162float(__nv_bfloat16_raw{bits})));
  }
  boundaries(0x7BFF, f16_value, [](float v) {
    CHECK_EQUAL(kvk::from_float<kvk::f16>(v).bits, static_cast<__half_raw>(__float2half_rn(v)).x);
  });
  boundaries(0x7F7F, bf16_value, [](float v) {
    CHECK_EQUAL(kvk::from_float<kvk::bf16>(v).bits, static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(v)).x);
  });
}

template <class Q>
void eight_bits(__nv_fp8_interpretation_t format, uint32_t largest) {
  for (uint32_t pair = 0; pair < 0x10000; pair++) {
    const __half2_raw wanted = __nv_cvt_fp8x2_to_halfraw2(static_cast<uint16_t>(pair), format);
    const uint32_t word = kvk::unpack<Q>(static_cast<uint16_t>(pair));
    CHECK(same(kvk::low<kvk::f16>(word), __half2float(__half_raw{wanted.x})));
    CHECK(same(kvk::high<kvk::f16>(word), __half2float(__half_raw{wanted.y})));
  }
  const auto value = [format](uint32_t code) {
    const __half_raw exact = __nv_cvt_fp8_to_halfraw(static_cast<uint8_t>(code), format);
    return static_cast<double>(__half2float(exact));
  };
  boundaries(largest, value, [format](float v) {
    CHECK_EQUAL(kvk::quantize<Q>(v), __nv_cvt_float_to_fp8(v, __NV_SATFINITE, format));
  });
}

}  // namespace

int main() {
  sixteen_bits();
  eight_bits<kvk::e4m3>(__NV_E4M3, 0x7E);
  eight_bits<kvk::e5m2>(__NV_E5M2, 0x7B);
  return checked();
}
