/** Many lessons: how belief in the truth develops. */
import { Teacher } from "./lessons.js";
import { Random } from "./random.js";
import { makeRule } from "./rules.js";

/**
 * Simulate lessons of one rule.
 * @param {{matrix: number[][], rule: any, hypothesis: number, prior?: number[] | null,
 *   dataPrior?: number[] | null, noRepeats?: boolean, numRounds?: number, numLessons?: number,
 *   seed?: number, level?: number}} settings A plain object, so that it can be sent to a worker.
 *   `rule`: the settings of `makeRule`.
 * @param {(done: number) => void} [onProgress] Called after every 20 lessons with the number of finished lessons.
 * @returns {{mean: number[], low: number[], high: number[], std: number[], reached: number[], share: number[]}}
 *   Per round: mean, 10 % and 90 % quantile and standard deviation of the belief in the truth, and the
 *   share of lessons that have reached the level; per lesson: the round in which it reached the level (Infinity: never).
 */
export function simulate(settings, onProgress = () => {}) {
  const { matrix, hypothesis, prior = null, dataPrior = null, noRepeats = false } = settings;
  const { numRounds = 40, numLessons = 400, seed = 0, level = 0.95 } = settings;
  const rng = new Random(seed);
  const rule = makeRule(matrix, settings.rule, dataPrior);
  const beliefs = Array.from({ length: numRounds + 1 }, () => new Float64Array(numLessons));
  const reached = new Array(numLessons).fill(Infinity);
  for (let lesson = 0; lesson < numLessons; lesson++) {
    // Teacher and learner have the same rule and prior, so that the teacher's belief is the learner's.
    const teacher = new Teacher(rule, hypothesis, prior, { rng, noRepeats });
    for (let round = 0; round <= numRounds; round++) {
      const belief = Math.exp(teacher.logBelief[hypothesis]);
      beliefs[round][lesson] = belief;
      if (belief >= level && reached[lesson] === Infinity) reached[lesson] = round;
      const datum = round < numRounds ? teacher.choose() : -1;
      if (datum >= 0) teacher.observe(datum);
    }
    if (lesson % 20 === 19) onProgress(lesson + 1);
  }
  const share = beliefs.map((_, round) => reached.filter((r) => r <= round).length / numLessons);
  return { ...summarize(beliefs), reached, share };
}

/** @type {(beliefs: Float64Array[]) => {mean: number[], std: number[], low: number[], high: number[]}} */
function summarize(beliefs) {
  const sorted = beliefs.map((values) => values.slice().sort());
  const average = (/** @type {Float64Array} */ values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const mean = beliefs.map(average);
  return {
    mean,
    std: beliefs.map((values, k) => Math.sqrt(average(values.map((x) => (x - mean[k]) ** 2)))),
    low: sorted.map((values) => values[Math.floor(0.1 * (values.length - 1))]),
    high: sorted.map((values) => values[Math.ceil(0.9 * (values.length - 1))]),
  };
}
