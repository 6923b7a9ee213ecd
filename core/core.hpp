// The interface between module.cpp and the kernels: plain structs and a table of functions, the same for every instruction set.
#pragma once
#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace core {

using Stop = std::atomic<bool>;

// The arguments of `_core.Rule`.
struct RuleSpec {
  int n, m;
  const double *matrix, *data_prior;  // (n, m); (n,) or null: uniform
  bool cooperates, from_truth;        // whether kind is "cooperation" (else "recursion"); whether literal is "truth"
  int depth;
  double rationality, tolerance;
};

// The lessons to simulate; see `simulate` in _core.pyi.
struct Plan {
  bool is_shared;                       // teacher and learner have the same rule, prior and available data, so their beliefs are equal
  bool teacher_drops, learner_drops;    // for this agent, data that were shown are no longer available
  const double *teacher_logs, *learner_logs;  // beliefs at the start, (m,)
  int hypothesis, num_rounds;
  double level;
  uint64_t seed;
};

// Merge the moments `other` of some beliefs into `own`. Moments are the total weight, the means (m) and the sums of squared
// deviations (m). `static`, so that each object file has its own copy: the files are compiled for different processors.
static inline void merge_moments(int m, const double* other, double* own) {
  const double weight = own[0] + other[0], share = weight > 0.0 ? other[0] / weight : 0.0;
  for (int j = 1; j <= m; ++j) {
    const double gap = other[j] - own[j];
    own[m + j] += other[m + j] + own[0] * share * gap * gap;
    own[j] += share * gap;
  }
  own[0] = weight;
}

// The statistics of one block of lessons. All beliefs are the learner's.
struct Record {
  double* moments;                      // (rounds + 1, 1 + 2 m), see `merge_moments`
  // (rounds + 2,): the number of lessons that first reached the level after round k = 0, 1, ...; last, the number that never did
  int64_t* first_sure;
  double *paths;                        // (num_paths, num_kept, m) log-beliefs, or null
  int num_paths, num_kept;
  const int* kept;                      // (rounds + 1,): the position of each round in `paths`, or -1
  int* data;                            // (lessons, rounds), -1: no datum was possible; or null
  int64_t num_contradicted = 0;         // lessons with a datum that is impossible under every hypothesis with a positive belief
  int64_t num_responses = 0, num_failed = 0;  // responses that were computed; responses with an infinite error
  double worst = 0.0;                   // the largest estimated error of a response
};

// Lessons that end when an agent is sure; see trees.hpp.
struct TeachingPlan {
  const double* teacher_logs;  // (m,)
  const double* law;           // (n,) the distribution of data that are drawn independently of beliefs, or null
  int hypothesis, max_rounds;
  double level;
  uint64_t seed;
};

// All sequences of data; see trees.hpp.
struct TreePlan {
  const int64_t* data;         // (num_data,) one datum of each group of data that lead to the same posterior
  const double* copies;        // (num_data,) the probability of each group, divided by the probability of its datum in `data`
  int num_data, hypothesis;
};

// The number of random matrices in a batch. A different value gives different random matrices.
inline constexpr int RATE_BATCH = 512;
// Sums over random matrices: of BI's rate, of SCBI's rate, and of the difference SCBI - BI.
struct RateSums {
  double sums[3], squares[3];
  int64_t num_not_slower;      // matrices on which SCBI's rate is at least BI's
};

// The beliefs of the teacher and of the learners at the end of each lesson. Arrays are indexed by lesson; the lessons of learner k
// begin at index k * stride.
struct TeachingEnds {
  double* taught;              // (lessons, m) log-beliefs
  int64_t* num_rounds;
  bool* is_finished;           // whether the teacher was sure at the end
  int num_learners;
  size_t stride;               // the number of lessons of all blocks
  void* const* learners;       // the workers of the learners' rules
  const double* learner_logs;  // (learners, m)
  const bool* goes_on;         // by learner: whether lessons continue after the teacher is sure; see `Teaching::go_on`
  double* believed;            // (learners, lessons, m)
  // (learners, lessons): true if the teacher was sure; with `goes_on` the learner's lesson must also end within `max_rounds` more rounds
  bool* is_known;
};

// What a rule computes at each belief: likelihoods and posteriors are (n, m), updated beliefs (m,).
enum class Quantity { LIKELIHOODS, LOG_LIKELIHOODS, POSTERIORS, UPDATED, UPDATED_LOGS };

// A request for a rule's responses to `size` log-beliefs.
struct Question {
  Quantity quantity;
  double* out;                 // posteriors and updated beliefs are NaN if no hypothesis with positive belief allows the datum
  const double* logs;          // (size, m)
  const uint64_t* gone;        // (size, words of 64 bits): for each belief the set of data that are not available; or null
  int size;
  const int64_t* data;         // the datum of each update, (size,), or one datum for all updates; null if nothing is updated
  size_t data_stride;          // 1 for (size,), 0 for one datum
  double error;                // the largest estimated relative error of a response; infinite if a response was not found
  int iterations;              // the largest number of iterations of a response
};

// The status of a scaling. With OUT_OF_RANGE, BAD_ENTRY and BAD_SUMS nothing is scaled; only `report` is valid.
inline constexpr double EXACT = 0, LIMIT = 1, INFEASIBLE = 2, OUT_OF_RANGE = 3, BAD_ENTRY = 4, BAD_SUMS = 5;

// Scale one table to `size` different sets of column sums.
struct ScalingJob {
  int n, m, size;
  const double *matrix, *row_sums, *column_sums;  // (n, m); (n,) or null: ones; (size, m) or null: all equal
  double tolerance;
  int max_iterations;
  double *scaled, *row_scaling;                   // (size, n, m), (size, n)
  double *column_scaling, *factors;               // (size, m): w_j c_j and w_j, see problem.hpp
  double *rows, *columns;                         // (size, n), (size, m): the sums to which the table was scaled
  double* report;                                 // (size, 4): error, residual, iterations, status
};

// The components of a table with zeros; see zeros.hpp.
struct BlocksFound {
  int64_t *row_label, *column_label;  // (n,), (m,): the component of each row and column
  int64_t* block;                     // (m,): the block of each component; `size` entries are filled
  int64_t size, status;               // number of components; status as in `ScalingJob`
};

struct Kernels {
  const char* name;
  // A rule bound to its table. Each thread uses it through a worker, which has the thread's own memory.
  void* (*bind)(const RuleSpec&);
  void (*unbind)(void* rule);
  void* (*make_worker)(const void* rule);
  void (*free_worker)(void* worker);
  void (*answer)(void* worker, Question&, const Stop&);
  // Simulate the `count` lessons from number `first` on. Teacher and learner are different workers unless the plan is shared.
  void (*play)(const Plan&, void* teacher, void* learner, uint64_t first, int count, Record&, const Stop&);
  // Teach `count` lessons until the teacher is sure, and show their data to every learner.
  void (*teach)(const TeachingPlan&, void* teacher, uint64_t first, int count, const TeachingEnds&, const Stop&);
  // Show the same data to teacher and learner of each of `count` pairs; return the number of pairs in which nobody was sure at the end.
  int (*couple)(const TeachingPlan&, void* teacher, void* learner, const double* learner_logs, uint64_t first, int count, double* taught,
                double* believed, const Stop&);
  // Add the moments (rounds_left, 1 + 2 m) of the beliefs after each of the next rounds, over all sequences of data. If `child_logs` is not
  // null, compute only one round, store the beliefs after this round, and return their number.
  int64_t (*grow)(const TreePlan&, void* rule, const double* logs, const double* weights, int count, int rounds_left, double* moments,
                  double* child_logs, double* child_weights, const Stop&);
  void (*sum_rates)(int n, int m, uint64_t seed, uint64_t batch, int count, RateSums&, double* bayes, double* cooperative, const Stop&);
  void (*scale)(const ScalingJob&, const Stop&);
  void (*find_blocks)(const double* matrix, int n, int m, const double* row_sums, const double* column_sums, BlocksFound&, const Stop&);
  void (*logarithms)(const double* x, size_t size, double* out);
  void (*exponentials)(const double* x, size_t size, double* out);
};

}  // namespace core
