// Newton's method for tables with at most six columns, and for components (components.hpp) with at most 32. Each lane of a vector has
// one problem.
//
// The scaled table with row sums r and column sums c is S_ij = u_i M_ij w_j c_j, where u_i = r_i / sum_j M_ij w_j c_j. Solve
// g_j = w_j sum_i u_i M_ij - 1 = 0 in log w. The Jacobian is a Laplacian: if log w changes by x, c_j g_j changes by
// sum_k F_jk (x_j - x_k) with the flows F_jk = sum_i S_ij S_ik / r_i.
// The elimination of Grassmann, Taksar and Heyman, which never subtracts, solves for the step x. The column with the largest sum is
// pinned (x = 0) and absorbs the rounding error of the total. The iteration starts with one sweep from w = 1 (three for
// components with more than four columns), so a solution depends only on the problem.
//
// A problem is solved only if every pivot is at least WEAK_COUPLING times its column's sum.
#pragma once
#include "problem.hpp"

namespace core::CORE_ISA {

// Newton steps, and accelerated steps in sweeps.hpp, change log w by at most this: polynomials approximate exp for |x| <= 1.
inline constexpr double LONGEST_STEP = 1.0;
inline constexpr int MAX_STEPS = 16;            // two to five steps usually suffice; after MAX_STEPS careful.hpp solves the problem
inline constexpr int FEW_COLUMNS = 6;           // for more columns sweeps.hpp is faster
inline constexpr int MOST_NEWTON_COLUMNS = 32;  // for components (components.hpp); not more, because arrays here are on the stack

// Call f with the number of columns m as a constant if m <= Most, otherwise with 0.
template <int Most, int M = 1, class F>
void with_columns(int m, F f) {
  if constexpr (M > Most) f(std::integral_constant<int, 0>{});
  else if (m == M) f(std::integral_constant<int, M>{});
  else with_columns<Most, M + 1>(m, f);
}

// One vector of problems with M columns (M = 0: the number is known at run time). `Table` returns entries and row sums, each
// as a vector or as one number for all lanes.
template <int M, class Table>
class NewtonLanes {
 public:
  static constexpr int CAP = M ? M : MOST_NEWTON_COLUMNS;

  NewtonLanes(Table table, int n, int m) : table(table), n(n), m(M ? M : m) {}

  // One plain sweep for column sums c: compute row factors u (stored unless u is null) from w, then new w.
  void sweep(const Vec* c, Vec* w, double* u, int stride) const {
    Vec v[CAP], total[CAP];
    for (int j = 0; j < m; ++j) v[j] = w[j] * c[j], total[j] = Vec{};
    for (int i = 0; i < n; ++i) {
      Vec sum = table(i, 0) * v[0];
      for (int j = 1; j < m; ++j) sum += table(i, j) * v[j];
      const Vec scaling = table.row_sum(i) / sum;
      if (u) store(u + size_t(i) * stride, scaling);
      for (int j = 0; j < m; ++j) total[j] += scaling * table(i, j);
    }
    for (int j = 0; j < m; ++j) w[j] = 1.0 / total[j];
  }

  // Take one Newton step x of log w, clipped to LONGEST_STEP. Return max |x_j| before clipping; `is_weak`: whether a pivot is too small.
  Vec step(const Vec* c, Vec* w, Mask active, Mask& is_weak) const {
    Vec v[CAP], total[CAP], a[CAP], b[CAP], x[CAP], inverse[CAP], sums[CAP], F[CAP][CAP];
    for (int j = 0; j < m; ++j) {
      v[j] = w[j] * c[j], total[j] = Vec{}, sums[j] = c[j];
      for (int k = j + 1; k < m; ++k) F[j][k] = Vec{};
    }
    for (int i = 0; i < n; ++i) {
      Vec sum = table(i, 0) * v[0];
      for (int j = 1; j < m; ++j) sum += table(i, j) * v[j];
      const Vec scaling = 1.0 / sum;
      for (int j = 0; j < m; ++j) a[j] = scaling * table(i, j);
      for (int j = 0; j < m; ++j) {
        const Vec ra = table.row_sum(i) * a[j];
        total[j] += ra;
        for (int k = j + 1; k < m; ++k) F[j][k] += ra * a[k];
      }
    }
    for (int j = 0; j < m; ++j) {
      b[j] = c[j] - v[j] * total[j];
      for (int k = j + 1; k < m; ++k) F[j][k] = v[j] * F[j][k] * v[k];
    }
    const int last = m - 1;
    // In each lane, swap the column with the largest sum and the last column.
    Vec most = sums[last], pinned = broadcast(last);
    for (int j = 0; j < last; ++j) {
      const Mask is_more = sums[j] > most;
      most = select(is_more, sums[j], most), pinned = select(is_more, broadcast(j), pinned);
    }
    auto swap = [](Mask mask, Vec& p, Vec& q) { const Vec old = p; p = select(mask, q, p), q = select(mask, old, q); };
    for (int p = 0; p < last; ++p) {
      const Mask is_pinned = pinned == double(p);
      swap(is_pinned, b[p], b[last]), swap(is_pinned, sums[p], sums[last]);
      for (int j = 0; j < last; ++j)
        if (j != p) swap(is_pinned, F[j < p ? j : p][j < p ? p : j], F[j][last]);
    }
    is_weak = Vec{} != Vec{};
    for (int q = 0; q < last; ++q) {
      Vec pivot = F[q][q + 1];
      for (int k = q + 2; k < m; ++k) pivot += F[q][k];
      inverse[q] = 1.0 / pivot;
      is_weak |= ~(pivot > WEAK_COUPLING * sums[q]);
      for (int j = q + 1; j < last; ++j) {
        const Vec share = F[q][j] * inverse[q];
        b[j] += share * b[q];
        for (int k = j + 1; k < m; ++k) F[j][k] += share * F[q][k];
      }
    }
    x[last] = Vec{};
    Vec length{};
    for (int q = last - 1; q >= 0; --q) {
      Vec sum = b[q];
      for (int k = q + 1; k < last; ++k) sum += F[q][k] * x[k];
      x[q] = sum * inverse[q];
      length = select(magnitude(x[q]) <= length, length, magnitude(x[q]));  // keeps a NaN
    }
    for (int p = 0; p < last; ++p) swap(pinned == double(p), x[p], x[last]);
    for (int j = 0; j < m; ++j) w[j] = select(active, w[j] * growth(clip(x[j], LONGEST_STEP)), w[j]);
    return length;
  }

 private:
  Table table;
  int n, m;
};

// Convergence is quadratic, so the length of the next step follows from the last two: about length^3 / before^2.
CORE_INLINE Vec next_length(Vec length, Vec before) { return select(before > 0.0, length * (length / before) * (length / before), length); }

// The state of a vector of problems between steps.
struct NewtonState {
  Vec before{}, error = broadcast(__builtin_inf()), steps{};
  Mask active = Vec{} == Vec{};

  // After a step: decide which lanes go on. A step is the last one if its length is within the tolerance, or if the estimated length of
  // the next step is within a tenth of the tolerance. The estimate is used once length^2 <= tolerance / 100: steps then shrink
  // quadratically.
  void judge(Vec length, Mask is_weak, double tolerance) {
    const Vec next = next_length(length, before);
    const Mask is_close = length * length <= 0.01 * tolerance;
    const Mask is_last = (length <= tolerance) | (is_close & (next <= 0.1 * tolerance)), has_failed = ~(length < 1e300);
    // With too small a pivot the error cannot be estimated here; an infinite error sends the problem to careful.hpp.
    const Vec found = select(is_weak, broadcast(__builtin_inf()), larger(smaller(length, next), broadcast(ROUNDING)));
    error = select(active & is_last, found, error);
    steps = select(active, steps + 1.0, steps);
    active &= ~(is_last | has_failed);
    before = length;
  }
};

// One table for all lanes.
template <int M, bool HasRowSums>
struct SharedTable {
  const double *matrix, *row_sums;
  double operator()(int i, int j) const { return matrix[size_t(i) * M + j]; }
  double row_sum(int i) const { return HasRowSums ? row_sums[i] : 1.0; }
};

// Solve the problems of a table with M columns. Each step is taken for all vectors of a batch in turn: the processor overlaps the
// steps of independent vectors.
template <int M, bool HasRowSums>
void solve_few_columns(const Problem& problem, Scalings& s) {
  using Table = SharedTable<M, HasRowSums>;
  const NewtonLanes<M, Table> lanes(Table{problem.matrix, problem.row_sums.get()}, problem.n, M);
  constexpr int BATCH = 64;  // vectors whose state is kept on the stack
  NewtonState state[BATCH];
  Vec c[BATCH][M], w[BATCH][M];
  const int max_steps = MAX_STEPS < problem.max_iterations ? MAX_STEPS : problem.max_iterations;
  for (int first = 0; first < s.size; first += BATCH * NATIVE) {
    const int left = s.size - first, count = ((left < BATCH * NATIVE ? left : BATCH * NATIVE) + NATIVE - 1) / NATIVE;
    int pending[BATCH], num_pending = count;
    for (int v = 0; v < count; ++v) {
      const int at = first + v * NATIVE;
      double* sums = s.column_sum.at(at);
      for (int lane = s.size - at; lane < NATIVE; ++lane)  // spare lanes: a copy of the vector's first problem
        for (int j = 0; j < M; ++j) sums[j * W + lane] = sums[j * W];
      for (int j = 0; j < M; ++j) c[v][j] = load(sums + j * W), w[v][j] = broadcast(1.0);
      lanes.sweep(c[v], w[v], nullptr, W);
      state[v] = NewtonState{};
      pending[v] = v;
    }
    for (int step = 0; step < max_steps && num_pending > 0; ++step) {
      int num_left = 0;
      for (int p = 0; p < num_pending; ++p) {
        const int v = pending[p];
        Mask is_weak;
        const Vec length = lanes.step(c[v], w[v], state[v].active, is_weak);
        state[v].judge(length, is_weak, problem.tolerance);
        pending[num_left] = v;
        num_left += any(state[v].active) ? 1 : 0;
      }
      num_pending = num_left;
    }
    for (int v = 0; v < count; ++v) {
      const int at = first + v * NATIVE;
      lanes.sweep(c[v], w[v], s.row.at(at), W);
      for (int j = 0; j < M; ++j) store(s.factor.at(at) + j * W, w[v][j]);
      for (int lane = 0; lane < NATIVE && at + lane < s.size; ++lane)
        s.error[at + lane] = state[v].error[lane], s.iterations[at + lane] = int(state[v].steps[lane]);
    }
  }
}

}  // namespace core::CORE_ISA
