// What the Python module sees of the core: plain data and a table of functions, the same for every instruction set.
#pragma once
#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace core {

using Stop = std::atomic<bool>;

// What a rule is, as Python says it.
struct RuleSpec {
  int n, m;
  const double *matrix, *data_prior;  // (n, m); (n,) or null: uniform
  bool cooperates, from_truth;        // else a recursion; literal = "truth"
  int depth;
  double rationality, tolerance;
};

// What lessons have to be played, and where their records go; see `simulate` in module.cpp.
struct Plan {
  bool is_shared;                       // one rule and one prior: both follow the same belief
  bool teacher_drops, learner_drops;    // data that were shown are not available any more
  const double *teacher_logs, *learner_logs;  // beliefs at the start, (m,)
  int hypothesis, num_rounds;
  double level;
  uint64_t seed;
};

struct Record {
  // Deviations from the block's first lesson, one of its members, so that squares lose little: (rounds + 1, m).
  double *first, *sums, *squares;
  int64_t* first_sure;                  // (rounds + 2,): lessons by the round in which they reached the level; last: never
  double *paths;                        // (lessons, kept rounds, m) log-beliefs, or null
  int num_paths, num_kept;
  const int* kept;                      // by round: position in `paths`, or -1
  int* data;                            // (lessons, rounds), -1: no datum was left; or null
  int64_t num_contradicted = 0, num_answers = 0, num_failed = 0;
  double worst = 0.0;
};


// Lessons that end when an agent is sure; see trees.hpp.
struct TeachingPlan {
  const double* teacher_logs;  // (m,)
  const double* law;           // (n,) the law of data where no teacher chooses them, or null
  int hypothesis, max_rounds;
  double level;
  uint64_t seed;
};

// All sequences of data; see trees.hpp.
struct TreePlan {
  const int64_t* data;         // (num_data,) data that lead to different posteriors
  const double* copies;        // (num_data,) how many data share each posterior
  int num_data, hypothesis;
};

// Add moments of beliefs: their weight, means (m) and summed squared deviations (m). Internal to each file, as files are compiled
// for different processors.
static inline void merge_moments(int m, const double* other, double* own) {
  const double weight = own[0] + other[0], share = weight > 0.0 ? other[0] / weight : 0.0;
  for (int j = 1; j <= m; ++j) {
    const double gap = other[j] - own[j];
    own[m + j] += other[m + j] + own[0] * share * gap * gap;
    own[j] += share * gap;
  }
  own[0] = weight;
}

// Random matrices that are drawn together, and sums over some: of BI's rate, SCBI's and their difference.
inline constexpr int RATE_BATCH = 512;
struct RateSums {
  double sums[3], squares[3];
  int64_t num_not_slower;      // SCBI's rate is at least BI's
};

// Where lessons end, for the teacher and for learners; arrays by lesson, for learner k from [k * stride] on.
struct TeachingEnds {
  double* taught;              // (lessons, m) log-beliefs
  int64_t* num_rounds;
  bool* is_finished;
  int num_learners;
  size_t stride;               // lessons of all blocks
  void* const* learners;       // workers
  const double* learner_logs;  // (learners, m)
  const bool* goes_on;         // whether a teacher who is sure goes on until the learner is
  double* believed;            // (learners, lessons, m)
  bool* is_known;              // (learners, lessons)
};

// Answers to `size` log-beliefs. Arrays that are not wanted are null.
struct Question {
  const double* logs;          // (size, m)
  const uint64_t* gone;        // (size, words of n): sets of data that are not available, or null
  int size;
  double *likelihoods, *log_likelihoods, *posteriors;  // (size, n, m); posteriors are NaN after impossible data
  const int64_t* data;         // (size,) the datum of each belief (stride 0: of all), for
  size_t data_stride;
  double* updated;             // (size, m) posteriors or their logarithms, NaN where the datum is impossible
  bool updates_logs;
  double error;                // the largest estimated one; infinite where no answer was found
  int iterations;              // the most that one answer took
};

// What was found of a scaling. From BAD_ENTRY on nothing was computed.
inline constexpr double EXACT = 0, LIMIT = 1, INFEASIBLE = 2, OUT_OF_RANGE = 3, BAD_ENTRY = 4, BAD_SUMS = 5;

// Scaling one table to `size` column sums.
struct ScalingJob {
  int n, m, size;
  const double *matrix, *row_sums, *column_sums;  // (n, m); (n,), null: ones; (size, m), null: equal ones
  size_t column_stride;                           // from one problem's column sums to the next: m, or 0
  double tolerance;
  int max_iterations;
  double *scaled, *row_scaling;                   // (size, n, m), (size, n)
  double *column_scaling, *factors;               // (size, m): with and without the column sums
  double *rows, *columns;                         // (size, n), (size, m): the sums that were scaled to
  double* report;                                 // (size, 4): error, residual, iterations, status
};

struct BlocksFound {
  int64_t *row_label, *column_label, *block;  // (n,), (m,), by component: (m,)
  int64_t size, status;
};

struct Kernels {
  const char* name;
  // A bound rule; a worker answers questions about it, for one thread at a time.
  void* (*bind)(const RuleSpec&);
  void (*unbind)(void* rule);
  void* (*make_worker)(const void* rule);
  void (*free_worker)(void* worker);
  void (*answer)(void* worker, Question&, const Stop&);
  // Play `count` lessons from number `first` on; the workers differ unless the plan is shared.
  void (*play)(const Plan&, void* teacher, void* learner, uint64_t first, int count, Record&, const Stop&);
  // Teach `count` lessons until the teacher is sure; learners differ in rule and prior (learners, m).
  void (*teach)(const TeachingPlan&, void* teacher, uint64_t first, int count, const TeachingEnds&, const Stop&);
  int (*couple)(const TeachingPlan&, void* teacher, void* learner, const double* learner_logs, uint64_t first, int count, double* taught,
                double* believed, const Stop&);
  // Add the moments (rounds_left, 1 + 2 m) below some beliefs. With room for children: of one round, and return their number.
  int64_t (*grow)(const TreePlan&, void* rule, const double* logs, const double* weights, int count, int rounds_left, double* moments,
                  double* child_logs, double* child_weights, const Stop&);
  void (*sum_rates)(int n, int m, uint64_t seed, uint64_t batch, int count, RateSums&, double* bayes, double* cooperative, const Stop&);
  void (*scale)(const ScalingJob&, const Stop&);
  void (*find_blocks)(const double* matrix, int n, int m, const double* row_sums, const double* column_sums, BlocksFound&, const Stop&);
  void (*logarithms)(const double* x, size_t size, double* out);
  void (*exponentials)(const double* x, size_t size, double* out);
};

const Kernels& kernels(const char* name);  // "auto" or the name of an instruction set

}  // namespace core
