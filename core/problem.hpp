// A table to be scaled to many sets of column sums: S_ij = u_i M_ij w_j c_j with row sums r_i and column sums c_j.
//
// If a table has extreme entries, its rows and columns are first divided by powers of two. This balancing is exact and does not change the
// scaled table. `Scalings` contains the problems (column sums c) and their solutions (factors u and w).
#pragma once
#include <atomic>

#include "beliefs.hpp"

namespace core::CORE_ISA {

// Products of up to four entries between these bounds are normal numbers (1e-280 to 1e280).
inline constexpr double SMALLEST = 1e-70, LARGEST = 1e70;
// newton.hpp accepts a pivot only if the ratio of the pivot to the sum of its column exceeds this. A smaller ratio means that a group of
// columns shares little mass with the others. The inverse of the ratio, at most 1000, multiplies the rounding errors of 1e-16, so that
// errors stay below the default tolerance 1e-12.
inline constexpr double WEAK_COUPLING = 1e-3;
inline constexpr double LEAST_ROW_SUM = 0x1p-460;  // beliefs with a shift, below 2^-512, are less than 2^-52 of this
inline constexpr double ROUNDING = 1e-15;  // rounding of a factor, 5 last-place units; error estimates are at least this

// Points to the flag of the call that this thread works for. Ctrl-C sets the flag; long loops check it.
inline thread_local const std::atomic<bool>* stop_flag = nullptr;
inline bool is_stopped() { return stop_flag && stop_flag->load(std::memory_order_relaxed); }
// Lets `stop_flag` of this thread point to the flag of a call until the call ends.
struct StopScope {
  explicit StopScope(const std::atomic<bool>& stop) { stop_flag = &stop; }
  ~StopScope() { stop_flag = nullptr; }
  StopScope(const StopScope&) = delete;
};

// The properties of a table that one pass finds.
struct TableScan {
  double low = __builtin_inf(), high = 0.0;  // the smallest positive and the largest entry
  bool has_zeros = false;
  bool is_table = true;                      // all entries are finite and not negative, with a positive one in every row and column

  TableScan(const double* matrix, int n, int m) {
    Array<double> column(m);
    Vec lows = broadcast(low), highs{};
    for (int i = 0; i < n; ++i, matrix += m) {
      double most = 0.0;
      Vec mosts{};
      int j = 0;
      for (; j + NATIVE <= m; j += NATIVE) {
        const Vec x = load_any(matrix + j);
        lows = smaller(lows, select(x > 0.0, x, lows)), mosts = larger(mosts, x);
        has_zeros |= any(x == 0.0), is_table &= !any(~((x >= 0.0) & (x < __builtin_inf())));
        store_any(&column[j], larger(load_any(&column[j]), x));
      }
      for (; j < m; ++j) {
        const double x = matrix[j];
        low = x > 0.0 ? smaller(low, x) : low, most = larger(most, x), column[j] = larger(column[j], x);
        has_zeros |= x == 0.0, is_table &= x >= 0.0 && x < __builtin_inf();
      }
      highs = larger(highs, mosts), high = larger(high, most);
      is_table &= most > 0.0 || any(mosts > 0.0);
    }
    for (double x : column) is_table &= x > 0.0;
    for (int lane = 0; lane < NATIVE; ++lane) low = smaller(low, lows[lane]), high = larger(high, highs[lane]);
  }
};

// Column sums are raised to at least n * `floor()` (for one component, in components.hpp: `floor()`), so that no zeros or denormal numbers occur.
// This changes the factors by less than their rounding error: the relative influence of column j on u_i is at most c_j / r_i.
inline constexpr double FLOOR = 0x1p-300;

struct Problem {
  int n = 0, m = 0;
  double tolerance = 1e-12;
  double least_row_sum = 1.0;        // the smallest positive row sum, but at most 1
  double total = 0.0;                // of the row sums
  int max_iterations = 100000;
  bool has_zeros = false, is_representable = true;
  bool is_extreme = false;           // a balanced entry > 0 outside SMALLEST..LARGEST, or a row sum > 0 below SMALLEST; factors may overflow
  const double* matrix;              // balanced, (n, m): the given table if it needs no balancing
  Array<double> transposed;          // (m, n)
  Array<double> row_sums;            // (n,); if empty, all are 1
  Array<int> row_unit, column_unit;  // exponents: given entry = balanced entry * 2**(row_unit_i + column_unit_j)

  Problem(const double* given, const TableScan& scan, const double* sums, int n, int m, double tolerance)
      : n(n), m(m), tolerance(tolerance), has_zeros(scan.has_zeros), matrix(given) {
    if (sums) row_sums.append(sums, n);
    for (int i = 0; i < n; ++i) total += row_sum(i);
    for (int i = 0; sums && i < n; ++i) {
      has_zeros |= sums[i] == 0.0;
      if (sums[i] > 0.0) least_row_sum = smaller(least_row_sum, sums[i]);
    }
    is_extreme = least_row_sum < SMALLEST;
    row_unit.assign(n, 0), column_unit.assign(m, 0);
    if (!(scan.low >= SMALLEST && scan.high <= LARGEST)) balance();
    transposed.resize(size_t(n) * m);
    for (int first = 0; first < n; first += W)  // W rows at a time: whole cache lines are written
      for (int j = 0; j < m; ++j)
        for (int i = first; i < first + W && i < n; ++i) transposed[size_t(j) * n + i] = matrix[size_t(i) * m + j];
  }

  Problem(const double* given, const double* sums, int n, int m, double tolerance)
      : Problem(given, TableScan(given, n, m), sums, n, m, tolerance) {}

  double floor() const { return FLOOR * least_row_sum; }  // the lower limit of a column sum divided by n
  double row_sum(int i) const { return row_sums.size() ? row_sums[i] : 1.0; }
  const double* row(int i) const { return matrix + size_t(i) * m; }

 private:
  // Choose the exponents of all rows, then of all columns, four times: each lies halfway between the exponents of the smallest and the
  // largest positive entry of its row or column.
  void balance() {
    const size_t size = size_t(n) * m;
    Array<int> exponent(size);
    Array<double> mantissa(size);
    for (size_t k = 0; k < size; ++k) mantissa[k] = __builtin_frexp(matrix[k], &exponent[k]);
    auto halfway = [&](int count, int length, size_t step, size_t next, int* own, const int* other) {
      for (int k = 0; k < count; ++k) {
        int low = 1 << 20, high = -(1 << 20);
        for (int l = 0; l < length; ++l) {
          const size_t at = k * next + l * step;
          if (mantissa[at] == 0.0) continue;
          const int e = exponent[at] - other[l];
          low = e < low ? e : low, high = e > high ? e : high;
        }
        own[k] = low <= high ? (low + high) / 2 : 0;
      }
    };
    for (int pass = 0; pass < 4; ++pass) {
      halfway(n, m, 1, m, row_unit.get(), column_unit.get());
      halfway(m, n, m, 1, column_unit.get(), row_unit.get());
    }
    balanced.resize(size);
    matrix = balanced.get();
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        const size_t at = size_t(i) * m + j;
        if (mantissa[at] == 0.0) continue;
        balanced[at] = __builtin_ldexp(mantissa[at], exponent[at] - row_unit[i] - column_unit[j]);
        is_representable &= balanced[at] >= 0x1p-1022 && balanced[at] <= 0x1.fp1023;
        is_extreme |= !(balanced[at] >= SMALLEST && balanced[at] <= LARGEST);
      }
  }
  Array<double> balanced;
};

// out = A x, for L vectors side by side: (columns, L) to (rows, L). A is (rows, columns), and `flipped` its transpose.
template <int L>
void multiply(const double* A, const double* flipped, int rows, int columns, const double* x, double* out) {
  if constexpr (L == 1) {  // a Vec has consecutive rows
    int i = 0;
    auto some = [&](auto count) {
      constexpr int V = count;
      Vec sums[V];
      for (int v = 0; v < V; ++v) sums[v] = Vec{};
      const double* a = flipped + i;
      for (int j = 0; j < columns; ++j, a += rows)
        for (int v = 0; v < V; ++v) sums[v] += load_any(a + v * NATIVE) * x[j];
      for (int v = 0; v < V; ++v) store_any(out + i + v * NATIVE, sums[v]);
      i += V * NATIVE;
    };
    while (i + 8 * NATIVE <= rows) some(std::integral_constant<int, 8>{});
    while (i + 2 * NATIVE <= rows) some(std::integral_constant<int, 2>{});
    while (i + NATIVE <= rows) some(std::integral_constant<int, 1>{});
    for (; i < rows; ++i) {
      double sum = 0.0;
      for (int j = 0; j < columns; ++j) sum += flipped[size_t(j) * rows + i] * x[j];
      out[i] = sum;
    }
  } else {  // a Vec has one row of several problems; rows are taken in groups whose sums fill eight registers
    constexpr int V = L / NATIVE, R = 8 / V;
    int i = 0;
    auto some = [&](auto count) {
      constexpr int K = count;
      Vec sums[K][V];
      for (int r = 0; r < K; ++r)
        for (int v = 0; v < V; ++v) sums[r][v] = Vec{};
      const double* a = A + size_t(i) * columns;
      for (int j = 0; j < columns; ++j)
        for (int r = 0; r < K; ++r)
          for (int v = 0; v < V; ++v) sums[r][v] += a[size_t(r) * columns + j] * load(x + size_t(j) * L + v * NATIVE);
      for (int r = 0; r < K; ++r)
        for (int v = 0; v < V; ++v) store(out + size_t(i + r) * L + v * NATIVE, sums[r][v]);
      i += K;
    };
    while (rows - i >= R) some(std::integral_constant<int, R>{});
    while (R > 4 && rows - i >= 4) some(std::integral_constant<int, 4>{});
    while (rows - i >= 2) some(std::integral_constant<int, 2>{});
    if (i < rows) some(std::integral_constant<int, 1>{});
  }
}

// Problems with one table, and their solutions.
struct Scalings {
  int size = 0;
  Grid column_sum, factor, row;  // c (m), w (m), u (n)
  Array<double> error;           // estimated relative error of the factors; infinite if no solution was found
  Array<int> iterations;         // sweeps and Newton steps
  Array<int> same;               // by problem: index of an earlier problem whose solution it takes (solver.hpp), or its own index

  void resize(const Problem& problem, int count) {
    size = count;
    column_sum.resize(problem.m, count), factor.resize(problem.m, count), row.resize(problem.n, count);
    error.resize(count), iterations.resize(count);
  }
};

CORE_INLINE bool is_normal(double x) { return x >= 0x1p-1022 && x < 0x1p1023; }
// Whether the factors of problem k are normal numbers (rows with the sum zero have the factor zero).
inline bool has_normal_factors(const Problem& p, const Scalings& s, int k) {
  bool found = true;
  for (int j = 0; j < p.m; ++j) found &= is_normal(s.factor.at(k)[j * W]);
  for (int i = 0; i < p.n; ++i) found &= p.row_sum(i) == 0.0 || is_normal(s.row.at(k)[i * W]);
  return found;
}
// Whether the factors of problem k meet its sums, to a relative error of 1e-6. After an overflow a method may report convergence wrongly.
inline bool meets_sums(const Problem& p, const Scalings& s, int k) {
  const double *u = s.row.at(k), *w = s.factor.at(k), *c = s.column_sum.at(k);
  bool found = true;
  for (int i = 0; i < p.n; ++i) {
    double total = 0.0;
    for (int j = 0; j < p.m; ++j) total += p.row(i)[j] * (w[j * W] * c[j * W]);
    found &= magnitude(u[i * W] * total - p.row_sum(i)) <= 1e-6 * p.row_sum(i);
  }
  for (int j = 0; j < p.m; ++j) {
    double total = 0.0;
    for (int i = 0; i < p.n; ++i) total += u[i * W] * p.row(i)[j];
    found &= magnitude(w[j * W] * total - 1.0) <= 1e-6;
  }
  return found;
}

}  // namespace core::CORE_ISA
