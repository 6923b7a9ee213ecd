// A libFuzzer target for the entry points of the core: any table, prior and belief that Python's checks let through.
// `make fuzz-core` builds it with address and undefined-behaviour sanitizers; a broken promise aborts. Without libFuzzer it is a
// program that tries random bytes of fixed seeds; `make sanitize` runs it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "../../core/core.hpp"

using namespace core;
namespace core::CORE_ISA { extern const Kernels table; }
static const Kernels& kernels_ = CORE_ISA::table;

#define PROMISE(condition) \
  if (!(condition)) std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), std::abort()

// Numbers from bytes; zeros when these are used up.
struct Input {
  const uint8_t* bytes;
  size_t left;

  uint64_t word(int size) {
    uint64_t found = 0;
    for (; size > 0 && left > 0; --size, --left) found = found << 8 | *bytes++;
    return found;
  }
  int integer(int least, int most) { return least + int(word(most - least < 256 ? 1 : 2) % uint64_t(most - least + 1)); }
  bool flip() { return word(1) & 1; }
  double share() { return double(word(8)) * 0x1p-64; }

  // A number >= 0: simple ones, ties, and magnitudes up to the limits of doubles.
  double number(int kinds = 16) {
    const int kind = integer(0, kinds - 1);
    if (kind < 4) return 0.0;
    if (kind < 8) return kind - 3.0;
    if (kind < 14) return share();
    return std::ldexp(1.0 + share(), integer(kind < 15 ? -60 : -1000, kind < 15 ? 60 : 1000));
  }
  std::vector<double> distribution(int size, bool may_be_zero) {
    std::vector<double> x(size);
    double total = 0.0;
    for (double& value : x) {
      value = std::fmin(number(), 1e300 / size);
      total += value = may_be_zero ? value : std::fmax(value, 1e-9);
    }
    for (double& value : x) value = total > 1e-300 ? value / total : 1.0 / size;
    return x;
  }
  std::vector<double> logs(int size) {
    auto x = distribution(size, true);
    for (double& value : x) value = std::log(value);
    return x;
  }
};

// A table without empty rows and columns.
static std::vector<double> table_of(Input& in, int n, int m) {
  std::vector<double> x(size_t(n) * m);
  for (double& value : x) value = in.number();
  for (int i = 0; i < n; ++i) {
    double total = 0.0;
    for (int j = 0; j < m; ++j) total += x[i * m + j];
    if (!(total > 0.0)) x[i * m + i % m] = 1.0;
  }
  for (int j = 0; j < m; ++j) {
    double total = 0.0;
    for (int i = 0; i < n; ++i) total += x[i * m + j];
    if (!(total > 0.0)) x[(j % n) * m + j] = 1.0;
  }
  return x;
}

static void ask(Input& in, void* worker, bool cooperates, int n, int m, const Stop& stop) {
  const int size = in.integer(1, 9), words = (n + 63) / 64;
  std::vector<double> logs, found[5];
  std::vector<int64_t> data(size);
  std::vector<uint64_t> gone(size * words);
  for (int k = 0; k < size; ++k) {
    const auto belief = in.logs(m);
    logs.insert(logs.end(), belief.begin(), belief.end());
    data[k] = in.integer(0, n - 1);
  }
  const bool has_gone = in.flip();
  for (auto& word : gone) word = in.word(8);
  for (int k = 0; k < size; ++k) gone[k * words + words - 1] &= n % 64 ? (uint64_t(1) << n % 64) - 1 : ~uint64_t(0);
  for (int quantity = 0; quantity < 5; ++quantity) {
    Question q{};
    found[quantity].resize(size * n * m);
    q.quantity = Quantity(quantity), q.out = found[quantity].data();
    q.logs = logs.data(), q.gone = has_gone ? gone.data() : nullptr, q.size = size, q.data = data.data(), q.data_stride = 1;
    kernels_.answer(worker, q, stop);
    if (!(q.error < 1e-6)) return;
  }
  const auto &likelihoods = found[0], &posteriors = found[2], &updated = found[3], &updated_logs = found[4];
  for (int k = 0; k < size; ++k)
    for (int j = 0; j < m; ++j) {
      PROMISE(!(updated[k * m + j] > 1.0 + 1e-6) && !(updated_logs[k * m + j] > 1e-6));
      double total = 0.0;
      for (int i = 0; i < n; ++i) {
        const int at = (k * n + i) * m + j;
        PROMISE(likelihoods[at] >= 0.0 && (!cooperates || likelihoods[at] <= 1.0 + 1e-6));
        PROMISE(!(posteriors[at] < 0.0 || posteriors[at] > 1.0 + 1e-6));
        total += likelihoods[at];
      }
      if (cooperates && !has_gone && logs[k * m + j] > -100.0) PROMISE(std::abs(total - 1.0) < 1e-6);
    }
}

static void play(Input& in, const std::vector<double>& table, void* teacher, void* learner, int n, int m, const Stop& stop) {
  const int rounds = in.integer(0, 6), count = in.integer(1, 20);
  const bool is_shared = teacher == learner, drops = in.flip();
  const auto first = in.logs(m), second = is_shared ? first : in.logs(m);
  const Plan plan{is_shared, drops, drops, first.data(), second.data(), in.integer(0, m - 1), rounds, 0.9, in.word(8)};
  std::vector<double> moments((rounds + 1) * (1 + 2 * m)), paths(count * (rounds + 1) * m);
  std::vector<int64_t> sure(rounds + 2);
  std::vector<int> kept, data(count * rounds + 1);
  for (int k = 0; k <= rounds; ++k) kept.push_back(k);
  Record record{};
  record.moments = moments.data(), record.first_sure = sure.data();
  record.paths = paths.data(), record.num_paths = count, record.num_kept = rounds + 1, record.kept = kept.data(), record.data = data.data();
  kernels_.play(plan, teacher, learner, in.word(4), count, record, stop);
  int64_t total = 0;
  for (int64_t lessons : sure) total += lessons;
  PROMISE(total == count);
  for (double value : paths) PROMISE(!(value > 1e-6));
  for (int k = 0; k < count * rounds; ++k) PROMISE(data[k] == -1 || (data[k] >= 0 && data[k] < n && table[data[k] * m + plan.hypothesis] > 0.0));
}

static void teach(Input& in, void* teacher, void* learner, int n, int m, const Stop& stop) {
  const int count = in.integer(1, 8);
  const auto first = in.logs(m), second = in.logs(m), law = in.distribution(n, false);
  const TeachingPlan plan{first.data(), law.data(), in.integer(0, m - 1), in.integer(0, 12), 0.9, in.word(8)};
  std::vector<double> taught(count * m), believed(count * m);
  std::vector<int64_t> num_rounds(count);
  bool is_finished[8], is_known[8], goes_on = in.flip();
  const TeachingEnds ends{taught.data(), num_rounds.data(), is_finished, 1, size_t(count), &learner, second.data(), &goes_on, believed.data(), is_known};
  kernels_.teach(plan, teacher, 0, count, ends, stop);
  for (int k = 0; k < count; ++k) PROMISE(num_rounds[k] >= 0 && num_rounds[k] <= plan.max_rounds);
  if (m == 2) kernels_.couple(plan, teacher, learner, second.data(), 0, count, taught.data(), believed.data(), stop);
}

static void grow(Input& in, void* worker, int n, int m, const Stop& stop) {
  std::vector<int64_t> data;
  for (int i = 0; i < n; ++i) data.push_back(i);
  const std::vector<double> copies(n, 1.0), weights(1, 1.0);
  const auto logs = in.logs(m);
  const TreePlan plan{data.data(), copies.data(), n, in.integer(0, m - 1)};
  const int rounds = n <= 8 ? 3 : 1;
  std::vector<double> moments(rounds * (1 + 2 * m)), child_logs(n * m), child_weights(n);
  kernels_.grow(plan, worker, logs.data(), weights.data(), 1, rounds, moments.data(), nullptr, nullptr, stop);
  const int64_t found = kernels_.grow(plan, worker, logs.data(), weights.data(), 1, 1, moments.data(), child_logs.data(), child_weights.data(), stop);
  PROMISE(found >= 0 && found <= n);
}

static void scale(Input& in, const std::vector<double>& table, int n, int m, const Stop& stop) {
  const int size = in.integer(1, 4);
  std::vector<double> rows(n), columns(size * m), scaled(size * n * m), row_scaling(size * n), column_scaling(size * m), factors(size * m);
  std::vector<double> used_rows(size * n), used_columns(size * m), report(4 * size);
  // Sums within 36 orders of magnitude: below about 1e-300 of the total a row's share underflows.
  for (double& value : rows) value = in.number(15);
  for (double& value : columns) value = in.number(15);
  ScalingJob job{};
  job.n = n, job.m = m, job.size = size, job.matrix = table.data();
  job.row_sums = in.flip() ? rows.data() : nullptr, job.column_sums = in.flip() ? columns.data() : nullptr;
  job.tolerance = 1e-12, job.max_iterations = in.integer(1, 2000);
  job.scaled = scaled.data(), job.row_scaling = row_scaling.data(), job.column_scaling = column_scaling.data(), job.factors = factors.data();
  job.rows = used_rows.data(), job.columns = used_columns.data(), job.report = report.data();
  kernels_.scale(job, stop);
  for (int k = 0; k < size; ++k)
    if (report[4 * k + 3] == EXACT && report[4 * k] < 1e-9) {
      PROMISE(report[4 * k + 1] < 1e-6);
      for (int i = 0; i < n * m; ++i) PROMISE(scaled[k * n * m + i] >= 0.0);
    }
  const auto row_sums = in.distribution(n, false), column_sums = in.distribution(m, false);
  std::vector<int64_t> row_label(n), column_label(m), block(m);
  BlocksFound found{row_label.data(), column_label.data(), block.data(), 0, 0};
  kernels_.find_blocks(table.data(), n, m, row_sums.data(), column_sums.data(), found, stop);
  PROMISE(found.size >= 1 && found.size <= m);
  for (int64_t label : column_label) PROMISE(label >= 0 && label < found.size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Input in{bytes, size};
  const Stop stop{false};
  const int job = in.integer(0, 4), n = in.integer(1, in.integer(0, 7) ? 9 : 70), m = in.integer(1, 12);
  const auto table = table_of(in, n, m);
  if (job == 4) return scale(in, table, n, m, stop), 0;
  void *rules[2], *workers[2];
  bool cooperates[2];
  const auto prior = in.distribution(n, false);
  for (int k = 0; k < 2; ++k) {
    cooperates[k] = in.flip();
    rules[k] = kernels_.bind({n, m, table.data(), in.flip() ? prior.data() : nullptr, cooperates[k], in.flip(), in.integer(0, 5),
                              in.integer(0, 40) / 8.0, 1e-12});
    workers[k] = kernels_.make_worker(rules[k]);
  }
  if (job == 0) ask(in, workers[0], cooperates[0], n, m, stop);
  if (job == 1) play(in, table, workers[0], workers[in.flip()], n, m, stop);
  if (job == 2) teach(in, workers[0], workers[1], n, m, stop);
  if (job == 3) grow(in, workers[0], n, m, stop);
  for (int k = 0; k < 2; ++k) kernels_.free_worker(workers[k]), kernels_.unbind(rules[k]);
  return 0;
}

#ifndef LIBFUZZER  // which brings its own main
int main() {
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint8_t> bytes(random() % 1000);
    for (auto& byte : bytes) byte = uint8_t(random() >> 24);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}
#endif
