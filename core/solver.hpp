// Scale a table: Newton's method for few columns, sweeps for more, the careful method if these fail.
#pragma once
#include "careful.hpp"
#include "sweeps.hpp"

namespace core::CORE_ISA {

// Find problems in which the sum of one column, the certain column, is so near the total that the other columns change the factors by at
// most about WEAK_COUPLING times the tolerance. Set their column sums to the limit of certainty. Problems with the same certain column share
// the solution of the first of them.
inline void share_certain(const Problem& problem, Scalings& s) {
  constexpr double SURE = 0.99;  // the other columns are compared with the threshold only if the largest has this share of the total
  const int n = problem.n, m = problem.m;
  const double enough = SURE * problem.total;
  const double threshold = WEAK_COUPLING * problem.tolerance * problem.least_row_sum;
  Array<int> first(m, -1);
  s.same.resize(s.size);
  for (int k = 0; k < s.size; ++k) s.same[k] = k;
  for (int at = 0; at < s.size; at += NATIVE) {
    double* c = s.column_sum.at(at);
    Vec largest{}, others{}, column{};
    for (int j = 0; j < m; ++j) {
      const Mask is_more = load(c + j * W) > largest;
      largest = select(is_more, load(c + j * W), largest), column = select(is_more, broadcast(j), column);
    }
    if (!any(largest >= enough)) continue;
    for (int j = 0; j < m; ++j) others += select(column == double(j), Vec{}, load(c + j * W));
    for (int lane = 0; lane < NATIVE && at + lane < s.size; ++lane) {
      if (largest[lane] < enough || others[lane] > threshold) continue;
      int& known = first[int(column[lane])];
      if (known < 0) known = at + lane;
      s.same[at + lane] = known;
      for (int j = 0; j < m; ++j) c[j * W + lane] = j == int(column[lane]) ? problem.total : n * problem.floor();
    }
  }
}

inline void solve_many_columns(const Problem& problem, Scalings& s) {
  share_certain(problem, s);
  if (s.size >= 3) {
    Sweeps<2 * NATIVE>(problem).solve(s, 0, s.size);
  } else {
    Sweeps<1> sweeps(problem);
    for (int k = 0; k < s.size; ++k) sweeps.solve(s, k, 1);
  }
  for (int k = 0; k < s.size; ++k) {
    const int from = s.same[k];
    if (from == k) continue;
    s.factor.copy(from, k), s.row.copy(from, k);
    s.error[k] = s.error[from], s.iterations[k] = s.iterations[from];
  }
}

// Solve all problems. All positive entries of the table must be positive in the scaled table, too; components.hpp splits other tables.
inline void solve(const Problem& problem, Scalings& s) {
  with_columns<FEW_COLUMNS>(problem.m, [&](auto m) {
    constexpr int M = m;
    if constexpr (M == 0) solve_many_columns(problem, s);
    else problem.row_sums.size() ? solve_few_columns<M, true>(problem, s) : solve_few_columns<M, false>(problem, s);
  });
  for (int k = 0; k < s.size; ++k) {
    if (problem.is_extreme && !(has_normal_factors(problem, s, k) && meets_sums(problem, s, k))) s.error[k] = __builtin_inf();
    if (!(s.error[k] <= problem.tolerance) && s.iterations[k] < problem.max_iterations && !is_stopped()) Careful(problem).solve(s, k);
  }
}

}  // namespace core::CORE_ISA
