// Random numbers and elementary functions of a number or a vector, with the same bits on every processor.
#pragma once
#include "lanes.hpp"

namespace core::CORE_ISA {

template <class T> struct WordsOf;
template <> struct WordsOf<double> { using type = uint64_t; };
template <> struct WordsOf<Vec> { using type = Words; };

template <class To, class From>
CORE_INLINE To bits(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  std::memcpy(&y, &x, sizeof x);
  return y;
}

// Philox4x32-10 (Salmon et al. 2011): two random words for a lesson and a pair of rounds.
template <class W>
CORE_INLINE void random_words(uint64_t seed, W lesson, uint64_t pair, W& even, W& odd) {
  const uint64_t LOW = 0xffffffffULL;
  W c0 = lesson & LOW, c1 = lesson >> 32, c2 = W{} + (pair & LOW), c3 = W{} + (pair >> 32);
  uint64_t k0 = seed & LOW, k1 = seed >> 32;
  for (int i = 0; i < 10; ++i) {
    W p0 = half_product(c0, W{} + 0xD2511F53ULL), p1 = half_product(c2, W{} + 0xCD9E8D57ULL);
    W n0 = (p1 >> 32) ^ c1 ^ k0, n2 = (p0 >> 32) ^ c3 ^ k1;
    c1 = p1 & LOW, c3 = p0 & LOW, c0 = n0, c2 = n2;
    k0 = (k0 + 0x9E3779B9ULL) & LOW, k1 = (k1 + 0xBB67AE85ULL) & LOW;
  }
  even = (c0 << 32) | c1, odd = (c2 << 32) | c3;
}

// A uniform number in (0, 1) from the upper 52 bits k of a word: (k + 1/2) / 2**52.
template <class T>
CORE_INLINE T unit_interval(typename WordsOf<T>::type word) {
  return bits<T>((word >> 12) | 0x3FF0000000000000ULL) - (1.0 - 0x1p-53);
}

// Two uniform numbers for a lesson and a pair of rounds.
template <class T>
CORE_INLINE void uniforms(uint64_t seed, typename WordsOf<T>::type lesson, uint64_t pair, T& even, T& odd) {
  typename WordsOf<T>::type first, second;
  random_words(seed, lesson, pair, first, second);
  even = unit_interval<T>(first), odd = unit_interval<T>(second);
}

// The natural logarithm of positive, finite, normal numbers, to 3 units in the last place (after fdlibm). The caller computes
// s = (f - 1) / (f + 1) with f = `fraction`, and passes s to `finish`. So a caller can compute several quotients by one division.
template <class T>
struct LogParts {
  T exponent, fraction;
  CORE_INLINE explicit LogParts(T x) {
    using W = typename WordsOf<T>::type;
    const W b = bits<W>(x) + (0x3FF0000000000000ULL - 0x3FE6A09E00000000ULL);
    exponent = bits<T>((b >> 52) | 0x4330000000000000ULL) - (0x1p52 + 1023.0);
    fraction = bits<T>((b & 0x000FFFFFFFFFFFFFULL) + 0x3FE6A09E00000000ULL);
  }
  CORE_INLINE T finish(T s) const {
    const T z = s * s, zz = z * z;
    const T even = zz * (0.3999999999940941908 + zz * (0.2222219843214978396 + zz * 0.1531383769920937332));
    const T odd = z * (0.6666666666666735130 + zz * (0.2857142874366239149 + zz * (0.1818357216161805012 + zz * 0.1479819860511658591)));
    return exponent * 0.6931471805599453 + s * (2.0 + (even + odd));
  }
};

template <class T>
CORE_INLINE T logarithm(T x) {
  const LogParts<T> parts(x);
  return parts.finish((parts.fraction - 1.0) / (parts.fraction + 1.0));
}

// The exponential function to 2 units in the last place; zero for x < -708, exp(709) for x > 709.
template <class T>
CORE_INLINE T exponential(T x) {
  using W = typename WordsOf<T>::type;
  const T y = larger(smaller(x, T{} + 709.0), T{} - 708.0);
  const T shifted = y * 1.4426950408889634 + 0x1.8p52, k = shifted - 0x1.8p52;
  const T f = (y - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  T s = T{} + 1.0 / 6227020800.0;
  const double rest[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                         1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  for (double c : rest) s = s * f + c;
  const W power = (bits<W>(shifted) + 1023) << 52;
  return select(x >= -708.0, s * bits<T>(power), T{});
}

// The logarithm of a number >= 0, denormal numbers included; minus infinity for zero.
template <class T>
CORE_INLINE T logarithm_of_any(T x) {
  const auto is_small = x < 0x1p-1000;
  const T log = logarithm(larger(select(is_small, x * 0x1p200, x), T{} + 0x1p-1000));
  return select(x > 0.0, select(is_small, log - 200 * 0.6931471805599453, log), T{} - __builtin_inf());
}

// The Taylor polynomial of exp(x) to fourth order; positive. Used for |x| <= 1.
template <class T>
CORE_INLINE T growth(T x) {
  return 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0))));
}

}  // namespace core::CORE_ISA
