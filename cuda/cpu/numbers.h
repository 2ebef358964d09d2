// The conversions of `kernels/device/numbers.h` in integers, with the results of a GPU for every input; only which NaN
// comes of one that becomes wider is not held. Included there, inside of namespace kvk.
#ifndef KVK_CPU_NUMBERS_H
#define KVK_CPU_NUMBERS_H

namespace cpu {

KVK_DEVICE uint32_t float_bits(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
KVK_DEVICE float float_of(uint32_t bits) {
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

constexpr uint32_t kMagnitude = 0x7FFFFFFF;
constexpr uint32_t kInfinity = 0x7F800000;
constexpr unsigned kMantissa = 23;  // bits of binary32's
constexpr uint32_t kBias = 127;

// The magnitude of a finite number of binary32, rounded to the nearest of a type with so many bits of mantissa and this
// bias, even if two are near: as that type's bits, with an exponent that may be larger than it has.
KVK_DEVICE uint32_t narrow(uint32_t magnitude, unsigned mantissa, uint32_t bias) {
  const uint32_t exponent = magnitude >> kMantissa;
  const uint32_t lowest = kBias - bias + 1;  // the exponent in binary32 of the least that is not subnormal
  unsigned drop = kMantissa - mantissa;
  uint32_t kept = magnitude;
  if (exponent < lowest) {
    // Subnormal there: the leading bit is written, and more are dropped. More than all: it is no half of the least.
    drop += lowest - exponent;
    if (drop > kMantissa + 1) return 0;
    kept = (magnitude & ((1u << kMantissa) - 1)) | 1u << kMantissa;
  } else {
    kept -= (lowest - 1) << kMantissa;
  }
  const uint32_t half = (1u << (drop - 1)) - 1 + (kept >> drop & 1);
  return (kept + half) >> drop;
}

}  // namespace cpu

KVK_DEVICE float to_float(bf16 v) { return cpu::float_of(static_cast<uint32_t>(v.bits) << 16); }
KVK_DEVICE float to_float(f16 v) {
  const uint32_t sign = static_cast<uint32_t>(v.bits & 0x8000) << 16;
  const uint32_t magnitude = v.bits & 0x7FFF;
  // A product moves the exponent, for subnormals too; infinities and NaN want theirs full.
  const uint32_t full = magnitude >= 0x7C00 ? cpu::kInfinity : 0;
  return cpu::float_of(cpu::float_bits(cpu::float_of(magnitude << 13) * 0x1p112f) | full | sign);
}

template <class T>
KVK_DEVICE T from_float(float v);
template <>
KVK_DEVICE bf16 from_float<bf16>(float v) {
  const uint32_t bits = cpu::float_bits(v);
  if ((bits & cpu::kMagnitude) > cpu::kInfinity) return bf16{0x7FFF};
  return bf16{static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)};
}
template <>
KVK_DEVICE f16 from_float<f16>(float v) {
  const uint32_t bits = cpu::float_bits(v);
  const uint32_t magnitude = bits & cpu::kMagnitude;
  const uint32_t sign = bits >> 16 & 0x8000;
  if (magnitude > cpu::kInfinity) return f16{0x7FFF};
  const uint32_t rounded = magnitude == cpu::kInfinity ? 0x7C00 : cpu::narrow(magnitude, 10, 15);
  return f16{static_cast<uint16_t>(sign | (rounded < 0x7C00 ? rounded : 0x7C00))};
}

template <class T>
KVK_DEVICE uint32_t pack(float a, float b) {
  return static_cast<uint32_t>(from_float<T>(b).bits) << 16 | from_float<T>(a).bits;
}

namespace cpu {

KVK_DEVICE uint32_t f16_of_e4m3(uint32_t code) {
  const uint32_t magnitude = code & 0x7F;
  if (magnitude == 0x7F) return 0x7FFF;
  const uint32_t sign = (code & 0x80) << 8;
  if (magnitude >= 8) return sign | (magnitude + (8 << 3)) << 7;
  constexpr uint16_t kSubnormal[8] = {0, 0x1800, 0x1C00, 0x1E00, 0x2000, 0x2100, 0x2200, 0x2300};  // eighths of 2^-6
  return sign | kSubnormal[magnitude];
}

// A number of one byte: what rounds to more than `largest`, infinities too, is that.
KVK_DEVICE uint8_t quantize(float v, unsigned mantissa, uint32_t bias, uint32_t largest) {
  const uint32_t bits = float_bits(v);
  const uint32_t magnitude = bits & kMagnitude;
  if (magnitude > kInfinity) return 0x7F;
  const uint32_t rounded = magnitude == kInfinity ? largest : narrow(magnitude, mantissa, bias);
  return static_cast<uint8_t>((bits >> 24 & 0x80) | (rounded < largest ? rounded : largest));
}

}  // namespace cpu

template <class Q>
KVK_DEVICE uint32_t unpack(uint16_t two);
template <>
KVK_DEVICE uint32_t unpack<e4m3>(uint16_t two) {
  return cpu::f16_of_e4m3(two & 0xFF) | cpu::f16_of_e4m3(two >> 8) << 16;
}
template <>
KVK_DEVICE uint32_t unpack<e5m2>(uint16_t two) {
  // The upper half of binary16.
  return static_cast<uint32_t>(two & 0x00FFu) << 8 | static_cast<uint32_t>(two & 0xFF00u) << 16;
}
template <>
KVK_DEVICE uint32_t unpack<int8>(uint16_t two) {
  return pack<f16>(static_cast<int8_t>(two & 0xFF), static_cast<int8_t>(two >> 8));
}

template <class Q>
KVK_DEVICE uint8_t quantize(float v);
template <>
KVK_DEVICE uint8_t quantize<e4m3>(float v) {
  return cpu::quantize(v, 3, 7, 0x7E);
}
template <>
KVK_DEVICE uint8_t quantize<e5m2>(float v) {
  return cpu::quantize(v, 2, 15, 0x7B);
}
template <>
KVK_DEVICE uint8_t quantize<int8>(float v) {
  if (!(v == v)) return 0;
  const float most = v > 127.0f ? 127.0f : v < -127.0f ? -127.0f : v;
  return static_cast<uint8_t>(static_cast<int8_t>(__builtin_nearbyintf(most)));
}

#endif
