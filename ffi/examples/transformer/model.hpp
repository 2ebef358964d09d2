/* A small transformer with random weights: RMS norms, rotary positions, grouped-query attention, a feed-forward network.
 * All but attention is plain loops over one token at a time, so that a token's result does not depend on what is
 * computed beside it. Attention is somebody else's: see attention.hpp. */
#ifndef TRANSFORMER_MODEL_HPP
#define TRANSFORMER_MODEL_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace transformer {

constexpr std::uint32_t kVocabulary = 211, kHidden = 64, kInner = 128, kLayers = 2;
constexpr std::uint32_t kHeads = 2, kQueryHeads = 4, kDim = 64;
constexpr std::uint32_t kKeyWidth = kHeads * kDim, kQueryWidth = kQueryHeads * kDim;

using Vector = std::vector<float>;
using Half = std::uint16_t; /* bfloat16: the upper half of a float */

inline Half narrow(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<Half>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline float widen(Half half) {
  const std::uint32_t bits = std::uint32_t{half} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/* A linear map without a bias. */
struct Matrix {
  std::uint32_t rows, columns;
  Vector weights;

  Matrix(std::uint32_t rows, std::uint32_t columns, std::mt19937 &random) : rows(rows), columns(columns) {
    /* Not std::normal_distribution, whose numbers differ from library to library. */
    for (std::uint32_t i = 0; i < rows * columns; ++i) {
      const float uniform = static_cast<float>(random()) / 4294967296.0f;
      weights.push_back((uniform - 0.5f) * 3.4f / std::sqrt(static_cast<float>(columns)));
    }
  }
  Vector times(const Vector &x) const {
    Vector y(rows);
    for (std::uint32_t row = 0; row < rows; ++row) {
      float sum = 0;
      for (std::uint32_t i = 0; i < columns; ++i) sum += weights[row * columns + i] * x[i];
      y[row] = sum;
    }
    return y;
  }
};

struct Layer {
  Matrix query, key, value, output, up, down;

  explicit Layer(std::mt19937 &random)
      : query(kQueryWidth, kHidden, random), key(kKeyWidth, kHidden, random), value(kKeyWidth, kHidden, random),
        output(kHidden, kQueryWidth, random), up(kInner, kHidden, random), down(kHidden, kInner, random) {}
};

inline Vector normal(const Vector &x) {
  float squares = 0;
  for (float v : x) squares += v * v;
  Vector y(x);
  for (float &v : y) v /= std::sqrt(squares / static_cast<float>(x.size()) + 1e-5f);
  return y;
}

/* Turns pairs of each head by angles that grow with the token's place, and rounds. */
inline void rotate(const Vector &x, std::uint32_t place, Half *to) {
  for (std::uint32_t head = 0; head < x.size(); head += kDim)
    for (std::uint32_t i = 0; i < kDim / 2; ++i) {
      const float angle = static_cast<float>(place) * std::pow(10000.0f, -2.0f * static_cast<float>(i) / kDim);
      const float a = x[head + i], b = x[head + i + kDim / 2], c = std::cos(angle), s = std::sin(angle);
      to[head + i] = narrow(a * c - b * s);
      to[head + i + kDim / 2] = narrow(a * s + b * c);
    }
}

/* Queries, keys and values of the tokens of one step, and what attention makes of them. */
struct Heads {
  std::vector<Half> queries, keys, values, output;
};

class Model {
 public:
  explicit Model(std::uint32_t seed)
      : random_(seed), embedding_(kVocabulary, kHidden, random_), head_(kVocabulary, kHidden, random_) {
    for (std::uint32_t i = 0; i < kLayers; ++i) layers_.emplace_back(random_);
  }

  /* The logits of each of `tokens`, which stand at `places` of their sequences. `attend(layer, heads)` stores keys and
   * values and fills `output`. */
  template <class Attend>
  std::vector<Vector> run(const std::vector<std::uint32_t> &tokens, const std::vector<std::uint32_t> &places,
                          Attend attend) const {
    std::vector<Vector> x;
    for (std::uint32_t token : tokens) {
      const float *const row = &embedding_.weights[token * kHidden];
      x.emplace_back(row, row + kHidden);
      for (float &v : x.back()) v *= std::sqrt(static_cast<float>(kHidden));
    }
    for (std::uint32_t l = 0; l < kLayers; ++l) {
      const Layer &layer = layers_[l];
      Heads heads = project(layer, x, places);
      attend(l, heads);
      for (std::size_t t = 0; t < x.size(); ++t) finish(layer, &heads.output[t * kQueryWidth], x[t]);
    }
    for (Vector &row : x) row = head_.times(normal(row));
    return x;
  }

 private:
  static Heads project(const Layer &layer, const std::vector<Vector> &x, const std::vector<std::uint32_t> &places) {
    Heads heads;
    heads.queries.resize(x.size() * kQueryWidth);
    heads.output.resize(x.size() * kQueryWidth);
    heads.keys.resize(x.size() * kKeyWidth);
    heads.values.resize(x.size() * kKeyWidth);
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Vector h = normal(x[t]), value = layer.value.times(h);
      rotate(layer.query.times(h), places[t], &heads.queries[t * kQueryWidth]);
      rotate(layer.key.times(h), places[t], &heads.keys[t * kKeyWidth]);
      std::transform(value.begin(), value.end(), &heads.values[t * kKeyWidth], narrow);
    }
    return heads;
  }

  static void finish(const Layer &layer, const Half *attended, Vector &x) {
    Vector h(kQueryWidth);
    std::transform(attended, attended + kQueryWidth, h.begin(), widen);
    h = layer.output.times(h);
    for (std::uint32_t i = 0; i < kHidden; ++i) x[i] += h[i];
    h = layer.up.times(normal(x));
    for (float &v : h) v = std::max(v, 0.0f);
    h = layer.down.times(h);
    for (std::uint32_t i = 0; i < kHidden; ++i) x[i] += h[i];
  }

  std::mt19937 random_;
  Matrix embedding_, head_;
  std::vector<Layer> layers_;
};

/* The best token, or the second best. */
inline std::uint32_t choose(const Vector &logits, bool second) {
  const auto best = static_cast<std::uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  if (!second) return best;
  Vector others(logits);
  others[best] = -INFINITY;
  return static_cast<std::uint32_t>(std::max_element(others.begin(), others.end()) - others.begin());
}

}  // namespace transformer

#endif
