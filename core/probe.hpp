// The rate rho of sweeps: the factor by which a sweep reduces the error of the factors. It is the second eigenvalue of
//
//   J_jk = sum_i S_ij S_ik / (r_i c_j),   S the scaled table,
//
// and is estimated by some steps of the power method with J (a probe). The rate along a vector v is |J v|^2 / <v, J v>, in the norm
// weighted by the column sums c.
#pragma once
#include "problem.hpp"

namespace core::CORE_ISA {

inline constexpr double SLOW_RATE = 0.8;  // above this rate a probe takes more steps as long as the estimate grows
inline constexpr int MAX_PROBES = 10;     // steps of the power method

// The remaining error of the factors divided by their last change, if changes shrink by the factor `rate` per sweep: the geometric
// series rate / (1 - rate), but at least 1, because the row factors are one step behind.
template <class T>
CORE_INLINE T left_after(T rate) { return larger(T{} + 1.0, rate / (1.0 - rate)); }

// Probes up to L solved problems side by side.
template <int L>
class Probe : SideBySide<L> {
 public:
  explicit Probe(const Problem& problem) : p(problem), n(p.n), m(p.m) {}

  // Raise the known rates of some problems to the rates that are found in at least `least` steps.
  void raise(const Scalings& s, const int* problems, int count, int least, double* rate) {
    set(s, problems, count);
    bool any_open = true, is_open[L];  // a lane ends by its own numbers alone: its estimate does not depend on its neighbours
    for (int lane = 0; lane < L; ++lane) is_open[lane] = lane < count;
    for (int steps = 1; any_open; ++steps) {
      center();
      multiply<L>(p.matrix, p.transposed.get(), n, m, weight.get(), u.get());
      alignas(64) double found[L];
      for (int at = 0; at < L; at += N) {
        T product{};
        for (int i = 0; i < n; ++i) {
          const T average = get(&row[i * L + at]) * get(&u[i * L + at]) * (1.0 / p.row_sum(i));
          product += p.row_sum(i) * average * average;
          put(&u[i * L + at], get(&row[i * L + at]) * average);
        }
        put(found + at, product);
      }
      multiply<L>(p.transposed.get(), p.matrix, m, n, u.get(), total.get());
      for (int at = 0; at < L; at += N) {
        T square{};
        for (int to = at; to < m * L; to += L) {
          put(&v[to], get(&w[to]) * get(&total[to]));
          square += get(&c[to]) * get(&v[to]) * get(&v[to]);
        }
        const T scale = root(double(n) / larger(square, T{} + 1e-280));
        for (int to = at; to < m * L; to += L) put(&v[to], get(&v[to]) * scale);
        put(found + at, smaller(square / larger(get(found + at), T{} + 1e-280), T{} + 1.0));
      }
      any_open = false;
      for (int lane = 0; lane < count; ++lane) {
        if (!is_open[lane]) continue;
        is_open[lane] = steps < least || (steps < MAX_PROBES && found[lane] > SLOW_RATE && found[lane] > 1.01 * rate[lane]);
        rate[lane] = larger(rate[lane], found[lane]), any_open |= is_open[lane];
      }
    }
  }

  Array<double> v;  // (m, L): the last vectors

 private:
  using typename SideBySide<L>::T;
  using SideBySide<L>::N, SideBySide<L>::get, SideBySide<L>::put;

  void set(const Scalings& s, const int* problems, int count) {
    for (auto* values : {&v, &w, &c, &weight, &total}) values->resize(m * L);
    u.resize(n * L), row.resize(n * L);
    for (int lane = 0; lane < L; ++lane) {
      const int k = problems[lane < count ? lane : 0];  // spare lanes repeat the first problem, so that they hold no NaN
      const double *factor = s.factor.at(k), *sum = s.column_sum.at(k), *own = s.row.at(k);
      int most = 0;
      for (int j = 0; j < m; ++j) {
        w[j * L + lane] = factor[j * W], c[j * L + lane] = sum[j * W], v[j * L + lane] = p.probe[j];
        most = sum[j * W] > sum[most * W] ? j : most;
      }
      largest[lane] = most;
      for (int i = 0; i < n; ++i) row[i * L + lane] = own[i * W];
    }
  }

  // Subtract the mean of each vector; before that the entry of the largest column, which reduces cancellation.
  void center() {
    for (int lane = 0; lane < L; ++lane) {
      const double reference = v[largest[lane] * L + lane];
      double mean = 0.0, sum = 0.0;
      for (int j = 0; j < m; ++j) {
        v[j * L + lane] -= reference;
        mean += c[j * L + lane] * v[j * L + lane], sum += c[j * L + lane];
      }
      mean /= sum;
      for (int j = 0; j < m; ++j) weight[j * L + lane] = c[j * L + lane] * w[j * L + lane] * (v[j * L + lane] - mean);
    }
  }

  const Problem& p;
  int n, m, largest[L];
  Array<double> w, c, weight, total, u, row;
};

}  // namespace core::CORE_ISA
