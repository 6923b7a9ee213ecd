// Lessons: one driver for all rules. In a round, the teacher's rule computes the likelihood at the teacher's estimate of the learner's
// belief, and a datum is drawn from the column of the true hypothesis in this likelihood. Then both agents update their beliefs, each
// with the datum's row in the likelihood of its own rule.
//
// A response, the likelihood at a belief, depends on the belief and the available data alone. Lessons with equal beliefs share one
// response. In the first round all beliefs are equal; later many are equal if zeros exclude hypotheses. The random numbers of a lesson are
// Philox(seed, lesson, round), so any split of the work gives the same bits. A believed hypothesis is one with a positive belief.
#pragma once
#include "rules.hpp"

namespace core::CORE_ISA {

// The beliefs of one agent in a block of lessons, and its rule's responses to them.
class Follower {
 public:
  Follower(Rule& rule, bool drops_shown, int count) : rule(rule), n(rule.n), m(rule.m), words((n + 63) / 64) { restart(drops_shown, count); }

  // Start a new block of lessons in the same memory.
  void restart(bool drops, int num_lessons) {
    drops_shown = drops, count = num_lessons;
    beliefs.resize(m, count);
    responses.resize(n, m, (count + W - 1) / W * W, rule.has_labels(drops_shown));
    contradicted.assign(count, 0);
    size_t num_slots = 1;
    while (num_slots < 2 * size_t(count)) num_slots *= 2;
    slots.assign(num_slots, -1);
    shares = true, has_responded = false;
    num_responses = num_failed = 0, worst = 0.0;
  }

  // Set the beliefs from logarithms: (m,) for all lessons, or (count, m).
  void start(const double* logs, bool one_for_all) {
    for (int k = 0; k < count; ++k) beliefs.set_logs(k, logs + (one_for_all ? 0 : size_t(k) * m));
    for (int k = count; k % W; ++k) beliefs.mantissa.copy(0, k), beliefs.shift.copy(0, k);  // spare lanes
  }

  // Move the belief of lesson `last` to position k, and go on with the lessons before `last`.
  void keep_first(int last, int k) { beliefs.mantissa.copy(last, k), beliefs.shift.copy(last, k), count = last; }

  // Compute the response to every belief, once for equal beliefs. The next round searches for equal beliefs if fewer than a quarter of this
  // round's beliefs were distinct. SCBI always searches if the table has zeros or data can become unavailable: then many beliefs are equal.
  void respond(const Word* shown) {
    if (has_responded && !rule.depends_on_belief() && !drops_shown) return;
    if (shares) {
      find_equals(shown);
    } else if (int(asked.size()) != count) {
      asked.resize(count);
      for (int k = 0; k < count; ++k) asked[k] = k;
    }
    rule.respond(beliefs, asked, Gone{drops_shown ? shown : nullptr, words}, responses);
    double most = 0.0;
    for (int k : asked) most = larger(most, responses.error[k]);
    for (int k = 0; k < int(asked.size()) && !(most < 1e300); ++k) num_failed += responses.error[asked[k]] < 1e300 ? 0 : 1;
    worst = larger(worst, most);
    if (shares)
      for (int k = 0; k < count; ++k)
        if (same[k] != k) responses.copy(same[k], k);
    for (int k = count; k % W; ++k) responses.copy(0, k);
    num_responses += asked.size();
    shares = rule.has_labels(drops_shown) || !rule.depends_on_belief() || int(asked.size()) < count / 4;
    has_responded = true;
  }

  // Draw a datum for each of NATIVE lessons, from position `at` on, by uniform numbers; -1 if no datum is possible.
  void draw(int at, int h, Vec uniform, int* data) {
    const double *row = responses.row.at(at), *label = responses.has_labels ? responses.row_label.at(at) : nullptr;
    const Vec column = load(responses.column.at(at) + h * W);
    const Vec own = label ? load(responses.column_label.at(at) + h * W) : Vec{};
    running.resize(n * NATIVE);
    double* sums = running.get();  // local: members would be read again after every store
    const double* entry = responses.table + h;
    Vec total{};
    for (int i = 0; i < n; ++i) {
      Vec chance = load(row + i * W) * (entry[size_t(i) * m] * column);
      if (label) chance = select(load(label + i * W) == own, chance, Vec{});
      total += chance;
      store(sums + i * NATIVE, total);
    }
    const Vec target = uniform * total;
    Vec number{};
    for (int i = 0; i < n; ++i) number += select(target >= load(sums + i * NATIVE), broadcast(1.0), Vec{});
    for (int lane = 0; lane < NATIVE; ++lane) data[lane] = int(number[lane]);
    const Mask is_special = ~(total > 0.0) | (number == double(n));
    for (unsigned left = lanes_in(responses.own_logs.size() ? Vec{} == Vec{} : is_special); left; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      int& datum = data[lane];
      if (responses.own[at + lane] >= 0) datum = draw_from_logs(at + lane, h, uniform[lane]);
      else if (!(total[lane] > 0.0)) datum = -1;
      else if (datum == n)  // the total is denormal or infinite: take the last datum with a positive chance
        for (datum = n - 1; datum > 0 && sums[(datum - 1) * NATIVE + lane] == total[lane];) --datum;
    }
  }

  // Update the beliefs of NATIVE lessons, from position `at` on, with one datum each (-1: no datum).
  void observe(int at, const int* data) {
    double *x = beliefs.mantissa.at(at), *s = beliefs.shift.at(at);
    const double *row[NATIVE], *column = responses.column.at(at), *factors = responses.row.at(at);
    const bool has_own = responses.own_logs.size() > 0;
    alignas(64) double factor[NATIVE];  // row factor of each lane's datum; zero: this lane is updated in logarithms
    Vec label{}, total{};
    for (int lane = 0; lane < NATIVE; ++lane) {
      const int datum = data[lane] < 0 ? 0 : data[lane];
      row[lane] = responses.table + size_t(datum) * m;
      if (responses.has_labels) label[lane] = responses.row_label.at(at)[datum * W + lane];
      const bool is_apart = data[lane] < 0 || responses.table_underflows || (has_own && responses.own[at + lane] >= 0);
      factor[lane] = is_apart ? 0.0 : factors[datum * W + lane];
    }
    evidence.resize(m * NATIVE);
    double* joint = evidence.get();
    Mask apart = ~(load(factor) > 0.0);
    for (int j = 0; j < m; ++j) {
      Vec entry;
      for (int lane = 0; lane < NATIVE; ++lane) entry[lane] = row[lane][j];
      if (responses.has_labels) entry = select(load(responses.column_label.at(at) + j * W) == label, entry, Vec{});
      const Vec before = load(x + j * W), value = before * (entry * load(column + j * W));
      apart |= (value < 0x1p-700) & (before > 0.0) & (entry > 0.0);  // the belief might underflow when divided by the total
      apart |= value > MOST_SHIFTED;  // too large to be left out of `total` if the belief has a shift (see MOST_SHIFTED)
      store(joint + j * NATIVE, value);
      total += as_number(value, load(s + j * W));
    }
    apart |= ~((total > 0x1p-300) & (total < 0x1p300));
    const Vec inverse = 1.0 / total;
    for (int j = 0; j < m; ++j) {
      Vec value = load(joint + j * NATIVE) * inverse, shift = load(s + j * W);
      renormalise(value, shift);
      store(x + j * W, select(apart, load(x + j * W), value)), store(s + j * W, select(apart, load(s + j * W), shift));
    }
    for (unsigned left = lanes_in(apart); left; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      if (data[lane] < 0 || at + lane >= count) continue;
      posterior_in_logs(at + lane, data[lane], joint);
      contradicted[at + lane] |= joint[0] != joint[0];  // NaN: no believed hypothesis allows the datum; the belief does not change
      if (joint[0] == joint[0]) beliefs.set_logs(at + lane, joint);
    }
  }

  // Compute the products of beliefs and column factors of lesson k, which `posterior` uses.
  void weigh(int k) {
    evidence.resize(m);
    has_shifts = false;
    for (int j = 0; j < m; ++j) evidence[j] = responses.column.at(k)[j * W] * beliefs.number(k, j), has_shifts |= beliefs.shift.at(k)[j * W] > 0.0;
  }
  // Fill lesson k's belief after a datum, (m,); NaN if the datum is impossible under every believed hypothesis. Call
  // `weigh(k)` before.
  void posterior(int k, int datum, double* belief) const {
    const double *entry = responses.table + size_t(datum) * m, *weight = evidence.get();
    double total = 0.0;
    bool is_tiny = false;  // whether a product has lost digits
    if (responses.own[k] < 0 && !has_shifts && responses.row.at(k)[datum * W] > 0.0) {
      for (int j = 0; j < m; ++j) belief[j] = entry[j] * weight[j], is_tiny |= belief[j] < 0x1p-700 && entry[j] > 0.0 && weight[j] > 0.0;
      for (int j = 0; j < m && responses.has_labels; ++j) belief[j] = responses.survives(k, datum, j) ? belief[j] : 0.0;
      for (int j = 0; j < m; ++j) total += belief[j];
    }
    if (total > 0x1p-300 && total < 0x1p300 && !is_tiny) {
      for (int j = 0; j < m; ++j) belief[j] /= total;
      return;
    }
    posterior_in_logs(k, datum, belief);
    for (int j = 0; j < m; ++j) belief[j] = belief[j] == belief[j] ? exponential(belief[j]) : belief[j];
  }

  // Fill the logarithms of lesson k's belief after a datum, (m,); NaN if the datum is impossible under every believed
  // hypothesis.
  void posterior_in_logs(int k, int datum, double* logs) const {
    beliefs.get_logs(k, logs);
    double most = NONE, sum = 0.0;
    for (int j = 0; j < m; ++j) logs[j] += responses.log_chance(k, datum, j), most = larger(most, logs[j]);
    for (int j = 0; j < m && most > NONE; ++j) sum += exponential(logs[j] - most);
    for (int j = 0; j < m; ++j) logs[j] = most > NONE ? logs[j] - (most + logarithm(sum)) : __builtin_nan("");
  }

  Rule& rule;
  bool drops_shown;
  int n, m, words, count;
  Beliefs beliefs;
  Responses responses;
  Array<char> contradicted;
  int64_t num_responses = 0, num_failed = 0;
  double worst = 0.0;  // the largest estimated error of a response

 private:
  int draw_from_logs(int k, int h, double uniform) {
    double total = 0.0, sum = 0.0;
    int last = -1;
    for (int i = 0; i < n; ++i) total += responses.chance(k, i, h);
    for (int i = 0; i < n; ++i) {
      const double chance = responses.chance(k, i, h);
      sum += chance;
      if (chance > 0.0) last = i;
      if (chance > 0.0 && uniform * total < sum) return i;
    }
    return last;
  }

  // For each lesson find the first lesson with an equal belief and equal available data (`same`), by a hash table. `asked` lists these
  // first lessons.
  void find_equals(const Word* shown) {
    same.resize(count), asked.clear();
    slots.assign(slots.size(), -1);
    const bool by_belief = rule.depends_on_belief();
    for (int k = 0; k < count; ++k) {
      const double *x = beliefs.mantissa.at(k), *s = beliefs.shift.at(k);
      const Word* own = drops_shown ? shown + size_t(k) * words : nullptr;
      uint64_t hash = 0x9E3779B97F4A7C15ULL;
      auto mix = [&](uint64_t word) { hash = (hash ^ word) * 0xff51afd7ed558ccdULL, hash ^= hash >> 32; };
      for (int j = 0; by_belief && j < m * W; j += W) mix(bits<uint64_t>(x[j]));
      for (int w = 0; own && w < words; ++w) mix(own[w]);
      size_t slot = hash & (slots.size() - 1);
      auto is_same = [&](int other) {
        const double *y = beliefs.mantissa.at(other), *t = beliefs.shift.at(other);
        for (int j = 0; by_belief && j < m * W; j += W)
          if (x[j] != y[j] || s[j] != t[j]) return false;
        return !own || std::memcmp(own, shown + size_t(other) * words, words * sizeof(Word)) == 0;
      };
      while (slots[slot] >= 0 && !is_same(slots[slot])) slot = (slot + 1) & (slots.size() - 1);
      if (slots[slot] < 0) slots[slot] = k, asked.push(k);
      same[k] = slots[slot];
    }
  }

  // A belief with a shift is below 2^-512 (beliefs.hpp) and is left out of the total, which is at least 2^-300. If its mantissa times entry
  // times column factor is at most MOST_SHIFTED, the total loses less than 2^-60 of its value.
  static constexpr double MOST_SHIFTED = 0x1p150;
  bool shares = true, has_responded = false, has_shifts = false;
  Array<int> asked, same, slots;
  Array<double> running, evidence;
};

// A block of lessons that one thread simulates.
class Block {
 public:
  Block(const Plan& plan, Rule& teacher_rule, Rule& learner_rule, uint64_t first, int count, Record& record)
      : plan(plan), record(record), first(first), count(count), learner(learner_rule, plan.learner_drops, count),
        other(teacher_rule, plan.teacher_drops, plan.is_shared ? 0 : count), teacher(plan.is_shared ? learner : other),
        shown(size_t(count) * teacher.words), sure(padded(), plan.num_rounds + 1), even(padded()), odd(padded()) {}

  void play() {
    learner.start(plan.learner_logs, true);
    if (!plan.is_shared) other.start(plan.teacher_logs, true);
    write_down(0);
    for (int k = 0; k < plan.num_rounds && !is_stopped(); ++k) {
      learner.respond(shown.get());
      if (!plan.is_shared) other.respond(shown.get());
      for (int at = 0; at < count; at += NATIVE) {
        int data[NATIVE];
        teacher.draw(at, plan.hypothesis, uniform(at, k), data);
        for (int lane = 0; lane < NATIVE; ++lane) {
          if (at + lane >= count) continue;
          if (record.data) record.data[size_t(at + lane) * plan.num_rounds + k] = data[lane];
          if (data[lane] >= 0) put(&shown[size_t(at + lane) * teacher.words], data[lane]);
        }
        learner.observe(at, data);
        if (!plan.is_shared) other.observe(at, data);
      }
      write_down(k + 1);
    }
    for (int k = 0; k < count; ++k) ++record.first_sure[int(sure[k])], record.num_contradicted += learner.contradicted[k];
    for (const Follower* agent : {&learner, &other}) {
      record.num_responses += agent->num_responses, record.num_failed += agent->num_failed;
      record.worst = larger(record.worst, agent->worst);
    }
  }

 private:
  size_t padded() const { return size_t(count + W - 1) / W * W; }

  // Uniform numbers of a round; one call of the generator serves two rounds.
  Vec uniform(int at, int round) {
    if (round % 2 == 0) {
      Words lesson;
      for (int lane = 0; lane < NATIVE; ++lane) lesson[lane] = first + at + lane;
      Vec now, later;
      uniforms<Vec>(plan.seed, lesson, round / 2, now, later);
      store(&even[at], now), store(&odd[at], later);
    }
    return load(round % 2 ? &odd[at] : &even[at]);
  }

  // Record the learners' beliefs after round k. Sums consist of W = 8 partial sums, whatever the vector width, so
  // every instruction set gives the same bits.
  void write_down(int k) {
    const int m = learner.m, whole = count / W * W;
    double* moments = record.moments + size_t(k) * (1 + 2 * m);
    moments[0] = count;
    for (int j = 0; j < m; ++j) {
      // Deviations from a typical belief, that of the first lesson, keep more digits than the beliefs' own squares would.
      alignas(64) double sum[W] = {}, square[W] = {};
      const double origin = learner.beliefs.number(0, j);
      for (int part = 0; part < W; part += NATIVE) {
        Vec a{}, b{};
        for (int at = part; at < whole; at += W) {
          const Vec gap = as_number(load(learner.beliefs.mantissa.at(at) + j * W), load(learner.beliefs.shift.at(at) + j * W)) - origin;
          a += gap, b += gap * gap;
        }
        store(sum + part, a), store(square + part, b);
      }
      for (int at = whole; at < count; ++at) {
        const double gap = learner.beliefs.number(at, j) - origin;
        sum[at - whole] += gap, square[at - whole] += gap * gap;
      }
      double total = 0.0, squares = 0.0;
      for (int lane = 0; lane < W; ++lane) total += sum[lane], squares += square[lane];
      const double mean = total / count;
      moments[1 + j] = origin + mean, moments[1 + m + j] = larger(0.0, squares - total * mean);
    }
    for (int at = 0; at < count; at += NATIVE) {
      const double *x = learner.beliefs.mantissa.at(at) + plan.hypothesis * W, *s = learner.beliefs.shift.at(at) + plan.hypothesis * W;
      const Mask is_sure = (as_number(load(x), load(s)) >= plan.level) & (load(&sure[at]) > double(k));
      store(&sure[at], select(is_sure, broadcast(k), load(&sure[at])));
    }
    if (!record.paths || record.kept[k] < 0) return;
    for (int at = 0; at < record.num_paths; at += NATIVE) {
      const double *x = learner.beliefs.mantissa.at(at), *s = learner.beliefs.shift.at(at);
      double* to = record.paths + (size_t(at) * record.num_kept + record.kept[k]) * m;
      for (int j = 0; j < m; ++j) {
        const Vec log = log_belief(load(x + j * W), load(s + j * W));
        for (int lane = 0; lane < NATIVE && at + lane < record.num_paths; ++lane) to[size_t(lane) * record.num_kept * m + j] = log[lane];
      }
    }
  }

  const Plan& plan;
  Record& record;
  uint64_t first;
  int count;
  Follower learner, other;
  Follower& teacher;
  Set shown;
  Array<double> sure;  // by lesson: the round after which the learner first reached the level, or num_rounds + 1
  Array<double> even, odd;
};

}  // namespace core::CORE_ISA
