// The inputs of conversions where something changes: between two neighbours of a narrow type, at its ends, at zero and
// at what is no number.
#ifndef KVK_CPU_TESTS_INPUTS_H
#define KVK_CPU_TESTS_INPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Calls `each` with a magnitude, the floats beside it, and all of their opposites.
template <class Each>
void around(float magnitude, const Each &each) {
  const float three[] = {nextafterf(magnitude, 0.0f), magnitude, nextafterf(magnitude, INFINITY)};
  for (const float one : three) {
    each(one);
    each(-one);
  }
}

// `value_of(code)` is the magnitude with that code, exactly; codes 0..=largest ascend.
template <class ValueOf, class Each>
void boundaries(uint32_t largest, const ValueOf &value_of, const Each &each) {
  for (uint32_t code = 0; code < largest; code++) {
    const double low = value_of(code), high = value_of(code + 1);
    around(static_cast<float>(low), each);
    around(static_cast<float>(low + (high - low) / 2), each);
  }
  const double last = value_of(largest), step = last - value_of(largest - 1);
  around(static_cast<float>(last), each);
  around(static_cast<float>(last + step / 2), each);
  around(static_cast<float>(last + step), each);
  around(INFINITY, each);
  // Every exponent of binary32, subnormals too, and NaN of both signs, quiet or not, with any one bit of payload.
  for (uint32_t exponent = 0; exponent < 256; exponent++) {
    for (uint32_t bit = 0; bit < 23; bit++) {
      each(float_of_bits(exponent << 23 | 1u << bit));
      each(float_of_bits(0x80000000 | exponent << 23 | 1u << bit));
    }
  }
  // And some of what is in between.
  uint32_t bits = 1;
  for (uint32_t i = 0; i < 1000000; i++) {
    bits = bits * 1664525 + 1013904223;
    each(float_of_bits(bits));
  }
}

#endif
