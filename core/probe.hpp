// The rate rho of sweeps: the number by which a sweep multiplies the error of the factors u and w. It is the second eigenvalue of
//
//   J_jk = sum_i S_ij S_ik / (r_i c_j),   S the scaled table,
//
// which is self-adjoint for <x, y> = sum_j c_j x_j y_j. Some steps of Lanczos' method with J (a probe) estimate rho: with unit
// vectors q_k, a_k = <q_k, J q_k> and b_{k+1} q_{k+1} = J q_k - a_k q_k - b_k q_{k-1}, the estimate is the largest eigenvalue of the
// tridiagonal matrix of the a_k and b_k.
//
// Let h be the column with the largest sum. With delta = 1 - min_j J_jh, the error is at most 2 delta / (1 - delta) times the last
// change (Doeblin, as in sweeps.hpp). If this bound is within the tolerance, no step is needed.
//
// Lanczos' method starts with the difference of the indicators of two columns, h and f, scaled to equal norms. Its mean is subtracted.
// Column f has the smallest J_fh among the columns whose sum is not negligible. The start must not be orthogonal to the
// eigenvector of rho. The indicator of h alone may be orthogonal to it: if h is coupled to two groups of columns that are not
// coupled to each other, the eigenvector is about zero at h. It is then not zero at f, which is in one of the groups.
#pragma once
#include "problem.hpp"

namespace core::CORE_ISA {

inline constexpr double SLOWEST_RATE = 0.9;  // above this rate the estimate is not trusted, and careful.hpp solves the problem
// An estimated rate of at most 1/3 is not refined: even for a true rate of 1/2, the remaining error is at most the last change.
inline constexpr double HARMLESS_RATE = 1.0 / 3.0;
inline constexpr int MAX_PROBES = 10;        // steps of Lanczos' method
inline constexpr double NOISE = 1e-14;       // rounding error of a sweep: about 50 units in the last place

// The remaining error of the factors divided by their last change, if every sweep multiplies the change by `rate`: the geometric series
// rate / (1 - rate), but at least 1, because the row factors are one step behind the column factors.
template <class T>
CORE_INLINE T left_after(T rate) { return larger(T{} + 1.0, rate / (1.0 - rate)); }

// Estimates the errors of solved problems, L problems side by side.
template <int L>
class Probe : SideBySide<L> {
 public:
  explicit Probe(const Problem& problem) : p(problem), n(p.n), m(p.m) {
    for (auto* values : {&q, &before, &w, &c, &weight, &total}) values->resize(m * L);
    u.resize(n * L), row.resize(n * L);
    for (int i = 0; i < n; ++i) over_row.push(1.0 / p.row_sum(i));
  }

  // Bound the errors of some problems. Where the bound exceeds the tolerance, estimate the rate; the error follows from the larger of
  // this rate and the rate seen in the sweeps.
  void correct(Scalings& scalings, const Array<int>& problems, double* rates) {
    s = &scalings, rate = rates;
    farthest.resize(s->size), open.clear();
    for (size_t from = 0; from < problems.size(); from += L) bound(&problems[from], int(problems.size() - from < L ? problems.size() - from : L));
    for (size_t from = 0; from < open.size(); from += L) estimate(&open[from], int(open.size() - from < L ? open.size() - from : L));
  }

 private:
  using typename SideBySide<L>::T;
  using SideBySide<L>::N, SideBySide<L>::get, SideBySide<L>::put;

  double last_change(int problem) const { return s->error[problem] / left_after(rate[problem]); }

  void load_problems(const int* problems, int count) {
    for (int lane = 0; lane < L; ++lane) {
      const int k = problems[lane < count ? lane : 0];  // spare lanes repeat the first problem, so that they contain no NaN
      const double *factor = s->factor.at(k), *sum = s->column_sum.at(k), *own = s->row.at(k);
      int most = 0;
      for (int j = 0; j < m; ++j) {
        w[j * L + lane] = factor[j * W], c[j * L + lane] = sum[j * W];
        most = sum[j * W] > sum[most * W] ? j : most;
      }
      largest[lane] = most * L + lane;
      for (int i = 0; i < n; ++i) row[i * L + lane] = own[i * W];
    }
  }

  // Set the errors that the bound proves to be within the tolerance; append the other problems to `open`.
  void bound(const int* problems, int count) {
    load_problems(problems, count);
    alignas(64) double share[L], least[L], far[L];
    for (int lane = 0; lane < L; ++lane) share[lane] = w[largest[lane]] * c[largest[lane]];
    for (int i = 0; i < n; ++i)
      for (int lane = 0; lane < L; ++lane) u[i * L + lane] = p.row(i)[largest[lane] / L];
    for (int i = 0; i < n; ++i)
      for (int at = 0; at < L; at += N) {
        const T own = get(&row[i * L + at]);
        put(&u[i * L + at], get(&u[i * L + at]) * (own * own) * (get(share + at) * over_row[i]));
      }
    multiply<L>(p.transposed.get(), p.matrix, m, n, u.get(), total.get());
    for (int at = 0; at < L; at += N) {
      T smallest = T{} + 1.0, weakest = smallest, column{};  // the smallest J_jh of all columns, and of those whose sum is not negligible
      for (int j = 0, to = at; j < m; ++j, to += L) {
        const T coupling = get(&w[to]) * get(&total[to]);
        const auto is_less = (coupling < weakest) & (get(&c[to]) > ROUNDING);
        smallest = smaller(smallest, coupling), weakest = select(is_less, coupling, weakest), column = select(is_less, T{} + double(j), column);
      }
      put(least + at, smallest), put(far + at, column);
    }
    for (int lane = 0; lane < count; ++lane) {
      const double delta = 1.0 - least[lane] + NOISE;
      const double error = delta < 1.0 ? last_change(problems[lane]) * 2.0 * delta / (1.0 - delta) : __builtin_inf();
      farthest[problems[lane]] = int(far[lane]);
      if (error <= p.tolerance) s->error[problems[lane]] = larger(error, ROUNDING); else open.push(problems[lane]);
    }
  }

  // Estimate the rates by steps of Lanczos' method, and set the errors. The number of steps in a lane depends
  // only on the numbers in this lane, so its estimate does not depend on the other lanes.
  void estimate(const int* problems, int count) {
    load_problems(problems, count);
    for (int j = 0; j < m * L; ++j) q[j] = before[j] = 0.0;
    bool is_open[L];
    double found[L] = {};
    for (int lane = 0; lane < L; ++lane) {
      const int h = largest[lane], far = farthest[problems[lane < count ? lane : 0]] * L + lane;
      q[far] = root(c[h] / c[far]), q[h] = -1.0;
      is_open[lane] = lane < count;
    }
    bool any_open = true;
    for (int k = 0; any_open; ++k) {
      center(k);
      multiply<L>(p.matrix, p.transposed.get(), n, m, weight.get(), u.get());
      for (int at = 0; at < L; at += N) {
        T product{};
        for (int i = 0; i < n; ++i) {
          const T own = get(&row[i * L + at]), flow = own * get(&u[i * L + at]), average = flow * over_row[i];
          product += flow * average;
          put(&u[i * L + at], own * average);
        }
        put(a[k] + at, product);
      }
      multiply<L>(p.transposed.get(), p.matrix, m, n, u.get(), total.get());
      for (int at = 0; at < L; at += N) {
        const T own = get(a[k] + at), other = root(get(bb[k] + at));
        for (int to = at; to < m * L; to += L) {
          const T next = get(&w[to]) * get(&total[to]) - own * get(&q[to]) - other * get(&before[to]);
          put(&before[to], get(&q[to])), put(&q[to], next);
        }
      }
      if (k == 0) continue;
      alignas(64) double now[L];
      for (int at = 0; at < L; at += N) put(now + at, largest_eigenvalue(at, k));
      any_open = false;
      for (int lane = 0; lane < count; ++lane) {
        if (!is_open[lane]) continue;
        is_open[lane] = k + 1 < MAX_PROBES && now[lane] > 1.01 * found[lane] && now[lane] > HARMLESS_RATE && now[lane] < SLOWEST_RATE;
        found[lane] = now[lane];
        any_open |= is_open[lane];
        if (!is_open[lane]) set_error(problems[lane], now[lane]);
      }
    }
  }

  void set_error(int problem, double estimated) {
    const double change = last_change(problem);
    rate[problem] = larger(rate[problem], estimated);
    s->error[problem] = rate[problem] < SLOWEST_RATE ? change * left_after(rate[problem]) : __builtin_inf();
  }

  // Make q a unit vector with mean zero, both weighted by c. The entry of the largest column is subtracted first, which reduces cancellation.
  void center(int k) {
    for (int at = 0; at < L; at += N) {
      alignas(64) double reference[N];
      for (int lane = 0; lane < N; ++lane) reference[lane] = q[largest[at + lane]];
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
      put(bb[k] + at, k > 0 ? square : T{});
    }
  }

  // The largest eigenvalue of the tridiagonal matrix after step k, by Newton's method for its characteristic
  // polynomial. Starting from Gershgorin's bound the iterates decrease to the largest eigenvalue; after six iterations
  // the error is usually far below one percent, seldom more than a few percent.
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
  int n, m, largest[L];  // largest: by lane, the position in arrays (m, L) of the column with the largest sum
  Scalings* s = nullptr;
  double* rate = nullptr;     // by problem
  Array<int> open, farthest;  // open: problems without a sufficient bound; farthest: column f of each problem
  Array<double> q, before, w, c, weight, total, u, row, over_row;
  alignas(64) double a[MAX_PROBES][L], bb[MAX_PROBES][L];  // a_k, and the squares of b_k
};

}  // namespace core::CORE_ISA
