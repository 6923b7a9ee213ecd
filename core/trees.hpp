// Three computations: lessons that end when the teacher is sure; pairs of agents that see the same data; exact moments
// of beliefs over all sequences of data.
//
// The teacher's data do not depend on the learner: they are recorded, and then shown to every learner.
// The random number of a lesson and round is Philox(seed, lesson, round).
//
// Exact moments: the weight of a sequence of data d_1 ... d_k is the product of the probabilities T(d_i | h) at the beliefs before
// each datum. Weights w, means and sums of squared deviations S of two sets of beliefs are merged by Chan's formulas,
//
//   w = w_1 + w_2,   mean = mean_1 + (w_2 / w) (mean_2 - mean_1),   S = S_1 + S_2 + (w_1 w_2 / w) (mean_2 - mean_1)^2.
#pragma once
#include "lessons.hpp"

namespace core::CORE_ISA {

// Lessons that have not ended. They lie in slots, consecutive positions of the agents' arrays; `lesson` has the number of the lesson
// in each slot.
class OpenLessons {
 public:
  OpenLessons(uint64_t first, int count) : lesson(count), first(first) {
    for (int k = 0; k < count; ++k) lesson[k] = k;
  }
  int size() const { return int(lesson.size()); }

  // Show data to the agents: in round k, `draw(at, k, data)` chooses the data for NATIVE slots from slot `at` on. The lesson in a slot
  // ends after k rounds if `is_done(slot, k)`. `finish(slot, k)`, which stores the result of the lesson, is then called, and the lesson
  // in the last slot moves into the slot that became free. After `max_rounds` rounds `finish` is called for every lesson that has not
  // ended; return the number of these lessons.
  template <class Draw, class IsDone, class Finish, class... Agents>
  int play(int max_rounds, Draw draw, IsDone is_done, Finish finish, Agents&... agents) {
    for (int k = 0;; ++k) {
      for (int slot = 0; slot < size();) {
        if (!is_done(slot, k)) {
          ++slot;
          continue;
        }
        finish(slot, k);
        const int last = size() - 1;
        (agents.keep_first(last, slot), ...);
        lesson[slot] = lesson[last];
        lesson.resize(last);
      }
      if (k == max_rounds || !size() || is_stopped()) break;
      (agents.respond(nullptr), ...);
      for (int at = 0; at < size(); at += NATIVE) {
        int data[NATIVE];
        draw(at, k, data);
        (agents.observe(at, data), ...);
      }
    }
    for (int slot = 0; slot < size(); ++slot) finish(slot, max_rounds);
    return size();
  }

  // Uniform numbers Philox(seed, lesson, k) for the lessons in NATIVE slots from slot `at` on.
  Vec uniform(uint64_t seed, int at, uint64_t k) const {
    Words number;
    for (int lane = 0; lane < NATIVE; ++lane) number[lane] = first + lesson[at + lane < size() ? at + lane : 0];
    Vec even, odd;
    uniforms<Vec>(seed, number, k / 2, even, odd);
    return k % 2 ? odd : even;
  }
  Array<int> lesson;

 private:
  uint64_t first;
};

inline double largest_belief(const Follower& agent, int slot) {
  double most = 0.0;
  for (int j = 0; j < agent.m; ++j) most = larger(most, agent.beliefs.number(slot, j));
  return most;
}

// Draws independent data from a distribution over n data.
class Law {
 public:
  Law(const double* law, int n) : sums(n) {
    double total = 0.0;
    for (int i = 0; i < n; ++i) sums[i] = total += law[i];
  }
  void draw(Vec uniform, int* data) const {
    for (int lane = 0; lane < NATIVE; ++lane) {
      const double target = uniform[lane] * sums[sums.size() - 1];  // below the last sum: uniform numbers are at most 1 - 2^-53
      for (data[lane] = 0; data[lane] + 1 < int(sums.size()) && target >= sums[data[lane]];) ++data[lane];
    }
  }

 private:
  Array<double> sums;
};

// A block of lessons about one hypothesis: the teacher's data are recorded, then shown to learners.
class Teaching {
 public:
  Teaching(const TeachingPlan& plan, uint64_t first, int count) : plan(plan), first(first), count(count), is_finished(count, 1) {}

  // Teach until the teacher is sure. Fill its last log-beliefs (count, m), the number of rounds, and whether it was sure.
  void teach(Rule& rule, double* logs, int64_t* rounds, bool* finished) {
    Follower agent(rule, false, count);
    OpenLessons open(first, count);
    agent.start(plan.teacher_logs, true);
    open.play(plan.max_rounds,
              [&](int at, int k, int* chosen) {
                agent.draw(at, plan.hypothesis, open.uniform(plan.seed, at, k), chosen);
                data.append(chosen, size_t(open.size() - at < NATIVE ? open.size() - at : NATIVE));
              },
              [&](int slot, int k) { return k > 0 && agent.beliefs.number(slot, plan.hypothesis) > plan.level; },
              [&](int slot, int k) {
                agent.beliefs.get_logs(slot, logs + size_t(open.lesson[slot]) * agent.m);
                rounds[open.lesson[slot]] = k;
              }, agent);
    for (int lesson : open.lesson) is_finished[lesson] = 0;
    for (int lesson = 0; lesson < count; ++lesson) finished[lesson] = is_finished[lesson];
    num_rounds = rounds;
  }

  // Show the teacher's data to a learner, and more if `goes_on`. Fill the learner's last log-beliefs (count, m), and for each lesson
  // whether it ended (`is_known`, see `TeachingEnds`).
  void follow(Rule& rule, const double* start, bool goes_on, double* logs, bool* is_known) {
    Follower agent(rule, false, count);
    OpenLessons open(first, count);
    agent.start(start, true);
    const int* shown = data.get();
    open.play(plan.max_rounds,
              [&](int at, int, int* chosen) {
                for (int lane = 0; lane < NATIVE; ++lane) chosen[lane] = at + lane < open.size() ? *shown++ : -1;
              },
              [&](int slot, int k) { return is_finished[open.lesson[slot]] && num_rounds[open.lesson[slot]] == k; },
              [&](int slot, int) { agent.beliefs.get_logs(slot, logs + size_t(open.lesson[slot]) * agent.m); }, agent);
    for (int lesson = 0; lesson < count; ++lesson) is_known[lesson] = is_finished[lesson];
    if (goes_on) go_on(rule, logs, is_known);
  }

 private:
  // If the teacher was sure, show more data from `plan.law`, until the learner is sure or its belief in the hypothesis is below 2^-512.
  void go_on(Rule& rule, double* logs, bool* is_known) {
    const uint64_t AFTERWARDS = uint64_t(1) << 40;  // first round number of these draws: larger than any round of a teacher
    const Law law(plan.law, rule.n);
    Follower agent(rule, false, count);
    OpenLessons open(first, count);
    agent.start(logs, false);
    open.play(plan.max_rounds, [&](int at, int k, int* chosen) { law.draw(open.uniform(plan.seed, at, AFTERWARDS + k), chosen); },
              [&](int slot, int) {
                return !is_finished[open.lesson[slot]] || largest_belief(agent, slot) > plan.level || !(agent.beliefs.number(slot, plan.hypothesis) > 0.0);
              },
              [&](int slot, int) {
                if (is_finished[open.lesson[slot]]) agent.beliefs.get_logs(slot, logs + size_t(open.lesson[slot]) * agent.m);
              }, agent);
    for (int lesson : open.lesson) is_known[lesson] = false;
  }

  const TeachingPlan& plan;
  uint64_t first;
  int count;
  Array<int> data;                      // in the order in which they were drawn
  Array<char> is_finished;              // by lesson
  const int64_t* num_rounds = nullptr;  // by lesson
};

// Show the two agents of each pair the same data, drawn from `plan.law`, for at least one round and until one of them is sure. Fill the
// last log-beliefs (count, m) of both; return the number of pairs in which nobody was sure after `plan.max_rounds` rounds.
inline int couple(const TeachingPlan& plan, Rule& teacher_rule, Rule& learner_rule, const double* learner_logs, uint64_t first, int count,
                  double* taught, double* believed) {
  Follower teacher(teacher_rule, false, count), learner(learner_rule, false, count);
  OpenLessons open(first, count);
  const Law law(plan.law, teacher.n);
  teacher.start(plan.teacher_logs, true), learner.start(learner_logs, true);
  return open.play(plan.max_rounds, [&](int at, int k, int* data) { law.draw(open.uniform(plan.seed, at, k), data); },
                   [&](int slot, int k) { return k > 0 && larger(largest_belief(teacher, slot), largest_belief(learner, slot)) > plan.level; },
                   [&](int slot, int) {
                     const size_t to = size_t(open.lesson[slot]) * teacher.m;
                     teacher.beliefs.get_logs(slot, taught + to), learner.beliefs.get_logs(slot, believed + to);
                   }, teacher, learner);
}

// The tree of all sequences of data that start at some beliefs.
class Tree {
 public:
  static constexpr int BLOCK = 256;  // number of beliefs whose responses are computed together; it bounds the memory
  Tree(const TreePlan& plan, Rule& rule) : plan(plan), rule(rule), m(rule.m), belief(rule.m), center(rule.m), chances(plan.num_data) {}

  // Add the moments of the beliefs after each of the next rounds, (rounds_left, 1 + 2 m): weight, means, squared deviations. The tree is
  // walked depth first.
  void walk(const double* logs, const double* weights, int count, int rounds_left, double* moments) {
    Array<double> child_logs(rounds_left > 1 ? size_t(count) * plan.num_data * m : 0), child_weights(rounds_left > 1 ? size_t(count) * plan.num_data : 0);
    const int64_t size = grow(logs, weights, count, moments, rounds_left > 1 ? child_logs.get() : nullptr, child_weights.get());
    if (rounds_left == 1) return;
    for (int64_t at = 0; at < size && !is_stopped(); at += BLOCK)
      walk(child_logs.get() + at * m, child_weights.get() + at, int(size - at < BLOCK ? size - at : BLOCK), rounds_left - 1, moments + 1 + 2 * m);
  }

  // Add the moments (1 + 2 m) of the beliefs after the next round. Store these log-beliefs and their weights unless `child_logs` is null;
  // return the number of stored beliefs.
  int64_t grow(const double* logs, const double* weights, int count, double* moments, double* child_logs, double* child_weights) {
    Follower agent(rule, false, count);
    agent.start(logs, false);
    agent.respond(nullptr);
    // Deviations are taken from the mean before the datum. The mean after the datum is close to it, so squares lose few digits.
    double weight = 0.0;
    for (int k = 0; k < count; ++k) weight += weights[k];
    for (int j = 0; j < m; ++j) {
      double sum = 0.0;
      for (int k = 0; k < count; ++k) sum += weights[k] * agent.beliefs.number(k, j);
      center[j] = weight > 0.0 ? sum / weight : 0.0;
    }
    found.assign(1 + 2 * m, 0.0);
    const double *after = belief.get(), *origin = center.get();
    double *sums = &found[1], *squares = sums + m;
    int64_t size = 0;
    for (int k = 0; k < count; ++k) {
      agent.weigh(k);
      double total = 0.0;
      for (int d = 0; d < plan.num_data; ++d) total += chances[d] = plan.copies[d] * agent.responses.chance(k, plan.data[d], plan.hypothesis);
      for (int d = 0; d < plan.num_data; ++d) {
        const double share = weights[k] * (chances[d] / total);
        if (!(share > 0.0)) continue;
        if (child_logs) {
          double* logs = child_logs + size * m;
          agent.posterior_in_logs(k, plan.data[d], logs);
          for (int j = 0; j < m; ++j) belief[j] = exponential(logs[j]);
          child_weights[size++] = share;
        } else {
          agent.posterior(k, plan.data[d], belief.get());
        }
        found[0] += share;
        for (int j = 0; j < m; ++j) {
          const double gap = after[j] - origin[j], weighted = share * gap;
          sums[j] += weighted, squares[j] += weighted * gap;
        }
      }
    }
    for (int j = 0; j < m && found[0] > 0.0; ++j) {
      const double offset = found[1 + j] / found[0];
      found[1 + m + j] = larger(0.0, found[1 + m + j] - found[1 + j] * offset), found[1 + j] = center[j] + offset;
    }
    merge_moments(m, found.get(), moments);
    return size;
  }

 private:
  const TreePlan& plan;
  Rule& rule;
  int m;
  Array<double> belief, center, chances, found;
};

}  // namespace core::CORE_ISA
