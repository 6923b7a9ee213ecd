/** Teachers, learners and lessons. */
import { Random } from "./random.js";
import { toLogs } from "./rules.js";

/** @typedef {import("./rules.js").Rule} Rule */

/** A learner: a rule, and a belief that the rule updates. */
export class Learner {
  /**
   * @param {Rule} rule
   * @param {number[] | null} [prior] Uniform by default.
   * @param {{noRepeats?: boolean, costs?: (number | null)[][] | null}} [task] Constraints on the next
   *   datum. `noRepeats`: no datum is shown twice. `costs`: the cost of each step from the last datum (rows) to
   *   the next (columns); null forbids the step.
   */
  constructor(rule, prior = null, { noRepeats = false, costs = null } = {}) {
    this.rule = rule;
    this.logBelief = toLogs(prior ?? new Array(rule.numHypotheses).fill(1));
    this.noRepeats = noRepeats;
    this.costs = costs;
    /** @type {number[]} */
    this.shown = [];
    /** @type {number[] | null} */
    this.left = null;
  }

  get belief() {
    return this.logBelief.map(Math.exp);
  }

  /** Weights of the data in this round; zero: not available. */
  get dataPrior() {
    if ((!this.noRepeats && !this.costs) || !this.shown.length) return this.rule.dataPrior;
    return (this.left ??= this.#weightsLeft());
  }

  /** The data prior times exp(-cost) of the step from the last datum; zero: not available. */
  #weightsLeft() {
    const prior = this.rule.dataPrior;
    const from = this.costs?.[this.shown[this.shown.length - 1]] ?? prior.map(() => 0);
    const isLeft = prior.map((p, i) => p > 0 && !(this.noRepeats && this.shown.includes(i)));
    const costs = from.map((cost, i) => (isLeft[i] ? (cost ?? Infinity) : Infinity));
    // Subtract the cost of the cheapest step, so that not all weights underflow.
    const least = Math.min(...costs);
    return prior.map((p, i) => (costs[i] < Infinity ? p * Math.exp(least - costs[i]) : 0));
  }

  /** Whether any datum of positive weight is left. */
  get hasData() {
    return this.dataPrior.some((p) => p > 0);
  }

  /**
   * Update the belief. It stays the same if the datum is not available, or is impossible under every hypothesis with a positive belief.
   * @param {number} datum
   * @returns {boolean} Whether the datum was available and possible.
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

/** A teacher: it knows the truth and keeps an estimate of the learner's belief. */
export class Teacher extends Learner {
  /**
   * @param {Rule} rule
   * @param {number} hypothesis The truth.
   * @param {number[] | null} [prior] The learner's prior as the teacher assumes it.
   * @param {{rng?: Random, choice?: "draw" | "likeliest", noRepeats?: boolean,
   *   costs?: (number | null)[][] | null}} [options]
   */
  constructor(rule, hypothesis, prior = null, { rng = new Random(), choice = "draw", ...task } = {}) {
    super(rule, prior, task);
    this.hypothesis = hypothesis;
    this.rng = rng;
    this.choice = choice;
  }

  /** @returns {number[]} The distribution from which the teacher draws a datum; zeros if the truth allows none of the data left. */
  get distribution() {
    return this.rule.answer(this.logBelief, this.dataPrior).map((row) => Math.exp(row[this.hypothesis]));
  }

  /**
   * @param {number} [uniform] The random number in [0, 1) that determines the draw.
   * @returns {number} A datum; -1 if the truth allows none of the data that are left.
   */
  choose(uniform = this.rng.uniform()) {
    const weights = this.distribution;
    if (!weights.some((w) => w > 0)) return -1;
    if (this.choice === "draw") return this.rng.draw(weights, uniform);
    const most = Math.max(...weights);
    // Of several equally likely data the first is chosen; the factor covers rounding errors.
    return weights.findIndex((w) => w >= most * (1 - 1e-9));
  }
}

/**
 * Run a lesson: in each round the teacher chooses a datum, then teacher and learner update their beliefs.
 * @param {Teacher} teacher
 * @param {Learner} learner
 * @param {number} numRounds
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
