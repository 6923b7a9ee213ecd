/** One lesson of an experiment: the artificial partner, the data that were shown, and the table that is saved. */
import { positions } from "../twin/blocks.js";
import { Learner, Teacher } from "../twin/lessons.js";
import { Random } from "../twin/random.js";
import { makeRule, toLogs } from "../twin/rules.js";

/** Share of the uniform distribution mixed into the teacher's estimate of the person's belief; no response then excludes a hypothesis. */
const DOUBT = 0.02;

const DEFAULTS = {
  ...{ prior: null, dataPrior: null, noRepeats: false, costs: null, shuffle: true },
  ...{ number: 1, numLessons: 1, numRounds: 1 },
};

export const stimulus = ({ stimuli = {} }, label) =>
  Object.hasOwn(stimuli, label) ? stimuli[label] : { text: label, alt: label };

/** The spoken name of a label: its text, or the alternative text of its picture. */
export const spoken = (problem, label) => {
  const { text, alt } = stimulus(problem, label);
  return text || alt;
};

export class CobayesLesson {
  /**
   * @param {{role: "learner" | "teacher", problem: {name: string, data: string[], hypotheses: string[],
   *   matrix: number[][], grid?: number[] | null, stimuli?: Record<string, Stimulus>}, truth: number,
   *   rule: object, seed: number, prior?: number[] | null, dataPrior?: number[] | null, noRepeats?: boolean,
   *   costs?: (number | null)[][] | null, shuffle?: boolean, number?: number, numLessons?: number,
   *   numRounds?: number}} settings
   *   `role` is the person's; the partner is a teacher or learner that follows `rule`. `grid`: rows and columns
   *   of the board on which the data have their places.
   *
   * @typedef {{text: string, alt: string, image?: string}} Stimulus What stands for a label on the screen.
   */
  constructor(settings) {
    Object.assign(this, DEFAULTS, settings);
    const { data, hypotheses, matrix, grid } = this.problem;
    const rng = new Random(this.seed);
    const rule = makeRule(matrix, this.rule, this.dataPrior);
    const task = { noRepeats: this.noRepeats, costs: this.costs };
    this.partner =
      this.role === "learner"
        ? new Teacher(rule, this.truth, this.prior, { rng, ...task })
        : new Learner(rule, this.prior, task);
    this.shown = [];
    const order = (names, isFixed) => (isFixed ? positions(names.length) : rng.shuffle(positions(names.length)));
    this.dataOrder = order(data, grid || !this.shuffle);
    this.hypothesisOrder = order(hypotheses, !this.shuffle);
  }

  /** Whether a datum may be shown next. A person who teaches may also show data that are impossible under the truth. */
  isAvailable(datum) {
    return this.partner.dataPrior[datum] > 0;
  }

  get spokenTruth() {
    return spoken(this.problem, this.problem.hypotheses[this.truth]);
  }

  get isOver() {
    if (this.role === "teacher") return !this.partner.hasData;
    return !this.partner.distribution.some((p) => p > 0);
  }

  /** Record a datum that is shown, and let the partner learn from it; returns whether it was possible for the partner. */
  show(datum) {
    this.shown.push(datum);
    return this.partner.observe(datum);
  }

  /**
   * Replace the teacher's estimate of the person's belief by the person's rating.
   * @param {number[]} rating Shares of belief, one per hypothesis.
   */
  followRating(rating) {
    const size = rating.length;
    this.partner.logBelief = toLogs(rating.map((share) => (1 - DOUBT) * share + DOUBT / size));
  }

  /**
   * Change the teacher's estimate so that no belief is larger than the belief in the guess: a share DOUBT of the uniform
   * distribution is mixed in, larger beliefs are lowered to that of the guess, and the sum is made one again.
   */
  followGuess(guess) {
    const size = this.problem.hypotheses.length;
    const belief = this.partner.belief.map((share) => (1 - DOUBT) * share + DOUBT / size);
    this.partner.logBelief = toLogs(belief.map((share) => Math.min(share, belief[guess])));
  }
}

/** Columns of the saved table: first the columns that `cobayes fit` reads, then further columns. */
const COLUMNS = {
  choice: ["person", "problem", "lesson", "round", "hypothesis", "datum", "rt"],
  guess: ["person", "problem", "lesson", "round", "datum", "guess", "truth", "rt"],
  rating: ["person", "problem", "lesson", "round", "datum", "hypothesis", "rating", "truth", "rt"],
};

/**
 * The long table of responses, the header first.
 * @param {object[]} trials Data of the trials of this plugin, as jsPsych keeps them.
 * @param {"choice" | "guess" | "rating"} response
 */
export function responseRows(trials, response) {
  const rows = trials.flatMap((trial) => {
    if (response !== "rating") return [trial];
    return Object.entries(trial.ratings).map(([hypothesis, rating]) => ({ ...trial, hypothesis, rating }));
  });
  return [COLUMNS[response], ...rows.map((row) => COLUMNS[response].map((name) => row[name]))];
}
