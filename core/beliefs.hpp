// Beliefs far below the range of float64: theta_j = mantissa_j * 2**(-512 shift_j), shift_j an integer >= 0. A belief
// with a positive shift is below 2**-512 and is treated as zero in sums, but not where zeros.hpp finds components. Python passes and
// receives logarithms.
//
// For each hypothesis, the values of W consecutive lessons are adjacent in memory, so that vector instructions can load
// them.
#pragma once
#include "numbers.hpp"

namespace core::CORE_ISA {

inline constexpr int W = 8;  // the widest vector, AVX-512
inline constexpr double UNIT = 0x1p-512, INVERSE_UNIT = 0x1p512;  // one shift
// 512 log 2 in two parts: products of the first part with shifts up to 2**21 are exact.
inline constexpr double UNIT_LOG = 0x1.62e42feep8, UNIT_LOG_REST = 0x1.a39ef35793c76p-24;

// `width` numbers for each of `size` lessons; number j of lesson k is at(k)[j * W].
struct Grid {
  int width = 0;
  Array<double> values;

  void resize(int new_width, int size) { width = new_width, values.resize(size_t(size + W - 1) / W * W * new_width); }
  double* at(int k) { return values.get() + size_t(unsigned(k) / W) * W * width + unsigned(k) % W; }
  const double* at(int k) const { return values.get() + size_t(unsigned(k) / W) * W * width + unsigned(k) % W; }
  void copy(int from, int to) {
    const double* source = at(from);
    double* target = at(to);
    for (int j = 0; j < width * W; j += W) target[j] = source[j];
  }
};

template <class T>
CORE_INLINE T as_number(T mantissa, T shift) { return select(shift == 0.0, mantissa, T{}); }

// Change the shift by one where the mantissa has left [2**-512, 1). Without a shift, the mantissa may also be 1.
template <class T>
CORE_INLINE void renormalise(T& mantissa, T& shift) {
  auto sinks = (mantissa < UNIT) & (mantissa > 0.0), rises = (mantissa >= 1.0) & (shift > 0.0);
  if (__builtin_expect(any(sinks | rises), 0)) {
    shift = select(sinks, shift + 1.0, select(rises, shift - 1.0, shift));
    mantissa = select(sinks, mantissa * INVERSE_UNIT, select(rises, mantissa * UNIT, mantissa));
  }
}

template <class T>
CORE_INLINE T log_belief(T mantissa, T shift) {
  const T log = logarithm(larger(mantissa, T{} + 0x1p-1000)) - shift * UNIT_LOG - shift * UNIT_LOG_REST;
  return select(mantissa > 0.0, log, T{} - __builtin_inf());
}

// Mantissa and shift of exp(log), log <= 0.
CORE_INLINE void from_log(double log, double& mantissa, double& shift) {
  shift = 0.0, mantissa = 0.0;
  if (!(log > -1e18)) return;  // the shift would exceed 2**51: treat the hypothesis as excluded
  if (log < -UNIT_LOG) shift = double(int64_t(-log / UNIT_LOG));
  mantissa = exponential((log + shift * UNIT_LOG) + shift * UNIT_LOG_REST);
  renormalise(mantissa, shift);
}

// The beliefs of many lessons, as mantissas and shifts.
struct Beliefs {
  Grid mantissa, shift;

  void resize(int m, int size) { mantissa.resize(m, size), shift.resize(m, size); }
  int width() const { return mantissa.width; }
  void set_logs(int k, const double* logs) {
    double *x = mantissa.at(k), *s = shift.at(k);
    for (int j = 0; j < width(); ++j) from_log(logs[j], x[j * W], s[j * W]);
  }
  void get_logs(int k, double* logs) const {
    const double *x = mantissa.at(k), *s = shift.at(k);
    for (int j = 0; j < width(); ++j) logs[j] = log_belief(x[j * W], s[j * W]);
  }
  // The belief as a float64; zero only if it underflows.
  double any_number(int k, int j) const {
    const double x = mantissa.at(k)[j * W], s = shift.at(k)[j * W];
    return s == 0.0 ? x : s < 3.0 ? x * (s == 1.0 ? UNIT : UNIT * UNIT) : 0.0;
  }
  // The belief as a float64; zero below 2**-512.
  double number(int k, int j) const { return as_number(mantissa.at(k)[j * W], shift.at(k)[j * W]); }
};

}  // namespace core::CORE_ISA
