// Compiled once per instruction set, with -DCORE_ISA=<name>: the table of functions that the Python module calls.
#include "rates.hpp"
#include "trees.hpp"

namespace core::CORE_ISA {

namespace {

struct Bound {
  RuleSpec spec;
  Array<double> matrix, data_prior;
  Problem* problem = nullptr;

  explicit Bound(const RuleSpec& given) : spec(given) {
    matrix.append(spec.matrix, size_t(spec.n) * spec.m);
    if (spec.data_prior) data_prior.append(spec.data_prior, spec.n);
    spec.matrix = matrix.get(), spec.data_prior = spec.data_prior ? data_prior.get() : nullptr;
    if (!spec.cooperates) return;
    Array<double> row_sums;
    for (double share : data_prior) row_sums.push(spec.n * share);
    problem = new Problem(matrix.get(), data_prior.size() ? row_sums.get() : nullptr, spec.n, spec.m, spec.tolerance);
  }
  Bound(const Bound&) = delete;
  ~Bound() { delete problem; }
};

void* bind(const RuleSpec& spec) { return new Bound(spec); }
void unbind(void* rule) { delete static_cast<Bound*>(rule); }
// A rule with the memory that its responses need, for use by one thread at a time.
struct Worker {
  explicit Worker(Rule* rule) : rule(rule), agent(*rule, false, 0) {}
  Worker(const Worker&) = delete;
  ~Worker() { delete rule; }
  Rule* rule;
  Follower agent;
};

void* make_worker(const void* rule) {
  const Bound& bound = *static_cast<const Bound*>(rule);
  return new Worker(bound.spec.cooperates ? static_cast<Rule*>(new Cooperation(*bound.problem)) : new Recursion(bound.spec));
}
void free_worker(void* worker) { delete static_cast<Worker*>(worker); }
Rule& rule_of(void* worker) { return *static_cast<Worker*>(worker)->rule; }

void normalize_columns(double* table, int n, int m) {
  for (int j = 0; j < m; ++j) {
    double total = 0.0;
    for (int i = 0; i < n; ++i) total += table[size_t(i) * m + j];
    for (int i = 0; i < n && total > 0.0; ++i) table[size_t(i) * m + j] /= total;
  }
}

// Fill the table (n, m) of one belief: likelihoods, their logarithms, or posteriors.
void fill_table(Follower& agent, int k, Quantity quantity, double* out) {
  const Responses& found = agent.responses;
  if (quantity == Quantity::POSTERIORS) agent.weigh(k);
  for (int i = 0; i < agent.n; ++i, out += agent.m) {
    if (quantity == Quantity::POSTERIORS) agent.posterior(k, i, out);
    else for (int j = 0; j < agent.m; ++j) out[j] = quantity == Quantity::LIKELIHOODS ? found.chance(k, i, j) : found.log_chance(k, i, j);
  }
}

void answer(void* worker, Question& q, const Stop& stop) {
  const StopScope scope(stop);
  Follower& agent = static_cast<Worker*>(worker)->agent;
  const int n = agent.n, m = agent.m;
  agent.restart(q.gone != nullptr, q.size);
  agent.start(q.logs, false);
  agent.respond(q.gone);
  const bool updates = q.quantity >= Quantity::UPDATED;
  for (int at = 0; updates && at < q.size; at += NATIVE) {
    int data[NATIVE];
    for (int lane = 0; lane < NATIVE; ++lane) data[lane] = at + lane < q.size ? int(q.data[(at + lane) * q.data_stride]) : -1;
    agent.observe(at, data);
  }
  for (int k = 0; k < q.size && !is_stopped(); ++k) {
    double* out = q.out + k * (updates ? m : size_t(n) * m);
    if (!updates) fill_table(agent, k, q.quantity, out);
    if (q.quantity == Quantity::LIKELIHOODS && !agent.rule.has_normalized_columns()) normalize_columns(out, n, m);
    if (q.quantity == Quantity::UPDATED_LOGS) agent.beliefs.get_logs(k, out);
    for (int j = 0; q.quantity == Quantity::UPDATED && j < m; ++j) out[j] = agent.beliefs.any_number(k, j);
    for (int j = 0; j < m && agent.contradicted[k]; ++j) out[j] = __builtin_nan("");
    const Responses& found = agent.responses;
    q.error = larger(q.error, found.error[k]), q.iterations = found.iterations[k] > q.iterations ? found.iterations[k] : q.iterations;
  }
}

void play(const Plan& plan, void* teacher, void* learner, uint64_t first, int count, Record& record, const Stop& stop) {
  const StopScope scope(stop);
  Block(plan, rule_of(teacher), rule_of(learner), first, count, record).play();
}

void teach(const TeachingPlan& plan, void* teacher, uint64_t first, int count, const TeachingEnds& ends, const Stop& stop) {
  const StopScope scope(stop);
  const int m = rule_of(teacher).m;
  Teaching lessons(plan, first, count);
  lessons.teach(rule_of(teacher), ends.taught, ends.num_rounds, ends.is_finished);
  for (int k = 0; k < ends.num_learners && !is_stopped(); ++k)
    lessons.follow(rule_of(ends.learners[k]), ends.learner_logs + size_t(k) * m, ends.goes_on[k], ends.believed + k * ends.stride * m,
                   ends.is_known + k * ends.stride);
}

int couple_block(const TeachingPlan& plan, void* teacher, void* learner, const double* learner_logs, uint64_t first, int count, double* taught,
                 double* believed, const Stop& stop) {
  const StopScope scope(stop);
  return couple(plan, rule_of(teacher), rule_of(learner), learner_logs, first, count, taught, believed);
}

int64_t grow(const TreePlan& plan, void* rule, const double* logs, const double* weights, int count, int rounds_left, double* moments,
             double* child_logs, double* child_weights, const Stop& stop) {
  const StopScope scope(stop);
  Tree tree(plan, rule_of(rule));
  if (child_logs) return tree.grow(logs, weights, count, moments, child_logs, child_weights);
  tree.walk(logs, weights, count, rounds_left, moments);
  return 0;
}

// The product u_i M_ij w_j c_j; by logarithms if a partial product would be denormal.
double entry(double u, double x, double w, double c) {
  const double left = u * x, right = w * c;
  if ((left > 1e-290 && right > 1e-290) || left == 0.0 || right == 0.0) {
    if (left != 0.0 && right != 0.0) return left * right;
    if (u == 0.0 || x == 0.0 || w == 0.0 || c == 0.0) return 0.0;
  }
  return exponential(logarithm_of_any(u) + logarithm_of_any(x) + logarithm_of_any(w) + logarithm_of_any(c));
}

// Fill the row u x_j w_j c_j of a scaled table, add it to the totals of the columns, and return its sum. The sum
// consists of W partial sums, whatever the vector width, so every instruction set gives the same bits.
double fill_row(const double* x, double u, const double* w, const double* c, const double* weights, int m, double* out, double* totals) {
  alignas(64) double sums[W] = {};
  int j = 0;
  for (; j + NATIVE <= m; j += NATIVE) {
    const Vec value = load_any(x + j), left = u * value, right = load_any(weights + j);
    const Mask is_plain = ((left > 1e-290) & (right > 1e-290)) | (value == 0.0);
    store_any(out + j, left * right);
    for (int lane = 0; any(~is_plain) && lane < NATIVE; ++lane) out[j + lane] = entry(u, x[j + lane], w[(j + lane) * W], c[j + lane]);
    const Vec filled = load_any(out + j);
    store(sums + j % W, load(sums + j % W) + filled), store_any(totals + j, load_any(totals + j) + filled);
  }
  for (; j < m; ++j) out[j] = entry(u, x[j], w[j * W], c[j]), sums[j % W] += out[j], totals[j] += out[j];
  double sum = 0.0;
  for (double part : sums) sum += part;
  return sum;
}

// The total of some sums; NaN if one is negative or the total is zero or infinite.
double total_of(const double* sums, int count) {
  double total = 0.0;
  bool is_fine = true;
  for (int k = 0; k < count; ++k) total += sums[k], is_fine &= sums[k] >= 0.0;
  return is_fine && total > 0.0 && total < __builtin_inf() ? total : __builtin_nan("");
}

// Limits for the relative difference of the totals of row and column sums. Up to EQUAL_TOTALS (rounding of a sum) the
// sums are used unchanged; up to SUM_SLACK (rounding of printed digits) the column sums are rescaled; a larger
// difference is an error.
constexpr double SUM_SLACK = 1e-3, EQUAL_TOTALS = 1e-14;

// Fill the common row sums, and for every problem its column sums and its status: BAD_ENTRY, BAD_SUMS or EXACT (can be scaled). Return
// false if the table or the row sums are invalid.
bool prepare(const ScalingJob& job, bool is_fine) {
  const int n = job.n, m = job.m;
  for (int i = 0; i < n; ++i) job.rows[i] = job.row_sums ? job.row_sums[i] : 1.0;
  const double total = total_of(job.rows, n);
  for (int k = 0; k < job.size; ++k) {
    double *columns = job.columns + size_t(k) * m, *report = job.report + 4 * k;
    for (int j = 0; j < m; ++j) columns[j] = job.column_sums ? job.column_sums[size_t(k) * m + j] : total / m;
    const double own = total_of(columns, m), gap = magnitude(own / total - 1.0);
    report[0] = report[1] = __builtin_inf(), report[2] = 0.0;
    report[3] = !is_fine ? BAD_ENTRY : !(gap <= SUM_SLACK) ? BAD_SUMS : EXACT;
    for (int j = 0; j < m && gap > EQUAL_TOTALS; ++j) columns[j] *= total / own;
  }
  return is_fine && total == total;
}

void scale(const ScalingJob& job, const Stop& stop) {
  const StopScope scope(stop);
  const int n = job.n, m = job.m;
  const TableScan scan(job.matrix, n, m);
  if (!prepare(job, scan.is_table)) return;
  // Divide all sums by a power of two near the mean row sum, so that products of sums neither overflow nor underflow.
  int exponent;
  __builtin_frexp(total_of(job.rows, n) / n, &exponent);
  const double unit = __builtin_ldexp(1.0, exponent - 1);
  Array<double> row_sums(n), asked;
  asked.append(job.rows, n);
  bool are_ones = true;
  for (int i = 0; i < n; ++i) row_sums[i] = asked[i] / unit, are_ones &= row_sums[i] == 1.0;
  Problem problem(job.matrix, scan, are_ones ? nullptr : row_sums.get(), n, m, job.tolerance);
  problem.max_iterations = job.max_iterations;
  Scaler scaler(problem);
  scaler.resize(job.size, false);
  for (int k = 0; k < job.size; ++k)
    for (int j = 0; j < m; ++j) {
      const double c = job.report[4 * k + 3] == EXACT ? job.columns[size_t(k) * m + j] / unit : 1.0;
      scaler.s.column_sum.at(k)[j * W] = scaler.has_labels ? c : larger(n * problem.floor(), c);
    }
  if (problem.is_representable) scaler.solve(nullptr, 0);
  Array<double> totals(m), weights(m), sums(n), kept(m);
  for (int k = 0; k < job.size && !is_stopped(); ++k) {
    double *out = job.scaled + size_t(k) * n * m, *targets = job.rows + size_t(k) * n, *report = job.report + 4 * k;
    double *u = scaler.s.row.at(k), *w = scaler.s.factor.at(k);
    const double* c = job.columns + size_t(k) * m;
    if (!problem.is_representable && report[3] == EXACT) report[3] = OUT_OF_RANGE;
    if (report[3] != EXACT) continue;
    double residual = 0.0;
    for (int j = 0; j < m; ++j) totals[j] = 0.0, weights[j] = w[j * W] * c[j];
    if (!scaler.has_labels) multiply<1>(problem.matrix, problem.transposed.get(), n, m, weights.get(), sums.get());
    for (int i = 0; i < n; ++i) {
      const double* row = problem.row(i);
      targets[i] = asked[i];
      if (scaler.has_labels) {
        targets[i] = scaler.row_target.at(k)[i * W] * unit, sums[i] = 0.0;
        for (int j = 0; j < m; ++j) {
          kept[j] = scaler.row_label.at(k)[i * W] == scaler.column_label.at(k)[j * W] ? row[j] : 0.0;
          sums[i] += kept[j] * weights[j];
        }
        row = kept.get();
      }
      // The solvers end with column sums that are exact up to rounding, as rules need them. Here each row factor is computed again, so
      // that the row sums are exact up to rounding; the residual is then mostly that of the columns.
      const double own = sums[i] > 0.0 && targets[i] > 0.0 ? targets[i] / sums[i] : u[i * W];
      const double sum = fill_row(row, own, w, c, weights.get(), m, out + size_t(i) * m, totals.get());
      residual = larger(residual, targets[i] > 0.0 ? magnitude(sum / targets[i] - 1.0) : sum);
      u[i * W] = own;
    }
    Scaler::undo_balance(problem, scaler.s, k);
    for (int i = 0; i < n; ++i) job.row_scaling[size_t(k) * n + i] = u[i * W];
    for (int j = 0; j < m; ++j) {
      if (c[j] > 0.0 && !(magnitude(totals[j] / c[j] - 1.0) <= residual)) residual = magnitude(totals[j] / c[j] - 1.0);
      job.factors[size_t(k) * m + j] = w[j * W], job.column_scaling[size_t(k) * m + j] = c[j] > 0.0 ? w[j * W] * c[j] : 0.0;
    }
    report[0] = scaler.s.error[k], report[1] = residual, report[2] = scaler.s.iterations[k];
    report[3] = scaler.has_labels ? scaler.status[k] : EXACT;
  }
}

void find_blocks(const double* matrix, int n, int m, const double* row_sums, const double* column_sums, BlocksFound& out, const Stop& stop) {
  const StopScope scope(stop);
  const Pattern pattern(matrix, n, m);
  Array<double> kind_sums(pattern.num_kinds);
  for (int i = 0; i < n; ++i) kind_sums[pattern.kind_of[i]] += row_sums[i];
  BlockFinder finder(pattern);
  const Components& found = finder.find(kind_sums.get(), column_sums);
  for (int i = 0; i < n; ++i) out.row_label[i] = found.kind_label[pattern.kind_of[i]];
  for (int j = 0; j < m; ++j) out.column_label[j] = found.column_label[j];
  for (int label = 0; label < found.size; ++label) out.block[label] = found.block[label];
  out.size = found.size, out.status = status_of(pattern, found, kind_sums.get(), column_sums);
}

void logarithms(const double* x, size_t size, double* out) {
  for (size_t k = 0; k < size; ++k) out[k] = x[k] == x[k] ? logarithm_of_any(x[k]) : x[k];
}
void exponentials(const double* x, size_t size, double* out) {
  for (size_t k = 0; k < size; ++k) out[k] = x[k] == x[k] ? exponential(x[k]) : x[k];
}

}  // namespace

#define CORE_NAME_(x) #x
#define CORE_NAME(x) CORE_NAME_(x)
extern const Kernels table;
const Kernels table{CORE_NAME(CORE_ISA), bind, unbind, make_worker, free_worker, answer, play, teach, couple_block,
                    grow, sum_rates, scale, find_blocks, logarithms, exponentials};

}  // namespace core::CORE_ISA
