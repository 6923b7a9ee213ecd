// The rate rho of sweeps: the factor by which a sweep reduces the error of the factors. It is the second eigenvalue of
//
//   J_jk = sum_i S_ij S_ik / (r_i c_j),   S the scaled table,
//
// which is self-adjoint for <x, y> = sum_j c_j x_j y_j. Some steps of Lanczos' method with J (a probe) estimate it: with unit vectors
// q_k, a_k = <q_k, J q_k> and b_{k+1} q_{k+1} = J q_k - a_k q_k - b_k q_{k-1}, the estimate is the largest eigenvalue of the tridiagonal
// matrix of the a_k and b_k.
//
// The first vector is the indicator e_h of the column h with the largest sum, minus its mean. It has a component along
// every slow mode that separates the group of columns around h from the others. J e_h, the result of the first step,
// gives a bound: with delta = 1 - min_j J_jh, the error is at most 2 delta / (1 - delta) times the last change
// (Doeblin, as in sweeps.hpp). If this is within the tolerance, the first step is the last.
#pragma once
#include "problem.hpp"

namespace core::CORE_ISA {

inline constexpr double SLOWEST_RATE = 0.9;  // above this rate the estimate is not trusted, and careful.hpp solves the problem
// An estimate below this rate is not refined: even for a rate 1.5 times as large the error would be the last change
// (`left_after`).
inline constexpr double HARMLESS_RATE = 1.0 / 3.0;
inline constexpr int MAX_PROBES = 10;        // steps of Lanczos' method
inline constexpr double NOISE = 1e-14;       // rounding error of a sweep: about 50 units in the last place

// The remaining error of the factors divided by their last change, if changes shrink by the factor `rate` per sweep: the geometric
// series rate / (1 - rate), but at least 1, because the row factors are one step behind.
template <class T>
CORE_INLINE T left_after(T rate) { return larger(T{} + 1.0, rate / (1.0 - rate)); }

// Probes up to L solved problems side by side.
template <int L>
class Probe : SideBySide<L> {
 public:
  explicit Probe(const Problem& problem) : p(problem), n(p.n), m(p.m) {}

  // Estimate the rates of some problems. If a rate is larger than the one seen in the sweeps, correct the estimated error for it.
  void correct(Scalings& s, const int* problems, int count, double* rates) {
    set(s, problems, count);
    bool any_open = true, is_open[L];  // a lane's end depends only on its own numbers, so its estimate does not depend on its neighbours
    double found[L] = {};
    for (int lane = 0; lane < L; ++lane) is_open[lane] = lane < count;
    for (int k = 0; any_open; ++k) {
      center(k);
      multiply<L>(p.matrix, p.transposed.get(), n, m, weight.get(), u.get());
      for (int at = 0; at < L; at += N) {
        T product{};
        for (int i = 0; i < n; ++i) {
          const T average = get(&row[i * L + at]) * get(&u[i * L + at]) * (1.0 / p.row_sum(i));
          product += p.row_sum(i) * average * average;
          put(&u[i * L + at], get(&row[i * L + at]) * average);
        }
        put(a[k] + at, product);
      }
      multiply<L>(p.transposed.get(), p.matrix, m, n, u.get(), total.get());
      for (int at = 0; at < L && k == 0; at += N) {
        T most{};
        for (int to = at; to < m * L; to += L) most = larger(most, get(&w[to]) * get(&total[to]));
        const T delta = get(mean + at) + most * get(norm + at) + NOISE;
        put(bound + at, select(delta < 1.0, 2.0 * delta / (1.0 - delta), T{} + __builtin_inf()));
      }
      for (int at = 0; at < L; at += N) {
        const T own = get(a[k] + at), other = root(get(bb[k] + at));
        for (int to = at; to < m * L; to += L) {
          const T next = get(&w[to]) * get(&total[to]) - own * get(&q[to]) - other * get(&before[to]);
          put(&before[to], get(&q[to])), put(&q[to], next);
        }
      }
      alignas(64) double now[L] = {};
      for (int at = 0; at < L && k > 0; at += N) put(now + at, largest_eigenvalue(at, k));
      any_open = false;
      for (int lane = 0; lane < count; ++lane) {
        if (!is_open[lane]) continue;
        const int problem = problems[lane];
        const double change = s.error[problem] / left_after(rates[problem]);
        if (k == 0) {
          is_open[lane] = !(change * bound[lane] <= p.tolerance);
          s.error[problem] = is_open[lane] ? s.error[problem] : change * bound[lane];
        } else if (k + 1 == MAX_PROBES || !(now[lane] > 1.01 * found[lane] && now[lane] > HARMLESS_RATE && now[lane] < SLOWEST_RATE)) {
          is_open[lane] = false;
          rates[problem] = larger(rates[problem], now[lane]);
          s.error[problem] = rates[problem] < SLOWEST_RATE ? change * left_after(rates[problem]) : __builtin_inf();
        }
        found[lane] = k > 0 ? now[lane] : 0.0;
        any_open |= is_open[lane];
      }
    }
  }

 private:
  using typename SideBySide<L>::T;
  using SideBySide<L>::N, SideBySide<L>::get, SideBySide<L>::put;

  void set(const Scalings& s, const int* problems, int count) {
    for (auto* values : {&q, &before, &w, &c, &weight, &total}) values->resize(m * L);
    u.resize(n * L), row.resize(n * L);
    for (int lane = 0; lane < L; ++lane) {
      const int k = problems[lane < count ? lane : 0];  // spare lanes repeat the first problem, so that they contain no NaN
      const double *factor = s.factor.at(k), *sum = s.column_sum.at(k), *own = s.row.at(k);
      int most = 0;
      for (int j = 0; j < m; ++j) {
        w[j * L + lane] = factor[j * W], c[j * L + lane] = sum[j * W], q[j * L + lane] = 1.0, before[j * L + lane] = 0.0;
        most = sum[j * W] > sum[most * W] ? j : most;
      }
      largest[lane] = most, q[most * L + lane] = 0.0;
      for (int i = 0; i < n; ++i) row[i * L + lane] = own[i * W];
    }
  }

  // Make q a unit vector with mean zero. The entry of the largest column is subtracted first, which reduces cancellation.
  void center(int k) {
    for (int at = 0; at < L; at += N) {
      alignas(64) double reference[N];
      for (int lane = 0; lane < N; ++lane) reference[lane] = q[largest[at + lane] * L + at + lane];
      T average{}, sum{}, square{};
      for (int to = at; to < m * L; to += L) average += get(&c[to]) * (get(&q[to]) - get(reference)), sum += get(&c[to]);
      average /= sum;
      for (int to = at; to < m * L; to += L) {
        const T own = (get(&q[to]) - get(reference)) - average;
        square += get(&c[to]) * own * own, put(&q[to], own);
      }
      const T scale = select(square > 1e-280, 1.0 / root(square), T{});
      for (int to = at; to < m * L; to += L) {
        put(&q[to], get(&q[to]) * scale), put(&weight[to], get(&c[to]) * get(&w[to]) * get(&q[to]));
      }
      put(mean + at, average), put(norm + at, root(square)), put(bb[k] + at, k > 0 ? square : T{});
    }
  }

  // The largest eigenvalue of the tridiagonal matrix after step k, by Newton's method for its characteristic
  // polynomial. Starting from Gershgorin's bound the iterates decrease to the largest eigenvalue; after six iterations
  // the error is about one percent.
  T largest_eigenvalue(int at, int k) const {
    T x{};
    for (int l = 0; l <= k; ++l) x = larger(x, get(a[l] + at) + root(get(bb[l] + at)) + (l < k ? root(get(bb[l + 1] + at)) : T{}));
    for (int iteration = 0; iteration < 6; ++iteration) {
      T last{}, value = T{} + 1.0, last_slope{}, slope{};
      for (int l = 0; l <= k; ++l) {
        const T gap = x - get(a[l] + at), own = get(bb[l] + at);
        const T next = gap * value - own * last, next_slope = value + gap * slope - own * last_slope;
        last = value, value = next, last_slope = slope, slope = next_slope;
      }
      x -= select((value > 0.0) & (slope > 0.0), value / slope, T{});
    }
    return x;
  }

  const Problem& p;
  int n, m, largest[L];
  Array<double> q, before, w, c, weight, total, u, row;
  alignas(64) double mean[L], norm[L], bound[L];           // of the vector before it became q; 2 delta / (1 - delta)
  alignas(64) double a[MAX_PROBES][L], bb[MAX_PROBES][L];  // a_k, and the squares of b_k
};

}  // namespace core::CORE_ISA
