// Rules: the likelihood T(d | h) of teacher and learner at a belief. All rules have the form
//
//   T(d | h) = row_d A_dh column_h   if d and h are in the same component (see below), else 0,
//
// with one table A for all beliefs. The labels of rows and columns are the numbers of their components (zeros.hpp). Without labels the
// table is one component. The factors at a belief are the rule's response to the belief. A belief whose factors are out of the range of
// float64 has its own table of logarithms.
//
// Recursion (literal: depth 0; pragmatic: depth K). With the matrix M, E_dh = M_dh / max_h M_dh, belief theta, rationality alpha,
// powers s_k = alpha^k and data prior p,
//   T_k(d | h) = x_d E_dh^s_k b_h,      b_h = 1 / sum_d x_d E_dh^s_k            (columns of T_k sum to one),
//   z_d = sum_h E_dh^s_k b_h theta_h,   x_d <- p_d z_d^-alpha,   s_k -> s_{k+1},
// from x_d = max_h M_dh where p_d > 0, else 0 (literal = "truth": b_h = 1 at depth 0). The largest entry of a row cancels in T_k. As
// no belief changes the tables E^s_k, one step of the recursion is two matrix-vector products. If all sums lie between 2^-300 and
// 2^300, terms that underflowed are less than 2^-100 of their sum; responses with other sums are computed in logarithms. All responses
// are computed in logarithms if the table is "steep". A table is steep if
//   - max(1, s_K) |log E| exceeds 2000 for a positive entry, so that sums of logarithms lose digits,
//   - an entry of E underflows, or
//   - K = 0 and literal = "truth" (T_0 is not normalised), and a positive entry of M is below exp(-200) or above exp(200).
//
// Cooperation, the limit of infinite depth with alpha = 1, scales the table to row sums n p_d and column sums n theta_h.
#pragma once
#include "components.hpp"
#include "core.hpp"

namespace core::CORE_ISA {

inline constexpr double NONE = -__builtin_inf();

// The data that are no longer available: for each lesson a set of bits, in `words` words of 64 bits.
struct Gone {
  const Word* sets = nullptr;
  int words = 0;
  bool operator()(int k, int datum) const { return sets && has(sets + size_t(k) * words, datum); }
};

// The likelihoods T(d | h) of many lessons, as the factors row_d and column_h (see the top).
struct Responses {
  int n = 0, m = 0;
  bool has_labels = false;
  const double *table = nullptr, *logs = nullptr;  // A and its logarithms, (n, m)
  bool table_underflows = false;                   // positive entries may have underflowed in `table`, but not in `logs`
  Grid row, column, row_label, column_label;
  Array<int> own;           // by lesson: position of its table in `own_logs`, or -1
  Array<double> own_logs;   // tables of log T(d | h), (tables, n, m); a lesson with a table has the logarithms of column sums in `column`
  Array<double> error;      // by lesson: estimated relative error
  Array<int> iterations;

  void resize(int rows, int columns, int size, bool labels) {
    n = rows, m = columns, has_labels = labels;
    row.resize(n, size), column.resize(m, size);
    if (labels) row_label.resize(n, size), column_label.resize(m, size);
    own.assign(size, -1), error.assign(size, 0.0), iterations.assign(size, 0);
  }
  void copy(int from, int to) {
    row.copy(from, to), column.copy(from, to);
    if (has_labels) row_label.copy(from, to), column_label.copy(from, to);
    own[to] = own[from], error[to] = error[from], iterations[to] = iterations[from];
  }
  bool survives(int k, int i, int j) const { return !has_labels || row_label.at(k)[i * W] == column_label.at(k)[j * W]; }
  double chance(int k, int i, int j) const {
    if (own[k] >= 0) return exponential(own_logs[(size_t(own[k]) * n + i) * m + j] - column.at(k)[j * W]);
    if (!survives(k, i, j)) return 0.0;
    const double left = row.at(k)[i * W] * table[size_t(i) * m + j];
    return left > 0x1p-900 || logs[size_t(i) * m + j] == NONE ? left * column.at(k)[j * W] : exponential(log_chance(k, i, j));
  }
  double log_chance(int k, int i, int j) const {
    if (own[k] >= 0) return own_logs[(size_t(own[k]) * n + i) * m + j];
    if (!survives(k, i, j)) return NONE;
    return logarithm_of_any(row.at(k)[i * W]) + logs[size_t(i) * m + j] + logarithm_of_any(column.at(k)[j * W]);
  }
};

class Rule {
 public:
  Rule(int n, int m) : n(n), m(m) {}
  virtual ~Rule() = default;
  // Fill in the likelihoods of the lessons `asked`.
  virtual void respond(const Beliefs& beliefs, const Array<int>& asked, Gone gone, Responses& out) = 0;
  virtual bool depends_on_belief() const { return true; }
  virtual bool has_labels(bool data_may_be_gone) const = 0;
  virtual bool has_normalized_columns() const { return true; }  // false for literal = "truth" at depth 0
  const int n, m;
};

inline void fill_logs(const double* table, size_t size, double power, Array<double>& logs) {
  logs.resize(size);
  for (size_t k = 0; k < size; ++k) logs[k] = table[k] > 0.0 ? power * logarithm_of_any(table[k]) : NONE;
}

class Recursion final : public Rule {
 public:
  explicit Recursion(const RuleSpec& given) : Rule(given.n, given.m), spec(given), prior(n, 1.0), log_prior(n), most(n) {
    for (int i = 0; i < n && spec.data_prior; ++i) prior[i] = n * spec.data_prior[i];
    Array<double> matrix;
    matrix.append(spec.matrix, size_t(n) * m);
    fill_logs(matrix.get(), matrix.size(), 1.0, literal);
    double power = 1.0, steepest = 0.0;
    for (int i = 0; i < n; ++i) {
      log_prior[i] = logarithm_of_any(prior[i]);
      for (int j = 0; j < m; ++j) most[i] = larger(most[i], matrix[size_t(i) * m + j]);
      for (int j = 0; j < m; ++j) matrix[size_t(i) * m + j] /= most[i];
    }
    for (int k = 0; k < spec.depth; ++k) power *= spec.rationality;
    fill_logs(matrix.get(), matrix.size(), power, last_logs);
    for (double x : last_logs) steepest = x > NONE ? larger(steepest, -x) : steepest;
    is_steep = !(larger(1.0, 1.0 / power) * steepest <= 2000.0);  // nats: cancellation costs at most 2000 * 2^-52 = 4e-13
    for (size_t k = 0; k < matrix.size(); ++k) is_steep |= literal[k] > NONE && matrix[k] < 0x1p-1022;  // E underflows
    // Sums of columns that are not normalised are as extreme as the entries. |log entry| < 200 keeps them above LEAST_SUM = exp(-208).
    for (double x : literal) is_steep |= !has_normalized_columns() && x > NONE && !(x > -200.0 && x < 200.0);
    underflows = steepest > 700.0;  // nats: exp(-708) is the smallest normal number
    // If all entries are at least exp(-100), no term underflows: a term is a factor >= 2^-300 times a belief >= 2^-512 times an entry.
    never_underflows = steepest <= 100.0 && power >= 1.0;
    for (double x : literal) has_zeros |= !(x > NONE);
    const int num_levels = spec.rationality == 1.0 ? 1 : spec.depth + 1;
    power = 1.0;
    for (int k = 0; k < num_levels && !is_steep; ++k, power *= spec.rationality)
      for (double x : matrix) levels.push(power == 1.0 ? x : x > 0.0 ? exponential(power * logarithm_of_any(x)) : 0.0);
    if (is_steep) levels.resize(size_t(n) * m);  // unused, filled with zeros: every belief has its own table of logarithms
    flipped.resize(levels.size());
    for (size_t k = 0; k < levels.size(); ++k) {
      const size_t at = k % (size_t(n) * m);
      flipped[k - at + (at % m) * n + at / m] = levels[k];
    }
    x.resize(n * W), p.resize(n * W), b.resize(m * W), theta.resize(m * W), weights.resize(m * W);
  }

  bool depends_on_belief() const override { return spec.depth > 0; }
  bool has_labels(bool) const override { return false; }
  bool has_normalized_columns() const override { return spec.depth > 0 || !spec.from_truth; }

  void respond(const Beliefs& beliefs, const Array<int>& asked, Gone gone, Responses& out) override {
    out.table = level(spec.depth), out.logs = last_logs.get(), out.table_underflows = underflows;
    out.own_logs.clear();
    for (size_t first = 0; first < asked.size(); first += W) {
      const int count = int(asked.size() - first < W ? asked.size() - first : W);
      if (!is_steep) recurse(beliefs, &asked[first], count, gone, out);
      for (int lane = 0; lane < count; ++lane) {
        const int k = asked[first + lane];
        out.error[k] = ROUNDING, out.own[k] = -1;
        if (is_steep || !is_fine[lane]) recurse_in_logs(beliefs, k, gone, out);
      }
    }
  }

 private:
  static constexpr double LEAST_SUM = 0x1p-300;  // sums below it, or above its inverse, may lack terms that underflowed; see the top

  const double* level(int k) const {
    const size_t size = size_t(n) * m, last = levels.size() / size - 1;
    return levels.get() + size * (size_t(k) < last ? k : last);
  }
  const double* flipped_level(int k) const { return flipped.get() + (level(k) - levels.get()); }

  // Compute the responses of W lessons. `is_fine` becomes false for lessons that need logarithms (see below, and `check`).
  void recurse(const Beliefs& beliefs, const int* asked, int count, Gone gone, Responses& out) {
    for (int lane = 0; lane < W; ++lane) {
      const int k = asked[lane < count ? lane : 0];
      is_fine[lane] = true;
      for (int i = 0; i < n; ++i) p[i * W + lane] = gone(k, i) ? 0.0 : prior[i];
      for (int j = 0; j < m; ++j) theta[j * W + lane] = beliefs.number(k, j);
      // In a table with zeros, a lesson with a belief below 2^-512 needs logarithms: a datum may exclude all larger beliefs.
      for (int j = 0; j < m && spec.depth > 0; ++j) is_fine[lane] &= beliefs.shift.at(k)[j * W] == 0.0 || !has_zeros;
    }
    for (int i = 0; i < n * W; ++i) x[i] = p[i] > 0.0 ? most[i / W] : 0.0;
    if (spec.from_truth) b.assign(m * W, 1.0); else fill_columns(0);
    for (int k = 0; k < spec.depth && !is_stopped(); ++k) {
      for (int j = 0; j < m * W; j += NATIVE) store(&weights[j], load(&b[j]) * load(&theta[j]));
      multiply<W>(level(k), flipped_level(k), n, m, weights.get(), x.get());
      for (int i = 0; i < n * W; i += NATIVE) {
        const Vec z = load(&x[i]), own = load(&p[i]);
        check(select(own > 0.0, z, broadcast(1.0)), i % W);
        const Vec power = spec.rationality == 1.0 ? 1.0 / z : exponential(-spec.rationality * logarithm(larger(z, broadcast(LEAST_SUM))));
        const Mask is_shown = (own > 0.0) & (z > 0.0);
        // A product that underflows becomes LEAST_SUM^2, so that `check` does not take it for an exact zero.
        check(select(is_shown, larger(power * own, broadcast(LEAST_SUM * LEAST_SUM)), broadcast(1.0)), i % W);
        store(&x[i], select(is_shown, power * own, Vec{}));
      }
      fill_columns(k + 1);
    }
    for (int lane = 0; lane < count; ++lane) {
      double *row = out.row.at(asked[lane]), *column = out.column.at(asked[lane]);
      for (int i = 0; i < n; ++i) row[i * W] = x[i * W + lane];
      for (int j = 0; j < m; ++j) column[j * W] = b[j * W + lane];
    }
  }
  void fill_columns(int k) {
    multiply<W>(flipped_level(k), level(k), m, n, x.get(), b.get());
    for (int j = 0; j < m * W; j += NATIVE) {
      const Vec sum = load(&b[j]);
      check(sum, j % W);
      store(&b[j], select(sum > 0.0, 1.0 / sum, Vec{}));
    }
  }
  // Mark lessons with a sum out of range. If no term can underflow, a sum of zero is exact: all its terms are zero.
  void check(Vec sum, int at) {
    const Mask is_zero = never_underflows ? sum == 0.0 : sum < 0.0;
    const Mask is_good = ((sum > LEAST_SUM) & (sum < 1.0 / LEAST_SUM)) | is_zero;
    if (any(~is_good))
      for (int lane = 0; lane < NATIVE; ++lane) is_fine[at + lane] &= is_good[lane] != 0;
  }

  template <class Terms>
  static double log_sum(int count, Terms terms) {
    double largest = NONE, sum = 0;
    for (int t = 0; t < count; ++t) largest = larger(largest, terms(t));
    if (!(largest > NONE)) return NONE;
    for (int t = 0; t < count; ++t) sum += exponential(terms(t) - largest);
    return largest + logarithm(sum);
  }

  // Compute one lesson's response in logarithms, into its own table.
  void recurse_in_logs(const Beliefs& beliefs, int k, Gone gone, Responses& out) {
    const size_t size = size_t(n) * m;
    out.own[k] = int(out.own_logs.size() / size);
    out.own_logs.resize(out.own_logs.size() + size);
    double* T = &out.own_logs[out.own[k] * size];
    Array<double> logs(m);
    beliefs.get_logs(k, logs.get());
    auto column_sum = [&](int j) { return log_sum(n, [&](int i) { return T[size_t(i) * m + j]; }); };
    auto normalise = [&] {
      for (int j = 0; j < m; ++j) {
        const double total = column_sum(j);
        for (int i = 0; i < n && total > NONE; ++i) T[size_t(i) * m + j] -= total;
      }
    };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) T[size_t(i) * m + j] = prior[i] > 0.0 && !gone(k, i) ? literal[size_t(i) * m + j] : NONE;
    if (!spec.from_truth) normalise();
    for (int depth = 0; depth < spec.depth && !is_stopped(); ++depth) {
      for (int i = 0; i < n; ++i) {
        double* row = T + size_t(i) * m;
        const double z = log_sum(m, [&](int j) { return row[j] + logs[j]; });  // NONE: no believed hypothesis allows the datum
        for (int j = 0; j < m; ++j) row[j] = z > NONE && row[j] > NONE ? log_prior[i] + spec.rationality * (row[j] - z) : NONE;
      }
      normalise();
    }
    for (int j = 0; j < m; ++j) out.column.at(k)[j * W] = has_normalized_columns() ? 0.0 : larger(column_sum(j), -1e300);
  }

  RuleSpec spec;
  Array<double> prior, log_prior, most, literal, last_logs, levels, flipped, x, p, b, theta, weights;
  bool is_steep = false, never_underflows = false, underflows = false, has_zeros = false, is_fine[W];
};

class Cooperation final : public Rule {
 public:
  explicit Cooperation(const Problem& problem) : Rule(problem.n, problem.m), p(problem), scaler(p) { fill_logs(p.matrix, size_t(n) * m, 1.0, logs); }

  bool has_labels(bool data_may_be_gone) const override { return p.has_zeros || data_may_be_gone; }

  void respond(const Beliefs& beliefs, const Array<int>& asked, Gone gone, Responses& out) override {
    out.table = p.matrix, out.logs = logs.get(), out.own_logs.clear();
    const int count = int(asked.size());
    const bool labels = has_labels(gone.sets), asks_all = count > 0 && asked[count - 1] == count - 1;
    scaler.resize(count, gone.sets);
    Scalings& s = scaler.s;
    sets.clear();
    const Vec floor = broadcast(p.floor());
    for (int a = 0; a < count && !asks_all; ++a) copy(beliefs.mantissa, asked[a], s.column_sum, a, beliefs.shift.at(asked[a]));
    for (int a = 0; a < count && gone.sets; ++a) sets.append(gone.sets + size_t(asked[a]) * gone.words, gone.words);
    for (int a = 0; a < count; a += NATIVE) {
      const Grid& from = asks_all ? beliefs.mantissa : s.column_sum;
      const double *x = from.at(a), *shift = asks_all ? beliefs.shift.at(a) : nullptr;
      double* sums = s.column_sum.at(a);
      for (int j = 0; j < p.m * W; j += W) {
        const Vec belief = shift ? as_number(load(x + j), load(shift + j)) : load(x + j);
        store(sums + j, p.n * (labels ? belief : larger(floor, belief)));
      }
    }
    scaler.solve(gone.sets ? sets.get() : nullptr, gone.words, &beliefs, asked.get());
    // Without zeros in the table, beliefs with a shift (below 2^-512) were taken as zero. This is wrong if an entry of the data prior is
    // about as small.
    for (int a = 0; a < count && !labels && p.least_row_sum < LEAST_ROW_SUM; ++a)
      for (int j = 0; j < p.m; ++j)
        if (beliefs.shift.at(asked[a])[j * W] > 0.0) s.error[a] = __builtin_inf();
    if (asks_all && !labels && out.row.values.size() == s.row.values.size()) {
      out.row.values.swap(s.row.values), out.column.values.swap(s.factor.values);
      for (int k = 0; k < count; ++k) out.error[k] = s.error[k], out.iterations[k] = s.iterations[k];
      return;
    }
    for (int a = 0; a < count; ++a) {
      const int k = asked[a];
      copy(s.row, a, out.row, k), copy(s.factor, a, out.column, k);
      if (labels) copy(scaler.row_label, a, out.row_label, k), copy(scaler.column_label, a, out.column_label, k);
      out.error[k] = s.error[a], out.iterations[k] = s.iterations[a];
    }
  }

 private:
  // Copy one lesson's numbers; a belief with a shift (below 2^-512) becomes zero.
  static void copy(const Grid& from, int at, Grid& to, int k, const double* shift = nullptr) {
    const double* source = from.at(at);
    double* target = to.at(k);
    for (int j = 0; j < from.width * W; j += W) target[j] = shift ? as_number(source[j], shift[j]) : source[j];
  }

  const Problem& p;
  Scaler scaler;
  Array<double> logs;
  Set sets;
};

}  // namespace core::CORE_ISA
