// Mean rates of convergence of BI and SCBI on random n x m matrices whose columns are uniform on the simplex.
//
// A column that is uniform on the simplex is a vector x of independent exponential variables divided by its sum S. With c the mean
// of log x over the rows of a column,
//
//   BI    KL(h, b)  = sum_i x_ih (log x_ih - log x_ib) / S_h - log S_h + log S_b
//   SCBI  KL#(h, b) = log(sum_i x_ib / x_ih) - c_b + c_h - log n
//
// The rate for h is the smallest of these over b != h. For two columns there is a shorter form. The two entries of a row are G u and
// G w with u uniform, w = 1 - u and G = -log(v v'), v and v' uniform. With L = log(u / w) the mean rates are
//
//   BI    (sum_i G_i u_i L_i / S_0 - sum_i G_i w_i L_i / S_1) / 2
//   SCBI  log(sum_i u_i / w_i * sum_i w_i / u_i) / 2 - log n
//
// Each lane computes a different matrix. A batch has RATE_LANES streams of random numbers, whatever the vector width, so the rate of
// matrix k depends only on the seed and on k.
#pragma once
#include "core.hpp"
#include "problem.hpp"

namespace core::CORE_ISA {

inline constexpr int RATE_LANES = 8;                        // streams per batch: the widest vector, AVX-512
inline constexpr int RATE_ROUNDS = RATE_BATCH / RATE_LANES;  // matrices per stream and batch
inline constexpr int TILE = 16;                             // vectors per inner loop; chosen for speed

// Random numbers of NATIVE streams, one per lane: xoshiro256+ (Blackman and Vigna 2021), which takes a sixth of Philox's time. The
// initial state is Philox(seed, stream). `uniform` uses the upper 52 bits, `uniform_product` all bits.
class Streams {
 public:
  Streams(uint64_t seed, uint64_t first_stream) {
    Words stream;
    for (int lane = 0; lane < NATIVE; ++lane) stream[lane] = first_stream + lane;
    random_words(seed, stream, 0, s0, s1), random_words(seed, stream, 1, s2, s3);
    s0 |= 1;  // a state of all zeros would produce zeros for ever
  }

  CORE_INLINE Words next() {
    const Words out = s0 + s3, t = s1 << 17;
    s2 ^= s0, s3 ^= s1, s1 ^= s2, s0 ^= s3, s2 ^= t;
    s3 = (s3 << 45) | (s3 >> 19);
    return out;
  }

  CORE_INLINE Vec uniform() { return unit_interval<Vec>(next()); }

  // The product of two uniform numbers with 32 bits each. 32 bits are enough: the mean of the product's logarithm is accurate to 2e-10.
  CORE_INLINE Vec uniform_product() {
    const uint64_t ONE = 0x3FF0000000000000ULL, HALF = 0x000FFFFFFFF00000ULL;
    const Words both = next();
    const Vec upper = bits<Vec>(((both >> 12) & HALF) | ONE), lower = bits<Vec>(((both << 20) & HALF) | ONE);
    return (upper - (1.0 - 0x1p-33)) * (lower - (1.0 - 0x1p-33));
  }

 private:
  Words s0, s1, s2, s3;
};

class TwoColumns {
 public:
  TwoColumns(int n, int) : n(n), log_n(logarithm(double(n))) {}

  // Fill the mean rates of `count` matrices in every lane.
  void fill(Streams streams, int count, Vec* bayes, Vec* cooperative) const {
    Sums sums[RATE_ROUNDS];
    for (int k = 0; k < count; ++k) sums[k] = sum_rows(streams);
    for (int k = 0; k < count; ++k) {
      const Sums& s = sums[k];
      bayes[k] = 0.5 * (s.x_log / s.x - s.y_log / s.y);
      // sum u / w = sum 1 / w - n, and the same with u and w exchanged.
      cooperative[k] = 0.5 * logarithm((s.over_w - double(n)) * (s.over_u - double(n))) - log_n;
    }
  }

 private:
  // Sums over rows of x = G u, y = G w, x L, y L, 1 / w and 1 / u.
  struct Sums {
    Vec x, y, x_log, y_log, over_w, over_u;
  };

  // Several short loops are faster than one long loop, in which each operation waits for the previous one.
  Sums sum_rows(Streams& streams) const {
    Sums sums{};
    Vec u[TILE], G[TILE], over_both[TILE], s[TILE];
    const int num_tiles = (n + TILE - 1) / TILE;
    for (int tile = 0; tile < num_tiles; ++tile) {
      const int count = (n + tile) / num_tiles;  // rows in this tile; tiles differ by at most one row
      for (int i = 0; i < count; ++i) u[i] = streams.uniform(), G[i] = streams.uniform_product();
      for (int i = 0; i < count; ++i) {  // one division serves both 1 / (u w) and log(v v')
        const Vec both = u[i] * (1.0 - u[i]), f = LogParts<Vec>(G[i]).fraction, inverse = 1.0 / (both * (f + 1.0));
        over_both[i] = (f + 1.0) * inverse, s[i] = (f - 1.0) * (both * inverse);
      }
      for (int i = 0; i < count; ++i) G[i] = -LogParts<Vec>(G[i]).finish(s[i]);
      for (int i = 0; i < count; ++i) {
        const Vec f = LogParts<Vec>(u[i] * (u[i] * over_both[i])).fraction;
        s[i] = (f - 1.0) / (f + 1.0);
      }
      for (int i = 0; i < count; ++i) {
        const Vec w = 1.0 - u[i], over_w = u[i] * over_both[i], x = G[i] * u[i], y = G[i] * w;
        const Vec L = LogParts<Vec>(u[i] * over_w).finish(s[i]);
        sums.x += x, sums.y += y, sums.x_log += x * L, sums.y_log += y * L, sums.over_w += over_w, sums.over_u += w * over_both[i];
      }
    }
    return sums;
  }

  int n;
  double log_n;
};

class ManyColumns {
 public:
  ManyColumns(int n, int m)
      : n(n), m(m), log_n(logarithm(double(n))), size(size_t(n) * m * NATIVE), x(size + TILE * NATIVE), logs(x.size()), inverses(x.size()),
        over_sum(width()), log_sum(width()), shrink(width()), own(width()), mean_log(width()), nearest(width()), nearest_sharp(width()) {}

  // Fill the mean rates of `count` matrices in every lane.
  void fill(Streams streams, int count, Vec* bayes, Vec* cooperative) {
    for (int k = 0; k < count && !is_stopped(); ++k) {
      draw(streams);
      sum_columns();
      // Compare blocks of three columns with blocks of two. The last blocks may overlap with earlier ones; some pairs are compared twice.
      for (int part = 0; part < m && !is_stopped(); part += 3)
        for (int pair = 0; pair < m; pair += 2) compare(part < m - 3 ? part : m - 3, pair < m - 1 ? pair : m - 2);
      Vec rate{}, rate_sharp{};
      for (int h = 0; h < m * NATIVE; h += NATIVE) {
        rate += load(&own[h]) - load(&log_sum[h]) - load(&nearest[h]);
        rate_sharp += logarithm(load(&nearest_sharp[h])) + load(&mean_log[h]);
      }
      bayes[k] = rate / double(m), cooperative[k] = rate_sharp / double(m) - log_n;
    }
  }

 private:
  size_t width() const { return size_t(m) * NATIVE; }

  // Fill x, log x and 1 / x, in short loops; one division serves two numbers.
  void draw(Streams& streams) {
    Vec s[TILE];
    for (size_t first = 0; first < size; first += TILE * NATIVE) {
      double *to = x.get() + first, *to_log = logs.get() + first, *to_inverse = inverses.get() + first;
      for (int k = 0; k < TILE; ++k) store(to + k * NATIVE, streams.uniform());
      for (int k = 0; k < TILE; k += 2) {
        const Vec f = LogParts<Vec>(load(to + k * NATIVE)).fraction, g = LogParts<Vec>(load(to + (k + 1) * NATIVE)).fraction;
        const Vec inverse = 1.0 / ((f + 1.0) * (g + 1.0));
        s[k] = (f - 1.0) * ((g + 1.0) * inverse), s[k + 1] = (g - 1.0) * ((f + 1.0) * inverse);
      }
      for (int k = 0; k < TILE; ++k) store(to + k * NATIVE, -LogParts<Vec>(load(to + k * NATIVE)).finish(s[k]));
      for (int k = 0; k < TILE; k += 2) {
        const Vec a = load(to + k * NATIVE), b = load(to + (k + 1) * NATIVE), f = LogParts<Vec>(a).fraction, g = LogParts<Vec>(b).fraction;
        const Vec p = a * (f + 1.0), q = b * (g + 1.0), inverse = 1.0 / (p * q), over_p = q * inverse, over_q = p * inverse;
        s[k] = (f - 1.0) * (a * over_p), s[k + 1] = (g - 1.0) * (b * over_q);
        store(to_inverse + k * NATIVE, (f + 1.0) * over_p), store(to_inverse + (k + 1) * NATIVE, (g + 1.0) * over_q);
      }
      for (int k = 0; k < TILE; ++k) store(to_log + k * NATIVE, LogParts<Vec>(load(to + k * NATIVE)).finish(s[k]));
    }
  }

  void sum_columns() {
    for (int h = 0; h < m; ++h) {
      const double *column = x.get() + size_t(h) * n * NATIVE, *log = logs.get() + size_t(h) * n * NATIVE;
      Vec sum{}, cross{}, log_total{};
      for (int i = 0; i < n * NATIVE; i += NATIVE) {
        const Vec value = load(column + i), its_log = load(log + i);
        sum += value, cross += value * its_log, log_total += its_log;
      }
      const int at = h * NATIVE;
      const Vec mean = log_total / double(n);
      store(&over_sum[at], 1.0 / sum), store(&log_sum[at], logarithm(sum)), store(&own[at], cross / sum);
      store(&mean_log[at], mean), store(&shrink[at], exponential(-mean));
      store(&nearest[at], broadcast(-1e300)), store(&nearest_sharp[at], broadcast(1e300));
    }
  }

  // Sum x_a log x_b and x_a / x_b over rows, for columns a, a + 1, a + 2 and b, b + 1. Not inlined, so that all sums stay in registers.
  __attribute__((noinline)) void compare(int a, int b) {
    const size_t column = size_t(n) * NATIVE;
    const double *x0 = x.get() + a * column, *x1 = x0 + column, *x2 = x1 + column;
    const double *log0 = logs.get() + b * column, *log1 = log0 + column, *over0 = inverses.get() + b * column, *over1 = over0 + column;
    Vec c00{}, c01{}, c10{}, c11{}, c20{}, c21{}, r00{}, r01{}, r10{}, r11{}, r20{}, r21{};
    for (size_t i = 0; i < column; i += NATIVE) {
      const Vec p = loaded(x0 + i), q = loaded(x1 + i);
      Vec y = loaded(log0 + i);
      c00 += p * y, c10 += q * y, c20 += y * load(x2 + i);
      y = loaded(log1 + i);
      c01 += p * y, c11 += q * y, c21 += y * load(x2 + i);
      y = loaded(over0 + i);
      r00 += p * y, r10 += q * y, r20 += y * load(x2 + i);
      y = loaded(over1 + i);
      r01 += p * y, r11 += q * y, r21 += y * load(x2 + i);
    }
    keep(a, b, c00, r00), keep(a, b + 1, c01, r01), keep(a + 1, b, c10, r10);
    keep(a + 1, b + 1, c11, r11), keep(a + 2, b, c20, r20), keep(a + 2, b + 1, c21, r21);
  }

  // Take KL(a, b) into the smallest divergence of column a so far (BI), and KL#(b, a) into that of column b (SCBI).
  CORE_INLINE void keep(int a, int b, Vec cross, Vec ratio) {
    if (a == b) return;
    double *cross_to = &nearest[a * NATIVE], *ratio_to = &nearest_sharp[b * NATIVE];
    store(cross_to, larger(load(cross_to), cross * load(&over_sum[a * NATIVE]) - load(&log_sum[b * NATIVE])));
    store(ratio_to, smaller(load(ratio_to), ratio * load(&shrink[a * NATIVE])));
  }

  int n, m;
  double log_n;
  size_t size;
  Array<double> x, logs, inverses;                                                 // (m, n, NATIVE), and TILE vectors of padding
  Array<double> over_sum, log_sum, shrink, own, mean_log, nearest, nearest_sharp;  // (m, NATIVE)
};

// Fill the mean rates of the first `count` matrices of a batch. Matrix k is drawn from stream k % RATE_LANES of the batch.
template <class Matrices>
void fill_rates(int n, int m, uint64_t seed, uint64_t batch, int count, double* bayes, double* cooperative) {
  Matrices matrices(n, m);
  Vec own[RATE_ROUNDS], other[RATE_ROUNDS];
  for (int part = 0; part < RATE_LANES && part < count; part += NATIVE) {
    matrices.fill(Streams(seed, batch * RATE_LANES + part), (count - part + RATE_LANES - 1) / RATE_LANES, own, other);
    for (int lane = part; lane < part + NATIVE; ++lane)
      for (int k = lane; k < count; k += RATE_LANES)
        bayes[k] = own[k / RATE_LANES][lane - part], cooperative[k] = other[k / RATE_LANES][lane - part];
  }
}

// Fill the rates of a batch; sum both rates, their difference, and the squares of all three, in a fixed order.
inline void sum_rates(int n, int m, uint64_t seed, uint64_t batch, int count, RateSums& out, double* bayes, double* cooperative, const Stop& stop) {
  const StopScope scope(stop);
  (m == 2 ? fill_rates<TwoColumns> : fill_rates<ManyColumns>)(n, m, seed, batch, count, bayes, cooperative);
  out = {};
  for (int k = 0; k < count; ++k) {
    const double gap = cooperative[k] - bayes[k], values[] = {bayes[k], cooperative[k], gap};
    for (int v = 0; v < 3; ++v) out.sums[v] += values[v], out.squares[v] += values[v] * values[v];
    out.num_not_slower += gap >= 0.0;
  }
}

}  // namespace core::CORE_ISA
