/** Teachers, learners and lessons. */
import { Random } from "./random.js";
import { toLogs } from "./rules.js";

/** A learner: a rule and a belief that follows it. */
export class Learner {
  /** @param {number[] | null} [prior] Uniform by default. */
  constructor(rule, prior = null, { noRepeats = false } = {}) {
    this.rule = rule;
    this.logBelief = toLogs(prior ?? new Array(rule.numHypotheses).fill(1));
    this.noRepeats = noRepeats;
    this.shown = [];
    this.left = null;
  }

  get belief() {
    return this.logBelief.map(Math.exp);
  }

  /** Weights of the data in this round; what was shown is not available again without repeats. */
  get dataPrior() {
    if (!this.noRepeats || !this.shown.length) return this.rule.dataPrior;
    this.left ??= this.rule.dataPrior.map((p, i) => (this.shown.includes(i) ? 0 : p));
    return this.left;
  }

  /** Whether any datum of positive weight is left. */
  get hasData() {
    return this.dataPrior.some((p) => p > 0);
  }

  /**
   * Update the belief. A datum that every believed hypothesis rules out changes nothing.
   * @returns {boolean} Whether the datum was possible.
   */
  observe(datum) {
    const next = this.rule.logUpdate(this.logBelief, datum, this.dataPrior);
    const isPossible = !Number.isNaN(next[0]);
    if (isPossible) this.logBelief = next;
    this.shown.push(datum);
    this.left = null;
    return isPossible;
  }
}

/** A teacher: knows the truth and follows the learner it has in mind. */
export class Teacher extends Learner {
  /**
   * @param {number} hypothesis The truth.
   * @param {{rng?: Random, choice?: "draw" | "likeliest", noRepeats?: boolean}} [options]
   */
  constructor(
    rule,
    hypothesis,
    prior = null,
    { rng = new Random(), choice = "draw", noRepeats = false } = {},
  ) {
    super(rule, prior, { noRepeats });
    Object.assign(this, { hypothesis, rng, choice });
  }

  /** @returns {number[]} The distribution over data from which it chooses; zeros if none is left. */
  get distribution() {
    return this.rule.answer(this.logBelief, this.dataPrior).map((row) => Math.exp(row[this.hypothesis]));
  }

  /** @returns {number} A datum; -1 where the truth allows none that is left. */
  choose(uniform = this.rng.uniform()) {
    const weights = this.distribution;
    if (!weights.some((w) => w > 0)) return -1;
    if (this.choice === "draw") return this.rng.draw(weights, uniform);
    const most = Math.max(...weights);
    // Ties are rounded away, so that the first of equals is chosen.
    return weights.findIndex((w) => w >= most * (1 - 1e-9));
  }
}

/**
 * Run a lesson: the teacher chooses, both update.
 * @returns {{data: number[], logBeliefs: number[][], teacherLogBeliefs: number[][]}}
 */
export function runLesson(teacher, learner, numRounds) {
  const data = [],
    logBeliefs = [learner.logBelief],
    teacherLogBeliefs = [teacher.logBelief];
  for (let round = 0; round < numRounds; round++) {
    const datum = teacher.choose();
    if (datum < 0) break;
    teacher.observe(datum);
    learner.observe(datum);
    data.push(datum);
    logBeliefs.push(learner.logBelief);
    teacherLogBeliefs.push(teacher.logBelief);
  }
  return { data, logBeliefs, teacherLogBeliefs };
}
