/** Many lessons: how belief in the truth develops, and how often a misjudged learner learns it. */
import { positions } from "./blocks.js";
import { Learner, Teacher } from "./lessons.js";
import { Random } from "./random.js";
import { makeRule, toLogs } from "./rules.js";

/**
 * @typedef {{matrix: number[][], rule?: any, hypothesis: number, prior?: number[] | null,
 *   learnerPrior?: number[] | null, dataPrior?: number[] | null, noRepeats?: boolean,
 *   numRounds?: number, numLessons?: number, seed?: number, level?: number, maxLeaves?: number,
 *   maxDepth?: number}} Settings
 * A plain object, so that it can be sent to a worker. `rule` is what `makeRule` takes.
 */

/**
 * Simulate lessons of one rule.
 * @param {Settings} settings
 * @param {(done: number) => void} [onProgress] Called after every few lessons.
 * @returns {{mean: number[], low: number[], high: number[], std: number[], reached: number[], share: number[]}}
 *   Per round: mean, 10 % and 90 % quantile and standard deviation of the belief in the truth, and the
 *   share of lessons that have reached the level; per lesson: the round in which it did (Infinity: never).
 */
export function simulate(settings, onProgress = () => {}) {
  const {
    matrix,
    hypothesis,
    prior = null,
    learnerPrior = null,
    dataPrior = null,
    noRepeats = false,
  } = settings;
  const { numRounds = 40, numLessons = 400, seed = 0, level = 0.95 } = settings;
  const rng = new Random(seed);
  const rule = remembering(makeRule(matrix, settings.rule, dataPrior));
  const beliefs = Array.from({ length: numRounds + 1 }, () => new Float64Array(numLessons));
  const reached = new Array(numLessons).fill(Infinity);
  for (let lesson = 0; lesson < numLessons; lesson++) {
    const teacher = new Teacher(rule, hypothesis, prior, { rng, noRepeats });
    const learner = learnerPrior ? new Learner(rule, learnerPrior, { noRepeats }) : teacher;
    for (let round = 0; round <= numRounds; round++) {
      const belief = Math.exp(learner.logBelief[hypothesis]);
      beliefs[round][lesson] = belief;
      if (belief >= level && reached[lesson] === Infinity) reached[lesson] = round;
      if (round === numRounds) break;
      // A lesson that is over takes its uniform number all the same: lesson k has those of row k.
      const datum = teacher.choose(rng.uniform());
      if (datum < 0) continue;
      teacher.observe(datum);
      if (learner !== teacher) learner.observe(datum);
    }
    if (lesson % 20 === 19) onProgress(lesson + 1);
  }
  const share = beliefs.map((_, round) => reached.filter((r) => r <= round).length / numLessons);
  return { ...summarize(beliefs), reached, share };
}

/** @type {(beliefs: Float64Array[]) => {mean: number[], std: number[], low: number[], high: number[]}} */
function summarize(beliefs) {
  /** @type {Record<"mean" | "std" | "low" | "high", number[]>} */
  const { mean, std, low, high } = { mean: [], std: [], low: [], high: [] };
  for (const values of beliefs) {
    const count = values.length;
    const average = values.reduce((sum, x) => sum + x, 0) / count;
    const sorted = Array.from(values).sort((a, b) => a - b);
    mean.push(average);
    std.push(Math.sqrt(values.reduce((sum, x) => sum + (x - average) ** 2, 0) / count));
    low.push(sorted[Math.floor(0.1 * (count - 1))]);
    high.push(sorted[Math.ceil(0.9 * (count - 1))]);
  }
  return { mean, std, low, high };
}

/**
 * The same rule with a memory of its last answers: tables of zeros and ones lead to few beliefs.
 * @type {(rule: import("./rules.js").Rule) => import("./rules.js").Rule}
 */
function remembering(rule) {
  const known = new Map();
  const respond = rule.respond.bind(rule);
  rule.respond = (logBelief, dataPrior = rule.dataPrior) => {
    const key = `${logBelief.join()};${dataPrior === rule.dataPrior ? "" : dataPrior.join()}`;
    let answer = known.get(key);
    if (!answer) {
      answer = respond(logBelief, dataPrior);
      if (known.size > 5000) known.clear();
      known.set(key, answer);
    }
    return answer;
  };
  return rule;
}

/**
 * How often a learner whose prior the teacher misjudges ends at the truth.
 * @param {Settings} settings `prior` is what the teacher assumes, `learnerPrior` the learner's.
 * @param {(partial: {successes: number, finished: number, unfinished: number}) => void} [onProgress]
 * @returns {{successes: number, finished: number, unfinished: number}}
 *   A lesson is finished when the learner believes one hypothesis to 1 - 1e-4.
 */
export function successRate(settings, onProgress = () => {}) {
  const { matrix, hypothesis, prior = null, learnerPrior = null, dataPrior = null } = settings;
  const { numRounds = 2000, numLessons = 2000, seed = 0 } = settings;
  // Two rules: each remembers where the scaling of its own last belief ended.
  const teacherRule = makeRule(matrix, settings.rule, dataPrior),
    learnerRule = makeRule(matrix, settings.rule, dataPrior);
  const counts = { successes: 0, finished: 0, unfinished: 0 };
  for (let lesson = 0; lesson < numLessons; lesson++) {
    // One stream per lesson: a small change of a prior changes few lessons.
    const rng = new Random([seed, lesson]);
    const teacher = new Teacher(teacherRule, hypothesis, prior, { rng });
    const learner = new Learner(learnerRule, learnerPrior);
    let end = -1;
    for (let round = 0; round < numRounds && end < 0; round++) {
      const datum = teacher.choose();
      if (datum < 0) break;
      teacher.observe(datum);
      learner.observe(datum);
      end = learner.logBelief.findIndex((value) => value > Math.log1p(-1e-4));
    }
    if (end < 0) counts.unfinished++;
    else counts.finished++;
    if (end === hypothesis) counts.successes++;
    if (lesson % 50 === 49) onProgress({ ...counts });
  }
  return counts;
}

/**
 * Enclose the success rate of two SCBI agents that share a table, by all sequences of data up to a depth.
 *
 * Without zeros, belief is a martingale under data from the data prior, which gives
 * E (t + l - 1)^+ <= theta(h) success <= E min(t, l) for the beliefs t and l of teacher and learner in h. With
 * zeros, what the teacher shows is followed: success is certain where the learner is, and failure where it has
 * excluded the truth. Bounds hold up to rounding, and each depth improves on the one before.
 * @param {Settings} settings `prior` is what the teacher assumes, `learnerPrior` the learner's.
 * @param {(found: {lower: number, upper: number, depth: number}) => void} [onProgress] After every depth.
 * @returns {{lower: number, upper: number, depth: number}}
 */
export function successEnclosure(settings, onProgress = () => {}) {
  const { matrix, hypothesis, dataPrior = null, maxLeaves = 3000, maxDepth = 40 } = settings;
  const rules = [0, 1].map(() => makeRule(matrix, { kind: "SCBI" }, dataPrior));
  const chances = rules[0].dataPrior;
  const isPositive = matrix.every((row) => row.every((value) => value > 0));
  const first = [settings.prior, settings.learnerPrior].map((prior) => toLogs(prior ?? matrix[0].map(() => 1)));
  const taught = Math.exp(first[0][hypothesis]);
  let leaves = [{ weight: isPositive ? 1 / taught : 1, logs: first }],
    best = { lower: 0, upper: 1, depth: 0 };
  for (let depth = 0; ; depth++) {
    const sides = leaves.map(({ weight, logs }) => {
      const [t, l] = logs.map((beliefs) => Math.exp(beliefs[hypothesis]));
      if (isPositive) return [weight * Math.max(0, t + l - 1), weight * Math.min(t, l)];
      const isSure = logs[1].every((log, j) => (j === hypothesis) !== (log === -Infinity));
      return [isSure ? weight : 0, l === 0 ? 0 : weight];
    });
    const [lower, upper] = [0, 1].map((side) => sides.reduce((sum, pair) => sum + pair[side], 0));
    best = { lower: Math.max(best.lower, lower), upper: Math.min(best.upper, upper), depth };
    onProgress(best);
    // Leaves whose sides have met are settled; the others grow.
    const isOpen = sides.map(([low, high]) => high - low > 1e-12);
    const grown = isOpen.filter(Boolean).length * matrix.length + isOpen.filter((open) => !open).length;
    if (depth === maxDepth || grown > maxLeaves || !isOpen.includes(true)) return best;
    leaves = leaves.flatMap((leaf, k) => (isOpen[k] ? children(leaf) : [leaf]));
  }

  /** @type {(leaf: {weight: number, logs: number[][]}) => {weight: number, logs: number[][]}[]} */
  function children({ weight, logs }) {
    const shown = isPositive ? chances : rules[0].answer(logs[0]).map((row) => Math.exp(row[hypothesis]));
    return positions(matrix.length)
      .filter((datum) => shown[datum] > 0)
      .map((datum) => ({
        weight: weight * shown[datum],
        logs: logs.map((beliefs, k) => {
          const next = rules[k].logUpdate(beliefs, datum);
          return Number.isNaN(next[0]) ? beliefs : next;
        }),
      }));
  }
}

/**
 * What is proved about the success rate of two SCBI agents on every positive table.
 * @param {number} taught The teacher's prior in the truth.
 * @param {number} believed The learner's.
 */
export function frechetBounds(taught, believed) {
  return { lower: Math.max(0, taught + believed - 1) / taught, upper: Math.min(1, believed / taught) };
}

/**
 * Wilson's interval for a probability.
 * @param {number} successes
 * @param {number} count
 * @param {number} [z] Standard errors; 95 % by default.
 */
export function wilson(successes, count, z = 1.959963984540054) {
  if (count === 0) return { value: NaN, lower: 0, upper: 1 };
  const p = successes / count,
    square = (z * z) / count;
  const middle = (p + square / 2) / (1 + square);
  const half = (z / (1 + square)) * Math.sqrt((p * (1 - p)) / count + square / (4 * count));
  return { value: p, lower: Math.max(0, middle - half), upper: Math.min(1, middle + half) };
}
