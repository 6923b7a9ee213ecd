// A rule as a Python object: the table is prepared once and used for many beliefs.
#pragma once
#include "calls.hpp"

namespace core {

// A rule bound to its table. Each thread that uses the rule borrows a worker, which has the memory for responses.
class Rule {
 public:
  Rule(In<2> matrix, std::optional<In<1>> data_prior, const std::string& kind, int depth, double rationality, const std::string& literal,
       double tolerance)
      : kernels_(*chosen), n(matrix.shape(0)), m(matrix.shape(1)) {
    require(kind == "recursion" || kind == "cooperation", "kind must be 'recursion' or 'cooperation'");
    require(!data_prior || data_prior->shape(0) == n, "data_prior must have one number per row");
    require(depth >= 0, "depth must not be negative");
    bound_ = kernels_.bind({int(n), int(m), matrix.data(), data_prior ? data_prior->data() : nullptr, kind == "cooperation", literal == "truth",
                            depth, rationality, tolerance});
    num_products = kind == "cooperation" ? PRODUCTS_OF_SCALING : 2.0 * depth + 1.0;
  }
  Rule(const Rule&) = delete;
  ~Rule() {
    for (void* worker : idle_) kernels_.free_worker(worker);
    kernels_.unbind(bound_);
  }

  // A worker that is borrowed until the end of a scope.
  class Lent {
   public:
    explicit Lent(Rule& rule) : rule_(&rule), worker_(rule.take_worker()) {}
    Lent(Lent&& other) noexcept : rule_(other.rule_), worker_(std::exchange(other.worker_, nullptr)) {}
    ~Lent() {
      if (worker_) rule_->give_back(worker_);
    }
    operator void*() const { return worker_; }

   private:
    Rule* rule_;
    void* worker_;
  };

  // Compute `all.quantity` at every belief, in blocks, on several threads if the work is long. Return the values, the largest estimated
  // error and the largest number of iterations.
  nb::tuple ask(const In<2>& logs, const std::optional<Sets>& gone, Question all, int num_threads) {
    constexpr size_t BLOCK = 256;
    const size_t count = logs.shape(0);
    require(logs.shape(1) == m, "log_beliefs must have one number per column");
    require(!gone || (gone->shape(0) == count && gone->shape(1) == (n + 63) / 64), "gone must have the shape (beliefs, ceil(n / 64))");
    const bool updates = all.quantity >= Quantity::UPDATED;
    const size_t size = updates ? m : n * m, words = (n + 63) / 64;
    auto out = updates ? empty<double>({count, m}) : empty<double>({count, n, m});
    all.logs = logs.data(), all.gone = gone ? gone->data() : nullptr;
    std::mutex mutex;
    double error = 0.0;
    int iterations = 0;
    run_on_threads(count, BLOCK, num_threads, [&](size_t from, size_t own, const Stop& stop) {
      Question q = all;
      q.size = int(own), q.logs += from * m, q.out = out.data() + from * size;
      if (q.gone) q.gone += from * words;
      if (q.data) q.data += from * q.data_stride;
      kernels_.answer(Lent(*this), q, stop);
      std::lock_guard lock(mutex);
      error = std::max(error, q.error), iterations = std::max(iterations, q.iterations);
    }, double(count) * n * m * num_products);
    return nb::make_tuple(out, error, iterations);
  }

  nb::tuple respond(In<2> logs, std::optional<Sets> gone, bool in_logs, int num_threads) {
    return ask(logs, gone, Question{.quantity = in_logs ? Quantity::LOG_LIKELIHOODS : Quantity::LIKELIHOODS}, num_threads);
  }
  nb::tuple posteriors(In<2> logs, std::optional<Sets> gone, int num_threads) {
    return ask(logs, gone, Question{.quantity = Quantity::POSTERIORS}, num_threads);
  }
  nb::tuple update(In<2> logs, std::variant<int64_t, Positions> data, std::optional<Sets> gone, bool in_logs, int num_threads) {
    const bool is_one = data.index() == 0;
    const size_t count = is_one ? 1 : std::get<1>(data).shape(0);
    const int64_t* given = is_one ? &std::get<0>(data) : std::get<1>(data).data();
    require(is_one || count == logs.shape(0), "data must be one datum, or one per belief");
    for (size_t k = 0; k < count; ++k) require(given[k] >= 0 && given[k] < int64_t(n), "data must be positions of rows");
    Question q{.quantity = in_logs ? Quantity::UPDATED_LOGS : Quantity::UPDATED};
    q.data = given, q.data_stride = is_one ? 0 : 1;
    return ask(logs, gone, q, num_threads);
  }

  const Kernels& kernels_;
  size_t n, m;
  double num_products;  // a response takes about as long as this many products of the table with a vector

 private:
  void* take_worker() {
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        void* worker = idle_.back();
        idle_.pop_back();
        return worker;
      }
    }
    return kernels_.make_worker(bound_);
  }
  void give_back(void* worker) {
    std::lock_guard lock(mutex_);
    idle_.push_back(worker);
  }

  void* bound_;
  std::mutex mutex_;
  std::vector<void*> idle_;
};

}  // namespace core
