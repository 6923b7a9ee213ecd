// Newton's method in higher precision for one problem that newton.hpp or sweeps.hpp did not solve to the tolerance, usually because
// some columns are weakly coupled.
//
// The notation is that of newton.hpp. Column errors c_j g_j = sum_i S_ij - c_j are computed in double-double precision from flows
// between columns. Let d(i) be the column of the largest S_ij in row i. The whole row sum r_i is credited to d(i); each entry S_ij,
// j != d(i), is a flow from d(i) to j. A flow enters both columns with the same rounding, so that flows cancel exactly. The Newton
// step solves (diag(P 1) - P) x = -g, P_jk = w_j c_k w_k sum_i u_i^2 M_ij M_ik / r_i, without subtractions (Grassmann, Taksar and Heyman).
// At the start of a step the convex dual function has a slope -s < 0; the step is halved until the slope at its end is at most s / 2.
// Weakly coupled groups of columns (WEAKEST_COUPLING, TIED_COUPLING) are then balanced, each with one common factor.
#pragma once
#include "problem.hpp"

namespace core::CORE_ISA {

inline constexpr double FARTHEST_STEP = 6.0;  // largest change of log w in a step; any value is safe, because steps are halved
inline constexpr int MAX_HALVINGS = 40, MAX_CAREFUL_STEPS = 200;
// A coupling is an entry of P (see the top). Flows below 1e-18 of a sum have fewer than 14 exact digits in double-double (1e-32), so
// groups of columns that are coupled more weakly than WEAKEST_COUPLING are balanced separately. This is repeated for groups of groups,
// each time with a limit that is smaller by the factor NEXT_LEVEL.
inline constexpr double WEAKEST_COUPLING = 1e-18, NEXT_LEVEL = 1e-14;
// A row belongs to the group in which its largest entry lies. Take a group that is coupled to the others by less than TIED_COUPLING. If
// the totals of its rows and of its columns agree up to TIED_ROUNDING, it is balanced as if they were equal. Example: one row with the
// sum 1 and three columns with the sum 1/3 each. Without this rule, the rounding error of 1/3 would be taken for a flow between groups.
inline constexpr double TIED_COUPLING = 1e-4, TIED_ROUNDING = 16 * 0x1p-52;

// A sum in double-double precision.
struct Twofold {
  double high = 0, low = 0;
  void add(double value) {
    const double total = high + value, part = total - high;
    const double error = (high - (total - part)) + (value - part) + low;
    high = total + error;
    low = error - (high - total);
  }
  double value() const { return high + low; }
};

class Careful {
 public:
  explicit Careful(const Problem& problem)
      : p(problem), n(p.n), m(p.m), c(m), w(m), u(n), errors(m), step(m), start(m), given(m), right(m), diagonal(m), flows(m) {}

  // Solve problem k, starting from w = 1.
  void solve(Scalings& s, int k) {
    for (int j = 0; j < m; ++j) c[j] = s.column_sum.at(k)[j * W], w[j] = 1.0;
    allowed = p.max_iterations - s.iterations[k];
    s.error[k] = iterate();
    s.iterations[k] += num_steps;
    for (int j = 0; j < m; ++j) s.factor.at(k)[j * W] = w[j];
    for (int i = 0; i < n; ++i) s.row.at(k)[i * W] = u[i];
    if (!has_normal_factors(p, s, k) || !meets_sums(p, s, k)) s.error[k] = INFINITE;
  }

 private:
  static constexpr double INFINITE = __builtin_inf();

  double iterate() {
    int pinned = 0;
    double length = INFINITE;
    for (int j = 1; j < m; ++j) pinned = c[j] > c[pinned] ? j : pinned;
    num_steps = 0;
    measure();
    sweep();
    while (num_steps < allowed && num_steps < MAX_CAREFUL_STEPS && !is_stopped()) {
      ++num_steps;
      fill_chain();
      for (int j = 0; j < m; ++j) right[j] = -errors[j];
      if (!eliminate(chain.get(), m, pinned)) return INFINITE;
      length = longest_step(m);
      if (!(length < INFINITE)) return INFINITE;
      const double slope = slope_along();
      double share = length > FARTHEST_STEP ? FARTHEST_STEP / length : 1.0;
      bool is_taken = false;
      start = w;
      for (int half = 0; half < MAX_HALVINGS && !is_taken; ++half, share *= 0.5) {
        for (int j = 0; j < m; ++j) w[j] = start[j] * exponential(share * step[j]);
        measure();
        // The dual is convex: its slope along the step turns positive after the minimum.
        is_taken = slope_along() <= 0.5 * magnitude(slope) || length <= p.tolerance;
      }
      if (!is_taken) sweep();  // the slope is rounding error: only columns with tiny sums may still have the wrong sum
      if (length <= p.tolerance) return larger(larger(length, balance_levels()), ROUNDING);
    }
    return INFINITE;
  }

  double longest_step(int size) const {
    double length = 0;
    for (int j = 0; j < size; ++j)
      if (!(magnitude(step[j]) <= length)) length = magnitude(step[j]);
    return length;
  }
  double slope_along() const {
    double slope = 0;
    for (int j = 0; j < m; ++j) slope += c[j] * errors[j] * step[j];
    return slope;
  }

  // Fill u_i and given_j = M_ij w_j c_j for row i; return the column of the largest entry.
  int fill_row(int i) {
    const double* row = p.row(i);
    double total = 0;
    int most = 0;
    for (int j = 0; j < m; ++j) {
      given[j] = row[j] * (w[j] * c[j]);
      total += given[j];
      if (given[j] > given[most]) most = j;
    }
    u[i] = p.row_sum(i) / total;
    return most;
  }

  // errors_j = g_j = w_j sum_i u_i M_ij - 1, each with a small relative error.
  void measure() {
    for (int j = 0; j < m; ++j) flows[j] = Twofold{-c[j], 0.0};
    for (int i = 0; i < n; ++i) {
      const int most = fill_row(i);
      flows[most].add(p.row_sum(i));
      for (int j = 0; j < m; ++j) {
        if (j == most || given[j] == 0.0) continue;
        flows[j].add(u[i] * given[j]);
        flows[most].add(-(u[i] * given[j]));
      }
    }
    for (int j = 0; j < m; ++j) errors[j] = flows[j].value() / c[j];
  }

  // One plain sweep. It corrects columns with tiny sums, which are too small to affect the slope in the line search.
  void sweep() {
    for (int j = 0; j < m; ++j) {
      double total = 0;
      for (int i = 0; i < n; ++i) total += u[i] * p.row(i)[j];
      if (total > 0 && total < INFINITE) w[j] = 1.0 / total;
    }
    measure();
  }

  void fill_chain() {
    chain.assign(size_t(m) * m, 0.0);
    for (int i = 0; i < n && !is_stopped(); ++i) {
      const double *row = p.row(i), scale = p.row_sum(i) > 0 ? u[i] / root(p.row_sum(i)) : 0.0;
      for (int j = 0; j < m; ++j) given[j] = scale * row[j] * w[j];
      for (int j = 0; j < m; ++j)
        if (given[j] > 0.0)
          for (int k = 0; k < m; ++k) chain[size_t(j) * m + k] += given[j] * given[k];
    }
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < m; ++k) chain[size_t(j) * m + k] *= c[k];
  }

  // Solve (diag(P 1) - P) step = right with step[pinned] = 0, P of shape (size, size); overwrites P. Return false if a
  // pivot is zero, or after Ctrl-C.
  bool eliminate(double* P, int size, int pinned) {
    order.clear();
    for (int j = 0; j < size; ++j)
      if (j != pinned) order.push(j);
    for (int s = 0; s < size - 1; ++s) {
      const double* pivot = P + size_t(order[s]) * size;
      double total = pivot[pinned];
      for (int l = s + 1; l < size - 1; ++l) total += pivot[order[l]];
      if (!(total > 0) || is_stopped()) return false;
      diagonal[order[s]] = total;
      for (int l = s + 1; l < size - 1; ++l) {
        double* row = P + size_t(order[l]) * size;
        const double share = row[order[s]] / total;
        if (!(share > 0.0)) continue;
        right[order[l]] += share * right[order[s]];
        for (int k = 0; k < size; ++k) row[k] += share * pivot[k];
      }
    }
    step[pinned] = 0;
    for (int s = size - 2; s >= 0; --s) {
      const int q = order[s];
      double total = right[q];
      for (int l = s + 1; l < size - 1; ++l) total += P[size_t(q) * size + order[l]] * step[order[l]];
      step[q] = total / diagonal[q];
    }
    return true;
  }

  // Balance groups of columns: first groups whose rows and columns have equal totals, then groups that are coupled too weakly for Newton's
  // method, from stronger to weaker couplings. Return the error.
  double balance_levels() {
    fill_chain();
    double error = 0;
    for (double coupling = TIED_COUPLING; coupling > 0;) {
      const int count = find_groups(coupling);
      if (count == 1) break;
      error = larger(error, balance_groups(count, coupling == TIED_COUPLING));
      coupling = coupling == TIED_COUPLING ? WEAKEST_COUPLING : coupling * NEXT_LEVEL;
    }
    return error;
  }

  int find_groups(double coupling) {
    group.assign(m, -1);
    int count = 0;
    for (int first = 0; first < m; ++first) {
      if (group[first] >= 0) continue;
      group[first] = count;
      order.clear(), order.push(first);
      for (size_t head = 0; head < order.size(); ++head)
        for (int k = 0; k < m; ++k) {
          const int j = order[head];
          if (group[k] >= 0 || !(larger(chain[size_t(j) * m + k], chain[size_t(k) * m + j]) > coupling)) continue;
          group[k] = count, order.push(k);
        }
      ++count;
    }
    return count;
  }

  // Multiply the factors of each group of columns by a common number, until the group is balanced: its row sums plus the flows from
  // other groups equal its column sums plus the flows to other groups. With `only_ties`, change factors only if in some group the
  // totals of rows and columns differ by rounding alone.
  double balance_groups(int count, bool only_ties) {
    Array<Twofold> base(count);
    Array<double> size(count), across(size_t(count) * count);
    Array<int> row_group(n);
    Twofold gap;
    for (int j = 0; j < m; ++j) base[group[j]].add(-c[j]), gap.add(-c[j]), size[group[j]] += c[j];
    for (int i = 0; i < n; ++i) {
      row_group[i] = group[fill_row(i)];
      base[row_group[i]].add(p.row_sum(i)), gap.add(p.row_sum(i));
    }
    bool has_ties = false;
    for (int b = 0; b < count; ++b) {
      // Totals that differ by at most this are taken as equal: the rounding error of a sum, plus twice the imbalance of the whole table.
      const double noise = TIED_ROUNDING * size[b] + 2.0 * magnitude(gap.high);
      if (base[b].high != 0.0 && magnitude(base[b].high) <= noise) base[b] = Twofold{}, has_ties = true;
    }
    if (only_ties && !has_ties) return 0;
    double length = INFINITE;
    for (int taken = 0; taken < MAX_CAREFUL_STEPS && num_steps < allowed && !(length <= p.tolerance); ++taken, ++num_steps) {
      across.assign(size_t(count) * count, 0.0);
      for (int i = 0; i < n; ++i) {
        fill_row(i);
        for (int j = 0; j < m; ++j)
          if (group[j] != row_group[i]) across[size_t(row_group[i]) * count + group[j]] += u[i] * given[j];
      }
      for (int b = 0; b < count; ++b) {
        Twofold sum = base[b];
        for (int d = 0; d < count; ++d) sum.add(across[size_t(d) * count + b]), sum.add(-across[size_t(b) * count + d]);
        right[b] = -sum.value();
      }
      for (int b = 0; b < count; ++b)
        for (int d = 0; d < b; ++d)
          across[size_t(b) * count + d] = across[size_t(d) * count + b] += across[size_t(b) * count + d];
      if (!eliminate(across.get(), count, 0)) return INFINITE;
      length = longest_step(count);
      if (!(length < INFINITE)) return INFINITE;
      const double share = length > FARTHEST_STEP ? FARTHEST_STEP / length : 1.0;
      for (int j = 0; j < m; ++j) w[j] *= exponential(share * step[group[j]]);
    }
    for (int i = 0; i < n; ++i) fill_row(i);
    return length;
  }

  const Problem& p;
  int n, m, num_steps = 0, allowed = 0;
  Array<double> c, w, u, errors, step, start, given, right, diagonal, chain;
  Array<Twofold> flows;
  Array<int> order, group;
};

}  // namespace core::CORE_ISA
