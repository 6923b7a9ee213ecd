// Scaling tables with zeros: every component (zeros.hpp) is a separate problem. Its sums are divided by its largest column sum, so
// that components with tiny beliefs are as accurate as others.
//
// Components with the same number of columns, at most 32, are solved side by side, one per lane, by Newton's method, or alone by careful.hpp
// if this fails. solver.hpp solves larger components, the components of an extreme table (`is_extreme`), and a table that is one component.
#pragma once
#include <cstdlib>

#include "solver.hpp"
#include "zeros.hpp"

namespace core::CORE_ISA {

// A different table in each lane.
struct LaneTable {
  const double *matrix, *row_sums;
  int m;
  Vec operator()(int i, int j) const { return load(matrix + (size_t(i) * m + j) * NATIVE); }
  Vec row_sum(int i) const { return load(row_sums + size_t(i) * NATIVE); }
};

// Problems on one table, with or without zeros, and their solutions. The likelihood is row_i M_ij factor_j if row i and column j are in the
// same component (`row_label` equals `column_label`), else 0.
class Scaler {
 public:
  explicit Scaler(const Problem& problem) : p(problem) {}
  Scaler(const Scaler&) = delete;
  ~Scaler() { delete finder, delete pattern_; }

  Scalings s;                    // column sums in; factors, errors, iterations out
  Grid row_label, column_label;  // the component of each row and column; only if `has_labels`
  Array<int> status;             // of each problem: EXACT, LIMIT or INFEASIBLE (core.hpp); only if `has_labels`
  Grid row_target;               // row sums in the limit of alternating normalisation; only if `has_labels`
  bool has_labels = false;

  void resize(int count, bool some_data_are_gone) {
    s.resize(p, count);
    has_labels = p.has_zeros || some_data_are_gone;
    if (!has_labels) return;
    if (!finder) pattern_ = new Pattern(p.matrix, p.n, p.m), finder = new BlockFinder(*pattern_);
    row_label.resize(p.n, count), column_label.resize(p.m, count), row_target.resize(p.n, count);
    status.resize(count);
  }

  // Solve all problems. `gone` has, for each problem, the set of data that are not available (null: all are available). The column sums of
  // problem k are those in `s`. If they are n * belief asked[k], components are found from `beliefs`, which may be below 2**-512 and then
  // zero in `s`; `status` and `row_target` have no meaning in this case.
  void solve(const Word* gone, int words, const Beliefs* beliefs = nullptr, const int* asked = nullptr) {
    if (!has_labels) return core::CORE_ISA::solve(p, s);
    whole.clear(), parts.clear(), index.clear(), target.clear(), followers.clear();
    for (int k = 0; k < s.size && !is_stopped(); ++k) {
      const Grid& sums = beliefs ? beliefs->mantissa : s.column_sum;
      const int from = beliefs ? asked[k] : k;
      column_sums.clear(), shift.clear();
      for (int j = 0; j < p.m; ++j) column_sums.push((beliefs ? p.n : 1) * sums.at(from)[j * W]);
      for (int j = 0; j < p.m && beliefs; ++j) shift.push(beliefs->shift.at(from)[j * W]);
      split(k, gone ? gone + size_t(k) * words : nullptr, beliefs ? shift.get() : nullptr);
    }
    solve_whole();
    solve_parts();
    for (size_t f = 0; f < followers.size(); f += 2) follow(followers[f], followers[f + 1]);
  }

  // Divide the factors of problem k by the powers of two by which the table was balanced. If a factor would then be out of the range of float64,
  // all row factors are multiplied, and all column factors divided, by one power of two. If no power of two brings all factors into the
  // range, the error is infinite.
  static void undo_balance(const Problem& own, Scalings& s, int k) {
    double low = -4000, high = 4000;  // bounds on the exponent of the common power of two
    auto for_factors = [&](auto f) {
      for (int i = 0; i < own.n; ++i) f(s.row.at(k)[i * W], own.row_unit[i], 1);
      for (int j = 0; j < own.m; ++j) f(s.factor.at(k)[j * W], own.column_unit[j], -1);
    };
    for_factors([&](double factor, int unit, int sign) {
      int exponent;
      __builtin_frexp(factor, &exponent);
      const double least = unit - exponent - 1021, most = unit - exponent + 1023;
      if (factor != 0.0) low = larger(low, sign > 0 ? least : -most), high = smaller(high, sign > 0 ? most : -least);
    });
    const int shift = low > 0 || high < 0 ? int((low + high) / 2) : 0;
    for_factors([&](double& factor, int unit, int sign) {
      const double found = __builtin_ldexp(factor, sign * shift - unit);
      if (factor != 0.0 && !is_normal(found)) s.error[k] = __builtin_inf();
      factor = found == found ? found : 0.0;
    });
  }

 private:
  struct Part {
    int problem, rows, columns, h, k;  // `rows` and `columns`: where the component's h rows and k columns begin in `index`
  };

  void split(int problem, const Word* gone, const double* shifts) {
    const Pattern& pattern = *pattern_;
    here.resize(p.n);
    kind_sums.assign(pattern.num_kinds, 0.0);
    bool all_here = true;
    for (int i = 0; i < p.n; ++i) {
      here[i] = gone && has(gone, i) ? 0.0 : p.row_sum(i);
      kind_sums[pattern.kind_of[i]] += here[i];
      all_here &= here[i] > 0.0;
    }
    const Components& found = finder->find(kind_sums.get(), column_sums.get(), shifts);
    status[problem] = status_of(pattern, found, kind_sums.get(), column_sums.get());
    s.error[problem] = 0.0, s.iterations[problem] = 0;
    double *rows = row_label.at(problem), *columns = column_label.at(problem), *targets = row_target.at(problem);
    // Sort rows and columns by component: `begin` first has the numbers of rows and of columns in each component, later
    // the positions at which they begin.
    begin.assign(2 * found.size + 2, 0);
    given.assign(found.size, 0.0), wanted.assign(found.size, 0.0);
    for (int j = 0; j < p.m; ++j)
      if (found.column_label[j] >= 0) given[found.column_label[j]] += column_sums[j];
    for (int k = 0; k < pattern.num_kinds; ++k)
      if (found.kind_label[k] >= 0) wanted[found.kind_label[k]] += kind_sums[k];
    bool is_whole = found.size == 1 && all_here;
    for (int i = 0; i < p.n; ++i) {
      const int label = here[i] > 0.0 ? found.kind_label[pattern.kind_of[i]] : -1;
      rows[i * W] = label < 0 ? -2.0 : label;
      s.row.at(problem)[i * W] = 0.0, targets[i * W] = label < 0 ? 0.0 : here[i] * (given[label] / wanted[label]);
      if (label >= 0) ++begin[2 * label + 1]; else is_whole = false;
    }
    for (int j = 0; j < p.m; ++j) {
      const int label = found.column_label[j];
      columns[j * W] = label;
      s.factor.at(problem)[j * W] = 0.0;
      if (label >= 0 && found.mass[j] > 0) ++begin[2 * label + 2];
      else is_whole = false;
      if (shifts && shifts[j] > 0) is_whole = false;  // the sum in `s` is zero
      if (label >= 0 && !(found.mass[j] > 0)) followers.push(problem), followers.push(j);
    }
    if (is_whole && p.m > 1) return whole.push(problem);
    for (int k = 0; k < 2 * found.size; ++k) begin[k + 1] += begin[k];
    next = begin;
    const int base = int(index.size());
    index.resize(base + begin[2 * found.size]), target.resize(index.size());
    for (int i = 0; i < p.n; ++i)
      if (rows[i * W] >= 0) {
        const int at = base + next[2 * int(rows[i * W])]++;
        index[at] = i, target[at] = found.ratio[int(rows[i * W])] * here[i];
      }
    for (int j = 0; j < p.m; ++j)
      if (columns[j * W] >= 0 && found.mass[j] > 0) {
        const int at = base + next[2 * int(columns[j * W]) + 1]++;
        index[at] = j, target[at] = found.mass[j];
      }
    for (int label = 0; label < found.size; ++label) {
      const int* from = begin.get() + 2 * label;
      Part part{problem, base + from[0], base + from[1], from[1] - from[0], from[2] - from[1]};
      double* c = &target[part.columns];
      double most = c[0];
      for (int j = 1; j < part.k; ++j) most = larger(most, c[j]);
      for (int j = 0; j < part.k; ++j) c[j] = larger(p.floor(), c[j] / most);
      for (int i = 0; i < part.h; ++i) target[part.rows + i] /= most;
      parts.push(part);
    }
  }

  void solve_whole() {
    if (whole.size() == 0) return;
    together.resize(p, int(whole.size()));
    for (int k = 0; k < together.size; ++k)
      for (int j = 0; j < p.m; ++j) together.column_sum.at(k)[j * W] = larger(p.n * p.floor(), s.column_sum.at(whole[k])[j * W]);
    core::CORE_ISA::solve(p, together);
    for (int k = 0; k < together.size; ++k) {
      const int to = whole[k];
      for (int j = 0; j < p.m; ++j) s.factor.at(to)[j * W] = together.factor.at(k)[j * W];
      for (int i = 0; i < p.n; ++i) s.row.at(to)[i * W] = together.row.at(k)[i * W];
      s.error[to] = together.error[k], s.iterations[to] = together.iterations[k];
    }
  }

  // Solve all components, sorted so that those in one vector have the same number of columns and similar numbers of rows.
  void solve_parts() {
    queue.clear();
    for (size_t at = 0; at < parts.size(); ++at) {
      const Part& part = parts[at];
      if (p.is_extreme || part.k > MOST_NEWTON_COLUMNS) solve_alone(part);
      else queue.push(Word(part.k) << 58 | Word(part.h) << 32 | at);
    }
    if (queue.size() == 0) return;
    // Not std::sort: the linker would keep one copy of it, perhaps with instructions that an old processor lacks (see Array in lanes.hpp).
    std::qsort(queue.get(), queue.size(), sizeof(Word), [](const void* a, const void* b) {
      const Word x = *static_cast<const Word*>(a), y = *static_cast<const Word*>(b);
      return (x > y) - (x < y);
    });
    for (size_t first = 0, last; first < queue.size() && !is_stopped(); first = last) {
      const int k = int(queue[first] >> 58);
      group.clear();
      for (last = first; last < queue.size() && last < first + NATIVE && int(queue[last] >> 58) == k; ++last) group.push(int(queue[last] & 0xffffffff));
      // Code that is compiled for a fixed number of columns saves time only up to four columns.
      with_columns<4>(k, [&](auto columns) { solve_lanes<columns>(group.get(), int(group.size())); });
    }
  }

  template <int K>
  void solve_lanes(const int* group, int size) {
    const int k = parts[group[0]].k, h = parts[group[size - 1]].h;
    memory.resize((size_t(h) * k + 2 * h + 2 * k) * NATIVE);
    double *A = memory.get(), *r = A + size_t(h) * k * NATIVE, *u = r + h * NATIVE;
    Vec *c = reinterpret_cast<Vec*>(u + h * NATIVE), *w = c + k;
    for (int lane = 0; lane < NATIVE; ++lane) {
      const Part& part = parts[group[lane < size ? lane : 0]];
      for (int i = 0; i < h; ++i) {
        const bool is_row = i < part.h;  // a component with fewer than h rows is filled up with rows of sum zero
        r[i * NATIVE + lane] = is_row ? target[part.rows + i] : 0.0;
        const double* row = p.row(index[part.rows + (is_row ? i : 0)]);
        for (int j = 0; j < k; ++j) A[(i * k + j) * NATIVE + lane] = row[index[part.columns + j]];
      }
      for (int j = 0; j < k; ++j) c[j][lane] = target[part.columns + j];
    }
    const NewtonLanes<K, LaneTable> lanes(LaneTable{A, r, k}, h, k);
    NewtonState state;
    for (int j = 0; j < k; ++j) w[j] = broadcast(1.0);
    for (int sweep = 0; sweep < (k > 4 ? 3 : 1); ++sweep) lanes.sweep(c, w, nullptr, NATIVE);
    for (int step = 0; step < MAX_STEPS && step < p.max_iterations && any(state.active); ++step) {
      Mask is_weak;
      const Vec length = lanes.step(c, w, state.active, is_weak);
      state.judge(length, is_weak, p.tolerance);
    }
    lanes.sweep(c, w, u, NATIVE);
    for (int lane = 0; lane < size; ++lane) {
      const Part& part = parts[group[lane]];
      if (!(state.error[lane] <= p.tolerance)) {
        s.iterations[part.problem] += int(state.steps[lane]);
        solve_alone(part, int(state.steps[lane]));
        continue;
      }
      write(part, u + lane, reinterpret_cast<double*>(w) + lane, NATIVE, state.error[lane], int(state.steps[lane]));
    }
  }

  // Solve one component: by solver.hpp if it has more than 32 columns or the table is extreme (`is_extreme`), by careful.hpp if Newton's
  // method in lanes has failed.
  void solve_alone(const Part& part, int num_steps = 0) {
    compact.resize(size_t(part.h) * part.k);
    for (int i = 0; i < part.h; ++i)
      for (int j = 0; j < part.k; ++j) compact[size_t(i) * part.k + j] = p.row(index[part.rows + i])[index[part.columns + j]];
    Problem own(compact.get(), &target[part.rows], part.h, part.k, p.tolerance);
    own.max_iterations = p.max_iterations - num_steps;
    Scalings one;
    one.resize(own, 1);
    for (int j = 0; j < part.k; ++j) one.column_sum.at(0)[j * W] = target[part.columns + j];
    if (p.is_extreme || part.k > MOST_NEWTON_COLUMNS) core::CORE_ISA::solve(own, one);
    else Careful(own).solve(one, 0);
    undo_balance(own, one, 0);
    write(part, one.row.at(0), one.factor.at(0), W, one.error[0], one.iterations[0]);
  }

  void write(const Part& part, const double* u, const double* w, int stride, double error, int iterations) {
    double *row = s.row.at(part.problem), *factor = s.factor.at(part.problem);
    for (int i = 0; i < part.h; ++i) row[index[part.rows + i] * W] = u[size_t(i) * stride];
    for (int j = 0; j < part.k; ++j) factor[index[part.columns + j] * W] = w[size_t(j) * stride];
    s.error[part.problem] = larger(s.error[part.problem], error);
    s.iterations[part.problem] += iterations;
  }

  // Set the factor of a column with mass zero (its sum is zero or negligible) from the row factors of its component.
  void follow(int problem, int j) {
    const double *rows = row_label.at(problem), *u = s.row.at(problem), label = column_label.at(problem)[j * W];
    double total = 0.0;
    for (int i = 0; i < p.n; ++i) total += rows[i * W] == label ? u[i * W] * p.row(i)[j] : 0.0;
    s.factor.at(problem)[j * W] = 1.0 / total;
    if (!(total >= 0x1p-1022 && total < 0x1p1022)) s.error[problem] = __builtin_inf();  // the factor is out of range
  }

  const Problem& p;
  Pattern* pattern_ = nullptr;  // null unless the table has zeros or some data are not available
  BlockFinder* finder = nullptr;
  Scalings together;
  Array<Part> parts;
  Array<int> whole, index, begin, next, group;
  Set queue;  // one word per component: number of columns (bits 58 to 63), number of rows (32 to 57), position in `parts` (0 to 31)
  Array<int> followers;  // pairs (problem, column) of columns with the sum zero
  Array<double> target, here, kind_sums, column_sums, shift, given, wanted, memory, compact;
};

}  // namespace core::CORE_ISA
