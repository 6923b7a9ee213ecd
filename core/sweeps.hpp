// Accelerated sweeps for tables with more than six columns, for L problems side by side (one problem: L = 1).
//
// A sweep: u_i = r_i / sum_j M_ij w_j c_j,  w_j <- w_j exp(f_j),  f_j = -log(w_j sum_i u_i M_ij).
// Steps are accelerated by Anderson's method with a memory of two: weights come from the Gram matrix of the last three residuals f.
// The last step is plain, w_j = 1 / sum_i u_i M_ij, so that columns sum to c_j.
//
// A problem in which the sum of column h exceeds half the total starts at the limit in which column h has the whole total:
// w_j = n / sum_i (r_i M_ij / M_ih). Problems without such a column, or with a w_j out of range (zeros in column h), start at w = 1.
//
// Let rho be the factor by which a sweep multiplies the error, and delta = 1 - min_i S_ih / r_i, with the scaled table S and the column h
// with the largest sum. A sweep multiplies the range (maximum minus minimum) of the errors of log w, and that of log u, by at most delta
// (Doeblin). So rho <= delta, and the error is at most 2 delta / (1 - delta) times the last change. If the last change is within the
// tolerance but this bound is not, probe.hpp estimates rho. A problem whose estimated error is too large is swept again.
//
// Every sum is taken in the order of its index, so a problem gives the same bits alone and in a lane.
#pragma once
#include "newton.hpp"
#include "probe.hpp"

namespace core::CORE_ISA {

// Thresholds. Changes are relative changes of a factor per sweep. NEAR and MAX_SWEEPS affect only the speed: a solution
// is accepted only by its error estimate.
inline constexpr double NEAR = 0.9;          // steps are accelerated when the change is below this
// A problem is accepted only if its change is at most this; the relative error of delta is then at most 1e-3.
inline constexpr double CLOSE = 1e-4;
inline constexpr int MAX_SWEEPS = 100;       // eight to twelve sweeps usually suffice; after MAX_SWEEPS careful.hpp solves the problem
inline constexpr double UNKNOWN = -1.0;      // value of 2 delta / (1 - delta) before it is computed

template <int L>
class Sweeps : SideBySide<L> {
 public:
  explicit Sweeps(const Problem& problem)
      : p(problem), probe(p), n(p.n), m(p.m), close_enough(smaller(CLOSE, larger(p.tolerance, NOISE))),
        small_change(smaller(CLOSE, 1e6 * p.tolerance)), w(m * L), c(m * L), weight(m * L), total(m * L), taken(m * L), u(n * L) {
    for (auto& values : residual) values.resize(m * L);
    for (auto& values : image) values.resize(m * L);
  }

  // Solve the `count` problems from position `first` on. The error of an unsolved problem is set above the tolerance.
  void solve(Scalings& scalings, int first, int count) {
    s = &scalings;
    rate.assign(s->size, 0.0), is_unproved.assign(s->size, 0);
    tasks.clear();
    for (int k = first; k < first + count; ++k) {
      if (s->same[k] != k) continue;
      tasks.push(k);
      s->iterations[k] = 0;
    }
    is_first = true;
    sweep_tasks();
    is_first = false;
    send_probes();
    keep_unsolved();
    sweep_tasks();  // with the rates that the probes found
  }

 private:
  using typename SideBySide<L>::T;
  using SideBySide<L>::N, SideBySide<L>::get, SideBySide<L>::put;
  void to_rows() { multiply<L>(p.matrix, p.transposed.get(), n, m, weight.get(), u.get()); }
  void to_columns(const double* rows) { multiply<L>(p.transposed.get(), p.matrix, m, n, rows, total.get()); }

  // Sweep until all tasks are done. A lane that has finished a task takes the next one that no lane has taken.
  void sweep_tasks() {
    if (tasks.size() == 0) return;
    size_t next = 0;
    int num_busy = 0;
    for (int lane = 0; lane < L; ++lane) {
      const bool is_spare = next == tasks.size();  // spare lanes repeat the first task, so that they contain no NaN
      load_task(lane, tasks[is_spare ? 0 : next++]);
      active[lane] = is_spare ? 0.0 : 1.0, num_busy += is_spare ? 0 : 1;
    }
    for (int pass = 0; num_busy > 0 && !is_stopped(); ++pass) {
      to_rows();
      fill_row_factors();
      to_columns(u.get());
      unsigned done = 0;
      for (int at = 0; at < L; at += N) done |= judge(at, pass) << at;
      for (int at = 0; at < L; at += N) step(at, pass);
      for (; done; done &= done - 1) {
        const int lane = __builtin_ctz(done);
        unload(lane);
        if (next < tasks.size()) load_task(lane, tasks[next++]);
        else active[lane] = 0.0, --num_busy;
      }
    }
  }

  // u_i = r_i / sum_i; one division serves two rows.
  void fill_row_factors() {
    double* sums = u.get();
    const double* r = p.row_sums.size() ? p.row_sums.get() : nullptr;
    int i = 0;
    for (; i + 1 < n; i += 2)
      for (int at = i * L; at < (i + 1) * L; at += N) {
        const T a = get(sums + at), b = get(sums + at + L), inverse = 1.0 / (a * b);
        put(sums + at, r ? r[i] * (b * inverse) : b * inverse), put(sums + at + L, r ? r[i + 1] * (a * inverse) : a * inverse);
      }
    for (int at = i * L; at < n * L; at += N) put(sums + at, (r ? r[i] : 1.0) / get(sums + at));
  }

  void load_task(int lane, int k) {
    const double* sum = s->column_sum.at(k);
    const int most = largest_column(sum);
    const double* from = is_first ? start(sum[most * W] > 0.5 * p.total ? most : m) : s->factor.at(k);
    const int step = is_first ? 1 : W;
    for (int j = 0; j < m; ++j) {
      const double own = sum[j * W], factor = from[j * step];
      c[j * L + lane] = own, w[j * L + lane] = factor, weight[j * L + lane] = factor * own;
    }
    task[lane] = k, largest[lane] = most;
    active[lane] = 1.0, age[lane] = sweeps[lane] = 0.0, spent[lane] = s->iterations[k], rate_now[lane] = rate[k], bound[lane] = UNKNOWN;
  }

  int largest_column(const double* sum) const {
    int most = 0;
    double largest_sum = 0.0;
    for (int j = 0; j < m; ++j) {
      const bool is_more = sum[j * W] > largest_sum;
      largest_sum = is_more ? sum[j * W] : largest_sum, most = is_more ? j : most;
    }
    return most;
  }

  // The starting factors of a problem in which the sum of column h exceeds half the total; h = m if there is no such column.
  const double* start(int h) {
    if (start_of.size() == 0) start_of.assign(m + 1, -1);
    if (start_of[h] >= 0) return &starts[size_t(start_of[h]) * m];
    start_of[h] = int(starts.size() / m);
    starts.resize(starts.size() + m);
    double* w = &starts[size_t(start_of[h]) * m];
    bool is_finite = h < m;
    for (int i = 0; i < n && is_finite; ++i) {
      const double u = p.row_sum(i) / p.row(i)[h];
      for (int j = 0; j < m; ++j) w[j] += u * p.row(i)[j];
    }
    for (int j = 0; j < m; ++j) is_finite &= w[j] > 1e-100 && w[j] < 1e100;
    for (int j = 0; j < m; ++j) w[j] = is_finite ? n / w[j] : 1.0;
    return w;
  }

  // Clear the residuals of a failed task. The next task in this lane multiplies them by zero, but 0 * NaN is NaN.
  void clear_history(int lane) {
    for (auto* gram : {gram11, gram12, gram22}) gram[lane] = 0.0;
    for (auto* history : {&residual[0], &residual[1], &residual[2], &taken, &image[0], &image[1]})
      for (int j = 0; j < m; ++j) (*history)[j * L + lane] = 0.0;
  }

  void unload(int lane) {
    const int k = task[lane];
    double *factor = s->factor.at(k), *row = s->row.at(k);
    for (int j = 0; j < m; ++j) factor[j * W] = 1.0 / total[j * L + lane];
    for (int i = 0; i < n; ++i) row[i * W] = u[i * L + lane];
    rate[k] = rate_now[lane], is_unproved[k] = needs_probe[lane] > 0.0;
    s->error[k] = is_solved[lane] > 0.0 ? error_now[lane] : __builtin_inf();
    s->iterations[k] += int(sweeps[lane]);
    if (!(is_solved[lane] > 0.0)) clear_history(lane);
  }

  // Compute each lane's change, error estimate and weights of Anderson's acceleration; return the lanes that are
  // solved or given up, as bits.
  unsigned judge(int at, int pass) {
    // Local pointers: members would be read again after every store.
    const double *f1 = &residual[(pass + 2) % 3][at], *f2 = &residual[(pass + 1) % 3][at], *factor = &w[at], *sums = &total[at], *column = &c[at];
    double* f0 = &residual[pass % 3][at];
    T change{}, s00{}, s01{}, s02{};
    for (int to = 0, end = m * L; to < end; to += L) {
      const T gap = 1.0 - get(factor + to) * get(sums + to);
      const T now = gap + gap * gap * (0.5 + gap * (1.0 / 3.0));  // f_j to third order; `gap` is 1 - exp(-f_j)
      put(f0 + to, now);
      const T weighted = get(column + to) * now;
      change = larger(change, magnitude(gap));
      s00 += weighted * now, s01 += weighted * get(f1 + to), s02 += weighted * get(f2 + to);
    }
    const T s11 = get(gram11 + at), s12 = get(gram12 + at), s22 = get(gram22 + at);
    const T age_ = get(age + at), count = get(sweeps + at) + 1.0;
    const auto is_active = get(active + at) > 0.0, is_near = change < NEAR;
    const auto is_small = change <= small_change;
    const auto is_late = (count + get(spent + at) >= double(limit())) | not_in(s00 < 1e300);
    const T rate_ = select(age_ == 1.0, larger(get(rate_now + at), s01 / s11), get(rate_now + at));
    // Inner products of three vectors: the newer and the older difference of residuals, and the residual ("now").
    const T new_new = s00 - 2.0 * s01 + s11, new_old = s01 - s02 - s11 + s12, old_old = s11 - 2.0 * s12 + s22;
    const T new_now = s00 - s01, old_now = s01 - s02, determinant = new_new * old_old - new_old * new_old;
    const auto use_two = (age_ >= 2.0) & (determinant > 1e-9 * new_new * old_old), use_one = (age_ >= 1.0) & (new_new > 0.0);
    const T inverse = 1.0 / select(use_two, determinant, new_new);
    const T two = (new_now * old_old - old_now * new_old) * inverse, one = select(use_one, new_now * inverse, T{});
    put(newer + at, select(is_near, select(use_two, two, one), T{}));
    put(older + at, select(is_near & use_two, (old_now * new_new - new_now * new_old) * inverse, T{}));
    put(gram11 + at, s00), put(gram12 + at, s01), put(gram22 + at, s11);
    put(age + at, select(is_near, age_ + 1.0, T{})), put(sweeps + at, count), put(rate_now + at, rate_);
    if (!any(is_active & (is_small | is_late))) return 0;
    // The error after a plain last step: the bound by delta if it is within the tolerance, else a geometric series with the rate.
    for (unsigned open = lanes_in(is_small & (get(bound + at) == UNKNOWN)); open; open &= open - 1) {
      const int lane = at + __builtin_ctz(open);
      bound[lane] = bound_error(lane);
    }
    T error = (change + ROUNDING) * get(bound + at);
    const auto is_proved = is_small & (error <= p.tolerance), is_open = not_in(is_proved) & (change <= close_enough) & (age_ >= 1.0) & (rate_ < 1.0);
    auto is_done = is_proved;
    if (any(is_open)) {
      error = select(is_open, (change + ROUNDING) * left_after(rate_), error);
      is_done = is_done | (is_open & (error <= p.tolerance));
    }
    const auto gives_up = ((change <= NOISE) & (count >= 3.0)) | is_late;
    put(error_now + at, larger(error, T{} + ROUNDING)), put(needs_probe + at, select(is_proved, T{}, T{} + 1.0));
    put(is_solved + at, select(is_done, T{} + 1.0, T{}));
    return lanes_in(is_active & (is_done | gives_up));
  }
  int limit() const { return MAX_SWEEPS < p.max_iterations ? MAX_SWEEPS : p.max_iterations; }

  // 2 delta / (1 - delta), from the row factors and the weights w_j c_j of one lane.
  double bound_error(int lane) const {
    const int h = largest[lane];
    const double *entry = p.transposed.get() + size_t(h) * n, *rows = u.get() + lane, *r = p.row_sums.size() ? p.row_sums.get() : nullptr;
    double smallest = __builtin_inf();
    for (int i = 0; i < n; ++i) {
      const double share = rows[i * L] * entry[i];
      smallest = smaller(smallest, r ? share / r[i] : share);
    }
    const double delta = 1.0 - smallest * weight[h * L + lane] + NOISE;
    return delta < 1.0 ? 2.0 * delta / (1.0 - delta) : __builtin_inf();
  }

  // Change the factors: by a plain step in lanes that are far from the solution, by an accelerated step in lanes that
  // are near. Factors in idle lanes do not change.
  void step(int at, int pass) {
    const T a = get(newer + at), b = get(older + at);
    const auto moves = get(active + at) > 0.0;
    const auto is_far = moves & (get(age + at) == 0.0);
    const bool any_far = any(is_far);
    double *d1 = &image[pass % 2][at], *factor = &w[at], *x = &taken[at], *weights = &weight[at];
    const double *f0 = &residual[pass % 3][at], *f1 = &residual[(pass + 2) % 3][at], *d2 = &image[(pass + 1) % 2][at], *sums = &total[at], *column = &c[at];
    for (int to = 0, end = m * L; to < end; to += L) {
      const T now = get(f0 + to), moved = get(x + to) + (now - get(f1 + to));
      const T own = select(moves, clip(now - a * moved - b * get(d2 + to), LONGEST_STEP), T{});
      put(d1 + to, moved), put(x + to, own);
      T next = get(factor + to) * ((1.0 + own) + own * own * (0.5 + own * (1.0 / 6.0)));  // about exp(own)
      if (any_far) next = select(is_far, 1.0 / get(sums + to), next);
      put(factor + to, next), put(weights + to, next * get(column + to));
    }
  }

  // Probe the tasks that seem solved although delta does not bound their error by the tolerance.
  void send_probes() {
    asked.clear();
    for (int k : tasks)
      if (s->error[k] < 1e300 && is_unproved[k]) asked.push(k);
    probe.correct(*s, asked, rate.get());
  }

  void keep_unsolved() {
    int kept = 0;
    for (int k : tasks)
      if (s->error[k] < 1e300 && !(s->error[k] <= p.tolerance) && s->iterations[k] < limit()) tasks[kept++] = k;
    tasks.resize(kept);
  }

  const Problem& p;
  Probe<L> probe;
  int n, m;
  const double close_enough;  // the largest change at which rho is used: about the tolerance, because no error estimate is below the change
  const double small_change;  // the bound by delta is computed when the change is below this
  Scalings* s = nullptr;
  Array<int> tasks, asked;
  bool is_first = true;       // the first call of `sweep_tasks`: problems start at `start`, not at their last factors
  Array<double> rate;         // by problem: the estimated rate
  Array<char> is_unproved;    // by problem: whether delta gives no sufficient bound, so that a probe must estimate rho
  Array<int> start_of;        // (m + 1,): position of column h's start in `starts`, or -1
  Array<double> starts;       // (starts, m)
  Array<double> w, c, weight, total, taken, u, residual[3], image[2];
  int task[L], largest[L];
  alignas(64) double active[L], age[L], sweeps[L], spent[L], rate_now[L], bound[L], needs_probe[L], error_now[L], is_solved[L], newer[L], older[L],
      gram11[L], gram12[L], gram22[L];
};

}  // namespace core::CORE_ISA
