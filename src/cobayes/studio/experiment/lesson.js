/** One lesson of an experiment: the artificial partner, what was shown, and the table that is saved. */
import { toCsv } from "../page/tables.js";
import { Learner, Teacher } from "../twin/lessons.js";
import { Random } from "../twin/random.js";
import { makeRule, toLogs } from "../twin/rules.js";

/** Share of the uniform distribution in what a person's rating says: a rating of zero is no exclusion. */
const DOUBT = 0.02;

export class CobayesLesson {
  /**
   * @param {{role: "learner" | "teacher", problem: {name: string, data: string[], hypotheses: string[],
   *   matrix: number[][]}, truth: number, number: number, rule: object, prior?: number[] | null,
   *   dataPrior?: number[] | null, noRepeats?: boolean, costs?: (number | null)[][] | null, seed: number,
   *   shuffle?: boolean}} settings
   *   `role` is the person's; the partner is a teacher or learner that follows `rule`.
   */
  constructor(settings) {
    Object.assign(this, { prior: null, dataPrior: null, noRepeats: false, costs: null, shuffle: true }, settings);
    const rng = new Random(this.seed);
    const rule = makeRule(this.problem.matrix, this.rule, this.dataPrior);
    const task = { noRepeats: this.noRepeats, costs: this.costs };
    this.partner =
      this.role === "learner"
        ? new Teacher(rule, this.truth, this.prior, { rng, ...task })
        : new Learner(rule, this.prior, task);
    this.shown = [];
    this.dataOrder = this.order(this.problem.data.length, rng);
    this.hypothesisOrder = this.order(this.problem.hypotheses.length, rng);
  }

  /** The order in which buttons are laid out. */
  order(size, rng) {
    const places = Array.from({ length: size }, (_, k) => k);
    if (this.shuffle)
      for (let k = size - 1; k > 0; k--) {
        const other = Math.floor(rng.uniform() * (k + 1));
        [places[k], places[other]] = [places[other], places[k]];
      }
    return places;
  }

  /** The data that may be shown next; a person who teaches may show what the truth rules out. */
  get available() {
    return this.dataOrder.filter((i) => this.partner.dataPrior[i] > 0);
  }

  get isOver() {
    if (this.role === "teacher") return this.available.length === 0;
    return !this.partner.distribution.some((p) => p > 0);
  }

  /** The teacher's next datum; -1 where none is left. */
  nextDatum() {
    return this.partner.choose();
  }

  /** Show a datum: both the person and the partner have seen it. */
  show(datum) {
    this.shown.push(datum);
    return this.partner.observe(datum);
  }

  /**
   * Let the teacher take over what the person believes.
   * @param {number[]} rating Shares of belief, one per hypothesis.
   */
  followRating(rating) {
    const size = rating.length;
    this.partner.logBelief = toLogs(rating.map((share) => (1 - DOUBT) * share + DOUBT / size));
  }

  /**
   * Let the teacher learn from a guess: no hypothesis is believed more than the guessed one. The belief
   * it had changes as little as that asks for.
   */
  followGuess(guess) {
    const size = this.problem.hypotheses.length;
    const belief = this.partner.belief.map((share) => (1 - DOUBT) * share + DOUBT / size);
    this.partner.logBelief = toLogs(belief.map((share) => Math.min(share, belief[guess])));
  }
}

/** Columns of the table that is saved, by role and response: those that `cobayes fit` reads, then ours. */
const COLUMNS = {
  choice: ["person", "problem", "lesson", "round", "hypothesis", "datum", "rt"],
  guess: ["person", "problem", "lesson", "round", "datum", "guess", "truth", "rt"],
  rating: ["person", "problem", "lesson", "round", "datum", "hypothesis", "rating", "truth", "rt"],
};

/**
 * The long table of responses as CSV.
 * @param {object[]} trials Data of the trials of this plugin, as jsPsych keeps them.
 * @param {"choice" | "guess" | "rating"} response
 */
export function responseTable(trials, response) {
  const rows = trials.flatMap((trial) => {
    if (response !== "rating") return [trial];
    return Object.entries(trial.ratings).map(([hypothesis, rating]) => ({ ...trial, hypothesis, rating }));
  });
  const names = COLUMNS[response];
  return toCsv([names, ...rows.map((row) => names.map((name) => row[name]))]);
}
