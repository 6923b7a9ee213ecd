// The functions of the Python module, which check shapes and merge statistics in a fixed order. _core.pyi has the docstrings.
#include "bound_rule.hpp"

namespace core {

// Merges the moments of blocks of lessons in the order of the blocks, not in the order in which threads finish.
class Merger {
 public:
  Merger(size_t rounds, size_t m) : moments(rounds * (1 + 2 * m)), m_(m) {}
  void add(size_t block, std::vector<double>&& found) {
    waiting_.emplace(block, std::move(found));
    for (auto next = waiting_.begin(); next != waiting_.end() && next->first == num_merged_; next = waiting_.erase(next), ++num_merged_)
      for (size_t at = 0; at < moments.size(); at += 1 + 2 * m_) merge_moments(int(m_), next->second.data() + at, moments.data() + at);
  }
  std::vector<double> moments;

 private:
  std::map<size_t, std::vector<double>> waiting_;
  size_t m_, num_merged_ = 0;
};

// Return means and variances, (rounds, m) each, from moments (rounds, 1 + 2 m).
static std::pair<Out<double>, Out<double>> means_and_variances(const std::vector<double>& moments, size_t rounds, size_t m) {
  auto means = empty<double>({rounds, m}), variances = empty<double>({rounds, m});
  for (size_t k = 0; k < rounds; ++k)
    for (size_t j = 0; j < m; ++j) {
      const double* own = moments.data() + k * (1 + 2 * m);
      means.data()[k * m + j] = own[1 + j], variances.data()[k * m + j] = own[0] > 0.0 ? own[1 + m + j] / own[0] : 0.0;
    }
  return {means, variances};
}

static nb::dict simulate(Rule& teacher, Rule* learner_rule, In<1> teacher_logs, std::optional<In<1>> learner_logs, int hypothesis, int num_rounds,
                         int64_t num_lessons, uint64_t seed, double level, bool teacher_drops, bool learner_drops, int64_t num_paths,
                         std::optional<Positions> path_rounds, bool keep_data, int num_threads) {
  Rule& learner = learner_rule ? *learner_rule : teacher;
  const In<1>& start = learner_logs ? *learner_logs : teacher_logs;
  const size_t m = teacher.m, rounds = size_t(num_rounds) + 1, lessons = size_t(num_lessons);
  require(learner.m == m && learner.n == teacher.n, "the tables of the rules must have equal shapes");
  require(teacher_logs.shape(0) == m && start.shape(0) == m, "log-beliefs must have one number per column");
  require(hypothesis >= 0 && size_t(hypothesis) < m && num_rounds >= 0 && num_lessons >= 0 && num_paths >= 0 && num_paths <= num_lessons,
          "hypothesis must be a column, numbers must not be negative, and num_paths at most num_lessons");
  const bool is_shared = !learner_rule && !learner_logs && teacher_drops == learner_drops;
  const Plan plan{is_shared, teacher_drops, learner_drops, teacher_logs.data(), start.data(), hypothesis, num_rounds, level, seed};
  std::vector<int> kept(rounds, path_rounds ? -1 : 0);
  size_t num_kept = path_rounds ? path_rounds->shape(0) : rounds;
  for (size_t k = 0; k < rounds && !path_rounds; ++k) kept[k] = int(k);
  for (size_t k = 0; path_rounds && k < num_kept; ++k) {
    require(path_rounds->data()[k] >= 0 && path_rounds->data()[k] <= num_rounds, "path_rounds must be between 0 and num_rounds");
    kept[size_t(path_rounds->data()[k])] = int(k);
  }
  auto paths = empty<double>({size_t(num_paths), num_kept, m});
  auto data = empty<int>({keep_data ? lessons : 0, size_t(num_rounds)});
  // Lessons per block. Small tables get larger blocks, in which more lessons share responses. Another block size would change the
  // order of sums, and so the last digits of means.
  const size_t block_size = teacher.n * m <= 144 ? 1024 : 512;
  Merger merger(rounds, m);
  std::vector<int64_t> sure(rounds + 1);
  int64_t num_contradicted = 0, num_responses = 0, num_failed = 0;
  double worst = 0.0;
  std::mutex mutex;
  run_on_threads(lessons, block_size, num_threads, [&](size_t from, size_t count, const Stop& stop) {
    const Rule::Lent own(teacher);
    const std::optional<Rule::Lent> theirs = is_shared ? std::nullopt : std::optional<Rule::Lent>(Rule::Lent(learner));
    std::vector<double> moments(merger.moments.size());
    std::vector<int64_t> counts(rounds + 1);
    Record record{};
    record.moments = moments.data(), record.first_sure = counts.data();
    record.num_paths = int(std::clamp<int64_t>(num_paths - int64_t(from), 0, int64_t(count))), record.num_kept = int(num_kept), record.kept = kept.data();
    record.paths = record.num_paths ? paths.data() + from * num_kept * m : nullptr;
    record.data = keep_data ? data.data() + from * num_rounds : nullptr;
    teacher.kernels_.play(plan, own, theirs ? *theirs : own, from, int(count), record, stop);
    std::lock_guard lock(mutex);
    for (size_t k = 0; k <= rounds; ++k) sure[k] += counts[k];
    num_contradicted += record.num_contradicted, num_responses += record.num_responses, num_failed += record.num_failed;
    worst = std::max(worst, record.worst);
    merger.add(from / block_size, std::move(moments));
  });
  auto [means, stds] = means_and_variances(merger.moments, rounds, m);
  for (size_t i = 0; i < rounds * m; ++i) stds.data()[i] = std::sqrt(stds.data()[i]);
  auto first_sure = empty<int64_t>({rounds + 1});
  std::copy(sure.begin(), sure.end(), first_sure.data());
  nb::dict out;
  out["means"] = means, out["stds"] = stds, out["first_sure"] = first_sure, out["paths"] = paths;
  if (keep_data) out["data"] = data;
  out["num_contradicted"] = num_contradicted, out["num_responses"] = num_responses, out["num_failed"] = num_failed, out["error"] = worst;
  return out;
}

static nb::tuple teach(Rule& teacher, const std::vector<Rule*>& learners, In<1> teacher_logs, In<2> learner_logs, const std::vector<bool>& goes_on,
                       std::optional<In<1>> law, int hypothesis, double level, int max_rounds, int64_t num_lessons, uint64_t seed, int num_threads) {
  const size_t m = teacher.m, count = size_t(num_lessons), num_learners = learners.size();
  require(teacher_logs.shape(0) == m && learner_logs.shape(0) == num_learners && learner_logs.shape(1) == m,
          "teacher_logs must have the shape (m,), and learner_logs (learners, m)");
  require(goes_on.size() == num_learners && (!law || law->shape(0) == teacher.n), "goes_on must have one flag per learner, and law one probability per row");
  require(hypothesis >= 0 && size_t(hypothesis) < m && max_rounds >= 0 && num_lessons >= 0,
          "hypothesis must be a column, and numbers must not be negative");
  for (Rule* learner : learners) require(learner->n == teacher.n && learner->m == m, "the tables of the rules must have equal shapes");
  for (bool flag : goes_on) require(!flag || law, "goes_on needs a law");
  auto taught = empty<double>({count, m}), believed = empty<double>({num_learners, count, m});
  auto num_rounds = empty<int64_t>({count});
  auto is_finished = empty<bool>({count}), is_known = empty<bool>({num_learners, count});
  const std::unique_ptr<bool[]> flags(new bool[num_learners + 1]);
  std::copy(goes_on.begin(), goes_on.end(), flags.get());
  const TeachingPlan plan{teacher_logs.data(), law ? law->data() : nullptr, hypothesis, max_rounds, level, seed};
  run_on_threads(count, 1024, num_threads, [&](size_t from, size_t size, const Stop& stop) {
    const Rule::Lent own(teacher);
    std::vector<Rule::Lent> lent;
    std::vector<void*> workers;
    for (Rule* learner : learners) {
      if (learner != &teacher) lent.emplace_back(*learner);
      workers.push_back(learner == &teacher ? own : lent.back());
    }
    const TeachingEnds ends{taught.data() + from * m, num_rounds.data() + from, is_finished.data() + from, int(num_learners), count, workers.data(),
                            learner_logs.data(), flags.get(), believed.data() + from * m, is_known.data() + from};
    teacher.kernels_.teach(plan, own, from, int(size), ends, stop);
  });
  return nb::make_tuple(taught, believed, num_rounds, is_finished, is_known);
}

static nb::tuple couple(Rule& teacher, Rule& learner, In<1> teacher_logs, In<1> learner_logs, In<1> law, double level, int max_rounds, int64_t first,
                        int64_t num_pairs, uint64_t seed, int num_threads) {
  const size_t m = teacher.m, count = size_t(num_pairs);
  require(learner.n == teacher.n && learner.m == m && teacher_logs.shape(0) == m && learner_logs.shape(0) == m && law.shape(0) == teacher.n,
          "the tables of the rules must have equal shapes, log-beliefs one number per column, and law one probability per row");
  require(max_rounds >= 0 && num_pairs >= 0 && first >= 0, "numbers must not be negative");
  auto taught = empty<double>({count, m}), believed = empty<double>({count, m});
  const TeachingPlan plan{teacher_logs.data(), law.data(), 0, max_rounds, level, seed};
  std::atomic<int64_t> num_unfinished{0};
  run_on_threads(count, 1024, num_threads, [&](size_t from, size_t size, const Stop& stop) {
    const Rule::Lent own(teacher), theirs(learner);
    num_unfinished += teacher.kernels_.couple(plan, own, theirs, learner_logs.data(), uint64_t(first) + from, int(size),
                                              taught.data() + from * m, believed.data() + from * m, stop);
  });
  return nb::make_tuple(taught, believed, num_unfinished.load());
}

static nb::tuple exact_rounds(Rule& rule, In<1> log_prior, int hypothesis, int num_rounds, Positions data, In<1> copies, int num_threads) {
  const size_t m = rule.m, num_data = data.shape(0), size = 1 + 2 * m;
  require(log_prior.shape(0) == m && copies.shape(0) == num_data && hypothesis >= 0 && size_t(hypothesis) < m && num_rounds >= 0,
          "log_prior must have one number per column, copies one per datum; hypothesis must be a column, and num_rounds not negative");
  for (size_t d = 0; d < num_data; ++d) require(data.data()[d] >= 0 && data.data()[d] < int64_t(rule.n), "data must be positions of rows");
  const TreePlan plan{data.data(), copies.data(), int(num_data), hypothesis};
  // The tree is expanded level by level up to FRONTIER beliefs, then depth first, which needs little memory. A thread takes PIECE beliefs
  // at a time.
  constexpr size_t FRONTIER = 16384, PIECE = 256;
  std::vector<double> moments(size_t(num_rounds) * size), logs(log_prior.data(), log_prior.data() + m), weights{1.0};
  for (int level = 0; level < num_rounds;) {
    const size_t count = weights.size(), num_pieces = (count + PIECE - 1) / PIECE;
    const bool walks = count * num_data > FRONTIER || level + 1 == num_rounds;
    const int rounds = walks ? num_rounds - level : 1;
    std::vector<std::vector<double>> found(num_pieces), child_logs(num_pieces), child_weights(num_pieces);
    run_on_threads(count, PIECE, num_threads, [&](size_t from, size_t own, const Stop& stop) {
      const size_t piece = from / PIECE;
      found[piece].resize(rounds * size);
      if (!walks) child_logs[piece].resize(own * num_data * m), child_weights[piece].resize(own * num_data);
      const int64_t grown = rule.kernels_.grow(plan, Rule::Lent(rule), logs.data() + from * m, weights.data() + from, int(own), rounds, found[piece].data(),
                                               walks ? nullptr : child_logs[piece].data(), child_weights[piece].data(), stop);
      child_logs[piece].resize(size_t(grown) * m), child_weights[piece].resize(size_t(grown));
    });
    logs.clear(), weights.clear();
    for (size_t piece = 0; piece < num_pieces; ++piece) {
      for (int k = 0; k < rounds; ++k)
        merge_moments(int(m), found[piece].data() + k * size, moments.data() + size_t(level + k) * size);
      logs.insert(logs.end(), child_logs[piece].begin(), child_logs[piece].end());
      weights.insert(weights.end(), child_weights[piece].begin(), child_weights[piece].end());
    }
    level += rounds;
  }
  auto [means, variances] = means_and_variances(moments, size_t(num_rounds), m);
  return nb::make_tuple(means, variances);
}

static nb::tuple random_rates(int num_data, int num_hypotheses, int64_t num_samples, uint64_t seed, bool keep, int num_threads) {
  require(num_data >= 2 && num_hypotheses >= 2 && num_samples >= 0,
          "the matrices must have at least two rows and two columns, and num_samples must not be negative");
  const size_t size = size_t(num_samples), kept = keep ? size : 0;
  auto bayes = empty<double>({kept}), cooperative = empty<double>({kept});
  std::vector<RateSums> found((size + RATE_BATCH - 1) / RATE_BATCH);
  run_on_threads(size, RATE_BATCH, num_threads, [&](size_t from, size_t count, const Stop& stop) {
    double own[RATE_BATCH], other[RATE_BATCH];
    const size_t batch = from / RATE_BATCH;
    chosen->sum_rates(num_data, num_hypotheses, seed, batch, int(count), found[batch], own, other, stop);
    if (keep) std::copy(own, own + count, bayes.data() + from), std::copy(other, other + count, cooperative.data() + from);
  });
  RateSums total{};
  for (const RateSums& part : found) {
    for (int v = 0; v < 3; ++v) total.sums[v] += part.sums[v], total.squares[v] += part.squares[v];
    total.num_not_slower += part.num_not_slower;
  }
  auto sums = empty<double>({3}), squares = empty<double>({3});
  std::copy(total.sums, total.sums + 3, sums.data()), std::copy(total.squares, total.squares + 3, squares.data());
  return nb::make_tuple(total.num_not_slower, sums, squares, bayes, cooperative);
}

static nb::tuple scale(In<3> matrices, std::optional<In<2>> row_sums, std::optional<In<2>> column_sums, double tolerance, int64_t max_iterations,
                       int num_threads) {
  const size_t n = matrices.shape(1), m = matrices.shape(2), size = matrices.shape(0);
  const size_t num_rows = row_sums ? row_sums->shape(0) : 1, num_columns = column_sums ? column_sums->shape(0) : 1;
  const size_t count = size == 0 ? 0 : std::max({size, num_rows, num_columns});
  for (size_t own : {size, num_rows, num_columns})
    require(own == 1 || own == count, "each array of a batch must have one item, or as many items as the others");
  require((!row_sums || row_sums->shape(1) == n) && (!column_sums || column_sums->shape(1) == m), "there must be one sum per row and per column");
  auto scaled = empty<double>({count, n, m}), row_scaling = empty<double>({count, n}), column_scaling = empty<double>({count, m});
  auto factors = empty<double>({count, m});
  auto rows = empty<double>({count, n}), columns = empty<double>({count, m}), report = empty<double>({count, 4});
  const bool is_one_table = size == 1 && num_rows == 1;
  run_on_threads(count, is_one_table ? 256 : 1, num_threads, [&](size_t from, size_t own, const Stop& stop) {
    ScalingJob job{};
    job.n = int(n), job.m = int(m), job.size = int(own);
    job.matrix = matrices.data() + (size == 1 ? 0 : from * n * m);
    job.row_sums = row_sums ? row_sums->data() + (num_rows == 1 ? 0 : from * n) : nullptr;
    job.column_sums = column_sums ? column_sums->data() + (num_columns == 1 ? 0 : from * m) : nullptr;
    job.tolerance = tolerance, job.max_iterations = int(std::min<int64_t>(max_iterations, 1 << 30));
    job.scaled = scaled.data() + from * n * m, job.row_scaling = row_scaling.data() + from * n;
    job.column_scaling = column_scaling.data() + from * m, job.factors = factors.data() + from * m;
    job.rows = rows.data() + from * n, job.columns = columns.data() + from * m, job.report = report.data() + from * 4;
    chosen->scale(job, stop);
  }, double(count) * n * m * PRODUCTS_OF_SCALING);
  return nb::make_tuple(scaled, row_scaling, column_scaling, factors, rows, columns, report);
}

static nb::tuple scaling_blocks(In<2> matrix, In<1> row_sums, In<1> column_sums) {
  const size_t n = matrix.shape(0), m = matrix.shape(1);
  require(row_sums.shape(0) == n && column_sums.shape(0) == m, "there must be one sum per row and per column");
  auto rows = empty<int64_t>({n}), columns = empty<int64_t>({m}), block = empty<int64_t>({m});
  BlocksFound found{rows.data(), columns.data(), block.data(), 0, 0};
  run_on_threads(1, 1, 1, [&](size_t, size_t, const Stop& stop) {
    chosen->find_blocks(matrix.data(), int(n), int(m), row_sums.data(), column_sums.data(), found, stop);
  });
  return nb::make_tuple(rows, columns, block, found.size, found.status);
}

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
static Out<double> empty_like(const Numbers& x) {
  std::vector<size_t> shape(x.ndim());
  for (size_t k = 0; k < x.ndim(); ++k) shape[k] = x.shape(k);
  return empty<double>(shape.data(), shape.size());
}
template <auto Function>
static Out<double> elementwise(Numbers x) {
  Out<double> out = empty_like(x);
  (chosen->*Function)(x.data(), x.size(), out.data());
  return out;
}

// Divide distributions by their sums, unless a sum is one up to rounding, so that normalising again changes no bits.
static std::optional<Out<double>> normalized(Numbers x, double slack, bool in_logs) {
  const size_t m = x.ndim() ? x.shape(x.ndim() - 1) : 1;
  Out<double> out = empty_like(x);
  for (size_t from = 0; from < x.size(); from += m) {
    const double* values = x.data() + from;
    double* to = out.data() + from;
    double total = 0.0;
    bool is_fine = true;
    for (size_t j = 0; j < m; ++j) total += values[j], is_fine &= values[j] >= 0.0;
    if (!is_fine || !(std::abs(total - 1.0) <= slack)) return std::nullopt;
    const bool is_exact = std::abs(total - 1.0) <= double(m) * 0x1p-53;
    for (size_t j = 0; j < m; ++j) to[j] = is_exact ? values[j] : values[j] / total;
  }
  if (in_logs) chosen->logarithms(out.data(), x.size(), out.data());
  return out;
}

NB_MODULE(_core, mod) {
  nb::set_leak_warnings(false);  // rules may still exist when the interpreter ends
  nb::class_<Rule>(mod, "Rule")
      .def(nb::init<In<2>, std::optional<In<1>>, const std::string&, int, double, const std::string&, double>(), "matrix"_a, nb::kw_only(),
           "data_prior"_a = nb::none(), "kind"_a, "depth"_a = 0, "rationality"_a = 1.0, "literal"_a = "likelihood", "tolerance"_a = 1e-12)
      .def("respond", &Rule::respond, "log_beliefs"_a, "gone"_a = nb::none(), nb::kw_only(), "in_logs"_a = false, "num_threads"_a = 1)
      .def("posteriors", &Rule::posteriors, "log_beliefs"_a, "gone"_a = nb::none(), nb::kw_only(), "num_threads"_a = 1)
      .def("update", &Rule::update, "log_beliefs"_a, "data"_a, "gone"_a = nb::none(), nb::kw_only(), "in_logs"_a = true, "num_threads"_a = 1);
  mod.def("simulate", &simulate, "teacher"_a, "learner"_a.none(), nb::kw_only(), "teacher_logs"_a, "learner_logs"_a = nb::none(), "hypothesis"_a,
          "num_rounds"_a, "num_lessons"_a, "seed"_a, "level"_a = 0.95, "teacher_drops"_a = false, "learner_drops"_a = false,
          "num_paths"_a = 0, "path_rounds"_a = nb::none(), "keep_data"_a = false, "num_threads"_a = 1);
  mod.def("teach", &teach, "teacher"_a, "learners"_a, nb::kw_only(), "teacher_logs"_a, "learner_logs"_a, "goes_on"_a, "law"_a = nb::none(), "hypothesis"_a,
          "level"_a, "max_rounds"_a, "num_lessons"_a, "seed"_a, "num_threads"_a = 1);
  mod.def("couple", &couple, "teacher"_a, "learner"_a, nb::kw_only(), "teacher_logs"_a, "learner_logs"_a, "law"_a, "level"_a, "max_rounds"_a,
          "first"_a = 0, "num_pairs"_a, "seed"_a, "num_threads"_a = 1);
  mod.def("exact_rounds", &exact_rounds, "rule"_a, nb::kw_only(), "log_prior"_a, "hypothesis"_a, "num_rounds"_a, "data"_a, "copies"_a, "num_threads"_a = 1);
  mod.def("random_rates", &random_rates, "num_data"_a, "num_hypotheses"_a, nb::kw_only(), "num_samples"_a, "seed"_a, "keep"_a = false, "num_threads"_a = 1);
  mod.def("scale", &scale, "matrices"_a, "row_sums"_a.none(), "column_sums"_a.none(), nb::kw_only(), "tolerance"_a, "max_iterations"_a, "num_threads"_a = 1);
  mod.def("scaling_blocks", &scaling_blocks, "matrix"_a, "row_sums"_a, "column_sums"_a);
  mod.def("normalized", &normalized, "x"_a, "slack"_a, nb::kw_only(), "in_logs"_a = false);
  mod.def("log", &elementwise<&Kernels::logarithms>, "x"_a);
  mod.def("exp", &elementwise<&Kernels::exponentials>, "x"_a);
  mod.def("instruction_set", [] { return chosen->name; });
  mod.def("force_instruction_set", &choose, "name"_a);
}

}  // namespace core
