// Conversions against what the formats are, in double and by search: every code, and every float where a code changes.
#include "check.h"
#include "inputs.h"

namespace {

// A type of floating point: bits of mantissa, bias, and the code of the largest finite magnitude.
struct Format {
  uint32_t mantissa;
  int32_t bias;
  uint32_t largest;
};
constexpr Format kF16{10, 15, 0x7BFF}, kBf16{7, 127, 0x7F7F}, kE4m3{3, 7, 0x7E}, kE5m2{2, 15, 0x7B};

double value_of(const Format &format, uint32_t code) {
  const uint32_t exponent = code >> format.mantissa, mantissa = code & ((1u << format.mantissa) - 1);
  const int32_t unit = 1 - format.bias - static_cast<int32_t>(format.mantissa);
  if (exponent == 0) return ldexp(mantissa, unit);
  return ldexp(mantissa + (1u << format.mantissa), static_cast<int32_t>(exponent) - 1 + unit);
}

// The code nearest to a finite magnitude, the even one of two; one more than the largest where that is nearer.
uint32_t nearest(const Format &format, double magnitude) {
  uint32_t low = 0, high = format.largest + 1;  // value_of(low) <= magnitude, and magnitude < value_of(high) or no more
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (value_of(format, middle) <= magnitude) low = middle;
    else high = middle;
  }
  const double below = magnitude - value_of(format, low), above = value_of(format, high) - magnitude;
  if (below != above) return below < above ? low : high;
  return low % 2 == 0 ? low : high;
}

template <class T>
void sixteen_bits(const Format &format) {
  const uint32_t infinity = format.largest + 1;
  for (uint32_t code = 0; code < 0x10000; code++) {
    const float is = kvk::to_float(T{static_cast<uint16_t>(code)});
    const uint32_t magnitude = code & 0x7FFF;
    if (magnitude > infinity) {
      CHECK(isnan(is));
      continue;
    }
    const double size = magnitude == infinity ? INFINITY : value_of(format, magnitude);
    CHECK(fabs(static_cast<double>(is)) == size && signbit(is) == (code >> 15 != 0));
    CHECK_EQUAL(kvk::from_float<T>(is).bits, code);
    CHECK(kvk::low<T>(0xABCD0000 | code) == is && kvk::high<T>(code << 16 | 0xABCD) == is);
    CHECK_EQUAL(kvk::pack<T>(is, 1.0f), static_cast<uint32_t>(kvk::from_float<T>(1.0f).bits) << 16 | code);
  }
  const auto value = [&format](uint32_t code) { return value_of(format, code); };
  boundaries(format.largest, value, [&format, infinity](float v) {
    uint32_t wanted = 0x7FFF;
    if (!isnan(v)) {
      wanted = isinf(v) ? infinity : nearest(format, fabs(static_cast<double>(v)));
      wanted |= signbit(v) ? 0x8000 : 0;
    }
    CHECK_EQUAL(kvk::from_float<T>(v).bits, wanted);
    CHECK_EQUAL(kvk::pack<T>(v, -v) & 0xFFFF, wanted);
  });
}

bool same(float a, double b) { return static_cast<double>(a) == b && signbit(a) == signbit(b); }

// `nan`: the least magnitude that is none; `infinity`: its code, or as much.
template <class Q>
void eight_bits(const Format &format, uint32_t infinity, uint32_t nan) {
  for (uint32_t pair = 0; pair < 0x10000; pair++) {
    const uint32_t word = kvk::unpack<Q>(static_cast<uint16_t>(pair));
    const float halves[] = {kvk::low<kvk::f16>(word), kvk::high<kvk::f16>(word)};
    for (uint32_t i = 0; i < 2; i++) {
      const uint32_t code = pair >> 8 * i & 0xFF, magnitude = code & 0x7F;
      if (magnitude >= nan) {
        CHECK(isnan(halves[i]));
        continue;
      }
      const double size = magnitude == infinity ? INFINITY : value_of(format, magnitude);
      CHECK(same(halves[i], code >> 7 ? -size : size));
      if (magnitude <= format.largest) CHECK_EQUAL(kvk::quantize<Q>(halves[i]), code);
    }
  }
  const auto value = [&format](uint32_t code) { return value_of(format, code); };
  boundaries(format.largest, value, [&format](float v) {
    uint32_t wanted = 0x7F;
    if (!isnan(v)) {
      wanted = isinf(v) ? format.largest : nearest(format, fabs(static_cast<double>(v)));
      if (wanted > format.largest) wanted = format.largest;
      wanted |= signbit(v) ? 0x80 : 0;
    }
    CHECK_EQUAL(kvk::quantize<Q>(v), wanted);
  });
}

// To the nearest, the even one of two, by its distances.
int32_t nearest_integer(double v) {
  const double low = floor(v), below = v - low;
  const int32_t integer = static_cast<int32_t>(low);
  if (below != 0.5) return below < 0.5 ? integer : integer + 1;
  return integer % 2 == 0 ? integer : integer + 1;
}

void integers() {
  for (uint32_t pair = 0; pair < 0x10000; pair++) {
    const uint32_t word = kvk::unpack<kvk::int8>(static_cast<uint16_t>(pair));
    CHECK(kvk::low<kvk::f16>(word) == static_cast<float>(static_cast<int8_t>(pair & 0xFF)));
    CHECK(kvk::high<kvk::f16>(word) == static_cast<float>(static_cast<int8_t>(pair >> 8)));
  }
  boundaries(200, [](uint32_t code) { return static_cast<double>(code); }, [](float v) {
    int32_t wanted = 0;
    if (!isnan(v)) wanted = v >= 127 ? 127 : v <= -127 ? -127 : nearest_integer(static_cast<double>(v));
    CHECK_EQUAL(kvk::quantize<kvk::int8>(v), static_cast<uint8_t>(wanted));
  });
}

}  // namespace

int main() {
  sixteen_bits<kvk::f16>(kF16);
  sixteen_bits<kvk::bf16>(kBf16);
  eight_bits<kvk::e4m3>(kE4m3, 0x80, 0x7F);
  eight_bits<kvk::e5m2>(kE5m2, 0x7C, 0x7D);
  integers();
  return checked();
}
