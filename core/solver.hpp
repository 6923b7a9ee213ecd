// The one way to scale a table: Newton's method for few columns, sweeps for more, the careful method where these fail.
#pragma once
#include "careful.hpp"
#include "sweeps.hpp"

namespace core::CORE_ISA {

template <int M>
void solve_by_newton(const Problem& problem, Scalings& s) {
  problem.row_sums.size() ? solve_few_columns<M, true>(problem, s) : solve_few_columns<M, false>(problem, s);
}

inline void solve_one_column(const Problem& problem, Scalings& s) {
  for (int k = 0; k < s.size; ++k) {
    double total = 0.0;
    for (int i = 0; i < problem.n; ++i) {
      const double x = problem.matrix[i], u = problem.row_sum(i) / (x * s.column_sum.at(k)[0]);
      s.row.at(k)[i * W] = u, total += u * x;
    }
    s.factor.at(k)[0] = 1.0 / total, s.error[k] = ROUNDING, s.iterations[k] = 0;
  }
}

// Fill in the answers to all problems. Every entry of the table that is positive must survive: zeros.hpp comes first.
inline void solve(const Problem& problem, Scalings& s) {
  switch (problem.m) {
    case 1: return solve_one_column(problem, s);
    case 2: solve_by_newton<2>(problem, s); break;
    case 3: solve_by_newton<3>(problem, s); break;
    case 4: solve_by_newton<4>(problem, s); break;
    case 5: solve_by_newton<5>(problem, s); break;
    case 6: solve_by_newton<6>(problem, s); break;
    default:
      if (s.size >= 3) {
        Sweeps<W>(problem).solve(s, 0, s.size);
      } else {
        Sweeps<1> sweeps(problem);
        for (int k = 0; k < s.size; ++k) sweeps.solve(s, k, 1);
      }
  }
  for (int k = 0; k < s.size && !is_stopped(); ++k)
    if (!(s.error[k] <= problem.tolerance) && s.iterations[k] < problem.max_iterations) Careful(problem).solve(s, k);
}

}  // namespace core::CORE_ISA
