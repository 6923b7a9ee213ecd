/** Many lessons: how belief in the truth develops, and how often a misjudged learner learns it. */
import { Learner, Teacher } from "./lessons.js";
import { Random } from "./random.js";
import { makeRule } from "./rules.js";

/**
 * @typedef {{matrix: number[][], rule: object, hypothesis: number, prior?: number[] | null,
 *   learnerPrior?: number[] | null, dataPrior?: number[] | null, noRepeats?: boolean,
 *   numRounds: number, numLessons: number, seed?: number, level?: number}} Settings
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
  const { numRounds, numLessons, seed = 0, level = 0.95 } = settings;
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
      const datum = teacher.choose();
      if (datum < 0) continue;
      teacher.observe(datum);
      if (learner !== teacher) learner.observe(datum);
    }
    if (lesson % 20 === 19) onProgress(lesson + 1);
  }
  const share = beliefs.map((_, round) => reached.filter((r) => r <= round).length / numLessons);
  return { ...summarize(beliefs), reached, share };
}

function summarize(beliefs) {
  const mean = [],
    std = [],
    low = [],
    high = [];
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

/** The same rule with a memory of its last answers: tables of zeros and ones lead to few beliefs. */
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
  const { numRounds = 2000, numLessons, seed = 0 } = settings;
  // Two rules: each remembers where the scaling of its own last belief ended.
  const teacherRule = makeRule(matrix, settings.rule, dataPrior),
    learnerRule = makeRule(matrix, settings.rule, dataPrior);
  const counts = { successes: 0, finished: 0, unfinished: 0 };
  for (let lesson = 0; lesson < numLessons; lesson++) {
    // One stream per lesson: a small change of a prior changes few lessons.
    const rng = new Random(seed * 2 ** 32 + lesson);
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

/** What is proved about the success rate of two SCBI agents on one positive table. */
export function frechetBounds(taught, believed) {
  return { lower: Math.max(0, taught + believed - 1) / taught, upper: Math.min(1, believed / taught) };
}

/** Wilson's interval for a probability, 95 % by default. */
export function wilson(successes, count, z = 1.959963984540054) {
  if (count === 0) return { value: NaN, lower: 0, upper: 1 };
  const p = successes / count,
    square = (z * z) / count;
  const middle = (p + square / 2) / (1 + square);
  const half = (z / (1 + square)) * Math.sqrt((p * (1 - p)) / count + square / (4 * count));
  return { value: p, lower: Math.max(0, middle - half), upper: Math.min(1, middle + half) };
}
