/**
 * One family of rules, from literal Bayes to full cooperation.
 *
 *     L_k(h | d)   ∝  T_k(d | h) theta(h)            the learner of depth k
 *     T_{k+1}(d|h) ∝  p(d) L_k(h | d)^alpha          the teacher of depth k + 1
 *
 * theta is the belief, p the data prior, alpha the rationality. T_0 is the table with normalised columns; for literal="truth", L_0
 * uses the table itself. A rule of depth K teaches by T_K and learns by L_K. Computations use logarithms of beliefs.
 */
import { positions } from "./blocks.js";
import { logSum, scaleToBelief } from "./scaling.js";

/** The base class of rules: teaching and learning follow from the likelihood matrix at a belief. */
export class Rule {
  /**
   * @param {number[][]} matrix Data by hypotheses, not negative, no empty row or column.
   * @param {{dataPrior?: number[] | null}} [options] Weights of the data; zero: not available.
   */
  constructor(matrix, { dataPrior = null } = {}) {
    this.matrix = matrix;
    this.numData = matrix.length;
    this.numHypotheses = matrix[0].length;
    this.dataPrior = normalize(dataPrior ?? new Array(this.numData).fill(1));
    /** @type {{logBelief: number[], dataPrior: number[], logs: number[][]} | null} */
    this.last = null;
    // Responses to tables with zeros are cached: where data exclude hypotheses, lessons often return to the same beliefs.
    // On tables of zeros and ones this is ten times as fast.
    /** @type {Map<string, number[][]> | null} */
    this.known = matrix.some((row) => row.includes(0)) ? new Map() : null;
  }

  /**
   * The likelihood matrix at a belief, as logarithms.
   * @param {number[]} logBelief
   * @param {number[]} [dataPrior] Replaces the rule's data prior, in tasks whose data prior changes.
   * @returns {number[][]}
   */
  respond(logBelief, dataPrior = this.dataPrior) {
    (void logBelief, dataPrior);
    throw new Error("a rule defines respond(logBelief, dataPrior)");
  }

  /**
   * The result of `respond`, cached: a teacher needs it twice per round, to choose a datum and to update its belief.
   * @type {(logBelief: number[], dataPrior?: number[]) => number[][]}
   */
  answer(logBelief, dataPrior = this.dataPrior) {
    if (this.last?.logBelief === logBelief && this.last.dataPrior === dataPrior) return this.last.logs;
    const key = this.known ? `${logBelief};${dataPrior}` : "";
    const logs = this.known?.get(key) ?? this.respond(logBelief, dataPrior);
    if (this.known && this.known.size < 5000) this.known.set(key, logs);
    this.last = { logBelief, dataPrior, logs };
    return logs;
  }

  /**
   * The likelihood matrix at a belief; columns sum to one, or to zero if a hypothesis has no datum to show.
   * @type {(belief: number[], dataPrior?: number[]) => number[][]}
   */
  likelihood(belief, dataPrior) {
    return this.respond(toLogs(belief), dataPrior).map((row) => row.map(Math.exp));
  }

  /**
   * The teacher's distribution over data.
   * @type {(belief: number[], hypothesis: number, dataPrior?: number[]) => number[]}
   */
  teach(belief, hypothesis, dataPrior) {
    return this.likelihood(belief, dataPrior).map((row) => row[hypothesis]);
  }

  /**
   * The posterior after a datum; all NaN if the datum is not available, or is impossible under every hypothesis with a positive belief.
   * @type {(belief: number[], datum: number, dataPrior?: number[]) => number[]}
   */
  update(belief, datum, dataPrior) {
    return this.logUpdate(toLogs(belief), datum, dataPrior).map(Math.exp);
  }

  /**
   * The logarithms of the posterior after a datum; all NaN as in `update`.
   * @type {(logBelief: number[], datum: number, dataPrior?: number[]) => number[]}
   */
  logUpdate(logBelief, datum, dataPrior) {
    return bayes(logBelief, this.logListener(logBelief, dataPrior)[datum]);
  }

  /**
   * Row d is `update(belief, d)`.
   * @type {(belief: number[], dataPrior?: number[]) => number[][]}
   */
  posteriors(belief, dataPrior) {
    const logBelief = toLogs(belief);
    return this.logListener(logBelief, dataPrior).map((row) => bayes(logBelief, row).map(Math.exp));
  }

  /**
   * Logarithms of the factors by which the learner multiplies its belief: the likelihood, unless a rule overrides this.
   * @type {(logBelief: number[], dataPrior?: number[]) => number[][]}
   */
  logListener(logBelief, dataPrior) {
    return this.answer(logBelief, dataPrior);
  }
}

/** Plain Bayesian inference: the likelihood does not depend on the belief. */
export class BI extends Rule {
  name = "BI";

  /** @type {(logBelief: number[], dataPrior?: number[]) => number[][]} */
  respond(logBelief, dataPrior = this.dataPrior) {
    void logBelief;
    return logColumns(logTable(this.matrix, dataPrior));
  }
}

/** Recursion of finite depth; depth one with literal="truth" is the model of rational speech acts. */
export class Pragmatic extends Rule {
  name = "Pragmatic";

  /**
   * @param {number[][]} matrix
   * @param {number} depth Integer >= 0.
   * @param {{rationality?: number, dataPrior?: number[] | null, literal?: "likelihood" | "truth"}} [options]
   */
  constructor(matrix, depth, { rationality = 1, dataPrior = null, literal = "likelihood" } = {}) {
    super(matrix, { dataPrior });
    this.depth = depth;
    this.rationality = rationality;
    this.literal = literal;
  }

  /** @type {(logBelief: number[], dataPrior?: number[]) => number[][]} */
  respond(logBelief, dataPrior = this.dataPrior) {
    const table = logTable(this.matrix, dataPrior);
    // T_0; for literal="truth" at depth > 0 the table without normalisation, as in rational speech acts.
    let logs = this.literal === "truth" && this.depth > 0 ? table : logColumns(table);
    for (let k = 0; k < this.depth; k++) {
      // theta(h)^alpha is left out: it is the same for every datum and cancels in the normalisation over data.
      const next = logs.map((row, i) => {
        const norm = logSum(row.map((value, j) => addLogs(value, logBelief[j])));
        if (norm === -Infinity) return row.map(() => -Infinity);
        return row.map((value) => Math.log(dataPrior[i]) + this.rationality * (value - norm));
      });
      logs = logColumns(next.map((row, i) => row.map((value, j) => (logs[i][j] === -Infinity ? -Infinity : value))));
    }
    return logs;
  }

  /** @type {(logBelief: number[], dataPrior?: number[]) => number[][]} */
  logListener(logBelief, dataPrior = this.dataPrior) {
    if (this.literal === "truth" && this.depth === 0) return logTable(this.matrix, dataPrior);
    return this.answer(logBelief, dataPrior);
  }
}

/** Sequential cooperative Bayesian inference: the limit of infinite depth. */
export class SCBI extends Rule {
  name = "SCBI";
  /** @type {number[] | null} */
  start = null;

  /** @type {(logBelief: number[], dataPrior?: number[]) => number[][]} */
  respond(logBelief, dataPrior = this.dataPrior) {
    const { logLikelihood, factors } = scaleToBelief(this.matrix, logBelief, dataPrior, this.start);
    // The next belief is usually close to this one, so the next scaling starts from these factors.
    if (factors.every((f) => Math.abs(f) < 300)) this.start = factors;
    return logLikelihood;
  }
}

/**
 * @param {number[][]} matrix
 * @param {{kind: "BI" | "Pragmatic" | "SCBI", depth?: number, rationality?: number,
 *   literal?: "likelihood" | "truth"}} settings
 * @param {number[] | null} [dataPrior]
 * @returns {Rule}
 */
export function makeRule(matrix, settings, dataPrior = null) {
  if (settings.kind === "BI") return new BI(matrix, { dataPrior });
  if (settings.kind === "SCBI") return new SCBI(matrix, { dataPrior });
  return new Pragmatic(matrix, settings.depth ?? 1, { ...settings, dataPrior });
}

/** The rate of convergence: growth of the log-odds per round in the long run, in nats. It is the smallest
 * divergence of the taught column from another column, in the likelihood matrix at certainty.
 * @param {Rule} rule
 * @param {number} hypothesis
 * @returns {number} Infinity if every rival is excluded by some datum that the truth allows.
 */
export function rate(rule, hypothesis) {
  // The pragmatic rule is not defined at certainty if a datum is impossible under the truth. Its rate is therefore the
  // limit as the beliefs in the other hypotheses tend to zero.
  const doubts = rule instanceof Pragmatic ? [-300, -600] : [-Infinity];
  const found = doubts.map((doubt) => divergences(rule, hypothesis, doubt));
  const last = found[found.length - 1];
  const limits = found[0].map((first, j) => (last[j] > first + 1e-3 ? Infinity : last[j]));
  return Math.min(...limits.filter((_, j) => j !== hypothesis));
}

/** Divergence of the taught column from every column; the other hypotheses have the log-belief `logDoubt`.
 * @type {(rule: Rule, hypothesis: number, logDoubt: number) => number[]}
 */
function divergences(rule, hypothesis, logDoubt) {
  const logs = rule.respond(positions(rule.numHypotheses).map((j) => (j === hypothesis ? 0 : logDoubt)));
  return positions(rule.numHypotheses).map((j) => {
    let divergence = 0;
    for (const row of logs)
      if (row[hypothesis] > -Infinity) divergence += Math.exp(row[hypothesis]) * (row[hypothesis] - row[j]);
    return divergence;
  });
}

/**
 * Divide by the sum.
 * @type {(values: number[]) => number[]}
 */
export function normalize(values) {
  const sum = values.reduce((all, value) => all + value, 0);
  return values.map((value) => value / sum);
}

/**
 * Normalised logarithms of a belief.
 * @type {(belief: number[]) => number[]}
 */
export function toLogs(belief) {
  const logs = belief.map(Math.log);
  const norm = logSum(logs);
  return logs.map((value) => value - norm);
}

/**
 * Bayes' formula in logarithms; all NaN if no hypothesis with a positive belief allows the datum.
 * @type {(logBelief: number[], logRow: number[]) => number[]}
 */
function bayes(logBelief, logRow) {
  const joint = logBelief.map((value, j) => addLogs(value, logRow[j]));
  const norm = logSum(joint);
  return joint.map((value) => (norm === -Infinity ? NaN : value - norm));
}

/**
 * Logarithms of the table; rows that are not available are minus infinity.
 * @type {(matrix: number[][], dataPrior: number[]) => number[][]}
 */
const logTable = (matrix, dataPrior) =>
  matrix.map((row, i) => row.map((value) => (dataPrior[i] > 0 ? Math.log(value) : -Infinity)));

/**
 * Normalise columns of logarithms; a column of minus infinities stays the same.
 * @type {(logs: number[][]) => number[][]}
 */
function logColumns(logs) {
  const norms = positions(logs[0].length).map((j) => logSum(logs.map((row) => row[j])));
  return logs.map((row) => row.map((value, j) => (norms[j] === -Infinity ? -Infinity : value - norms[j])));
}

/**
 * A sum that is minus infinity if one term is.
 * @type {(a: number, b: number) => number}
 */
const addLogs = (a, b) => (a === -Infinity || b === -Infinity ? -Infinity : a + b);
