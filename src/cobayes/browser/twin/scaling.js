/**
 * The scaling of SCBI: row sums in proportion to a data prior, column sums in proportion to the belief theta.
 *
 * The scaled matrix is S[i][j] = r_i M[i][j] e^{v_j} theta_j / den_i with den_i = sum_k M[i][k] e^{v_k} theta_k:
 * the row sums r_i are exact by construction, theta enters only as a weight, and Newton's method finds v. Columns whose
 * belief underflows are scaled like the others, with weight zero.
 */
import { positions, scalingBlocks, total } from "./blocks.js";

const MAX_ITERATIONS = 500;
/** Tolerance of log(column sum / target), about a hundred times the rounding error of a double. */
const GOAL = 3e-14;
/** Largest change of any v_j in one Newton step. */
const MAX_STEP = 6;

/**
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("./blocks.js").Component} Component
 * @typedef {{v: Float64Array, grown: Float64Array, ratio: Float64Array, den: Float64Array, error: number}} Point
 */

/**
 * Scale a table to a belief: the likelihood matrix of SCBI, as logarithms.
 * @param {number[][]} matrix Data by hypotheses, not negative.
 * @param {number[]} logBelief Logarithms; -Infinity for a hypothesis that is ruled out.
 * @param {number[]} dataPrior One weight per datum; zero: not available.
 * @param {number[] | null} [start] Logarithms of column factors to start from; not used if the result has `blocks`.
 * @returns {{logLikelihood: number[][], blocks: import("./blocks.js").Block[] | null, factors: number[]}}
 *   Columns of exp(logLikelihood) sum to one, or to zero if the hypothesis allows no available datum; `blocks` is null if
 *   the table has no zeros in the rows of available data and the columns of hypotheses with a positive belief.
 */
export function scaleToBelief(matrix, logBelief, dataPrior, start = null) {
  const numRows = matrix.length,
    numColumns = logBelief.length;
  const rows = positions(numRows).filter((i) => dataPrior[i] > 0);
  const believed = positions(numColumns).filter((j) => logBelief[j] > -Infinity);
  const result = matrix.map((row) => row.map(() => -Infinity));
  const factors = start ? start.slice() : new Array(numColumns).fill(0);
  const isPositive = rows.every((i) => believed.every((j) => matrix[i][j] > 0));
  let blocks = null,
    components = [{ rows, columns: believed }];
  if (!isPositive) {
    const weights = linearWeights(logBelief, positions(numColumns));
    // Hypotheses whose belief underflows still belong to a block.
    const sums = weights.map((w, j) => (logBelief[j] > -Infinity ? Math.max(w, Number.MIN_VALUE * 1e15) : 0));
    blocks = scalingBlocks(matrix, dataPrior, sums).blocks;
    components = blocks.flatMap((block) => block.components);
  }
  const rowFactors = new Array(numRows).fill(-Infinity);
  for (const part of components)
    scaleComponent(matrix, logBelief, dataPrior, part, factors, isPositive && start !== null, result, rowFactors);
  attachUnbelieved(matrix, logBelief, dataPrior, blocks, rowFactors, result);
  return { logLikelihood: result, blocks, factors };
}

/**
 * Solve one component. Write its log-likelihood to `result`, and the logarithms of its row and column factors to
 * `rowFactors` and `factors`.
 * @type {(matrix: number[][], logBelief: number[], dataPrior: number[], part: {rows: number[], columns: number[]},
 *   factors: number[], isWarm: boolean, result: number[][], rowFactors: number[]) => void}
 */
function scaleComponent(matrix, logBelief, dataPrior, { rows, columns }, factors, isWarm, result, rowFactors) {
  const size = columns.length;
  const priorTotal = rows.reduce((sum, i) => sum + dataPrior[i], 0);
  const r = Float64Array.from(rows, (i) => dataPrior[i] / priorTotal);
  const weights = Float64Array.from(linearWeights(logBelief, columns));
  // Columns are first divided by their largest entry; the factors are corrected for this division.
  const largest = columns.map((j) => rows.reduce((most, i) => Math.max(most, matrix[i][j]), 0));
  const kernel = new Float64Array(rows.length * size);
  rows.forEach((i, a) => columns.forEach((j, k) => (kernel[a * size + k] = matrix[i][j] / largest[k])));
  const shift = largest.map(Math.log);
  const { v, den } = solve(kernel, r, weights, isWarm ? columns.map((j, k) => factors[j] + shift[k]) : null);
  columns.forEach((j, k) => (factors[j] = v[k] - shift[k]));
  rows.forEach((i, a) => {
    rowFactors[i] = Math.log(r[a]) - Math.log(den[a]);
    for (const j of columns) result[i][j] = rowFactors[i] + Math.log(matrix[i][j]) + factors[j];
  });
}

/**
 * Find v with sum_i r_i kernel[i][j] e^{v_j} / den_i = 1 for every column j.
 *
 * This v minimises the convex function sum_i r_i log den_i - sum_j theta_j v_j. Each iteration is a Sinkhorn step, which
 * also solves for columns of weight zero, and then a Newton step. The Newton step is halved until it lowers the error or
 * the convex function.
 * @type {(kernel: Float64Array, r: Float64Array, weights: Float64Array, start: number[] | null) => Point}
 */
function solve(kernel, r, weights, start) {
  const size = weights.length;
  let now = evaluate(kernel, r, weights, Float64Array.from(start ?? new Array(size).fill(0)));
  let best = now,
    stalls = 0;
  for (let iteration = 0; iteration < MAX_ITERATIONS && best.error > GOAL && stalls < 3; iteration++) {
    let next = evaluate(
      kernel,
      r,
      weights,
      now.v.map((value, j) => value - Math.log(now.ratio[j])),
    );
    const step = size > 1 && next.error > GOAL ? newtonStep(kernel, weights, r, next) : null;
    if (step) {
      const longest = step.reduce((most, part) => Math.max(most, Math.abs(part)), 0);
      for (let t = Math.min(1, MAX_STEP / longest), tries = 0; tries < 30; t /= 2, tries++) {
        const trial = evaluate(
          kernel,
          r,
          weights,
          next.v.map((value, j) => value + t * step[j]),
        );
        if (trial.error < next.error || potential(trial, r, weights) < potential(next, r, weights) - 1e-13) {
          next = trial;
          break;
        }
      }
    }
    now = next;
    if (best.error < 1e-12 && !(now.error < best.error / 2)) stalls++;
    if (now.error < best.error) best = now;
  }
  return best;
}

/**
 * Compute at v: `grown`, the factors e^{v_j}; `ratio`, each column sum divided by its target; `den`, the denominators;
 * `error`, the largest absolute logarithm of a ratio.
 * @type {(kernel: Float64Array, r: Float64Array, weights: Float64Array, v: Float64Array) => Point}
 */
function evaluate(kernel, r, weights, v) {
  const size = v.length,
    count = r.length;
  const grown = v.map(Math.exp),
    ratio = new Float64Array(size),
    den = new Float64Array(count);
  for (let i = 0, at = 0; i < count; i++, at += size) {
    let sum = 0;
    for (let j = 0; j < size; j++) sum += kernel[at + j] * grown[j] * weights[j];
    den[i] = sum;
    const share = r[i] / sum;
    for (let j = 0; j < size; j++) ratio[j] += share * kernel[at + j];
  }
  let error = 0;
  for (let j = 0; j < size; j++) {
    ratio[j] *= grown[j];
    // NaN (after an overflow) must not pass as convergence.
    error = Math.max(error, Number.isNaN(ratio[j]) ? Infinity : Math.abs(Math.log(ratio[j])));
  }
  return { v, grown, ratio, den, error };
}

/**
 * The convex function whose minimum is the solution.
 * @type {(point: Point, r: Float64Array, weights: Float64Array) => number}
 */
function potential({ v, den }, r, weights) {
  let sum = 0;
  for (let i = 0; i < r.length; i++) sum += r[i] * Math.log(den[i]);
  for (let j = 0; j < v.length; j++) sum -= weights[j] * v[j];
  return sum;
}

/**
 * Solve the linearised equations; the factor of the column with the largest weight is fixed. Null if the equations are
 * singular.
 * @type {(kernel: Float64Array, weights: Float64Array, r: Float64Array, point: Point) => Float64Array | null}
 */
function newtonStep(kernel, weights, r, { grown, ratio, den }) {
  const size = weights.length;
  const pinned = weights.indexOf(weights.reduce((most, weight) => Math.max(most, weight), 0));
  const free = positions(size).filter((j) => j !== pinned);
  const system = free.map(() => new Float64Array(size));
  for (let i = 0, at = 0; i < r.length; i++, at += size) {
    const share = r[i] / (den[i] * den[i]);
    for (let a = 0; a < size - 1; a++) {
      const part = share * kernel[at + free[a]] * grown[free[a]];
      if (part !== 0) for (let b = 0; b < size - 1; b++) system[a][b] -= part * kernel[at + free[b]];
    }
  }
  free.forEach((j, a) => {
    for (let b = 0; b < size - 1; b++) system[a][b] *= grown[free[b]] * weights[free[b]];
    system[a][a] += ratio[j];
    system[a][size - 1] = 1 - ratio[j];
  });
  const solution = eliminate(system);
  if (!solution) return null;
  const step = new Float64Array(size);
  free.forEach((j, a) => (step[j] = solution[a]));
  return step;
}

/**
 * Gaussian elimination with partial pivoting on an augmented system.
 * @type {(system: Float64Array[]) => number[] | null}
 */
function eliminate(system) {
  const size = system.length;
  for (let k = 0; k < size; k++) {
    let pivot = k;
    for (let i = k + 1; i < size; i++) if (Math.abs(system[i][k]) > Math.abs(system[pivot][k])) pivot = i;
    if (!(Math.abs(system[pivot][k]) > 1e-300)) return null;
    [system[k], system[pivot]] = [system[pivot], system[k]];
    for (let i = k + 1; i < size; i++) {
      const factor = system[i][k] / system[k][k];
      if (factor !== 0) for (let j = k; j <= size; j++) system[i][j] -= factor * system[k][j];
    }
  }
  const x = new Array(size).fill(0);
  for (let k = size - 1; k >= 0; k--) {
    let sum = system[k][size];
    for (let j = k + 1; j < size; j++) sum -= system[k][j] * x[j];
    x[k] = sum / system[k][k];
  }
  return x.every(Number.isFinite) ? x : null;
}

/**
 * Fill the columns of hypotheses whose belief is zero: the limit as their belief tends to zero.
 *
 * Free rows are rows of available data that are zero in all columns of positive belief. A column that is positive in a
 * free row gets all its mass in free rows; several columns of this kind are scaled to equal sums. Any other column is
 * added to the component that `componentOfColumn` chooses.
 * @type {(matrix: number[][], logBelief: number[], dataPrior: number[], blocks: Block[] | null,
 *   rowFactors: number[], result: number[][]) => void}
 */
function attachUnbelieved(matrix, logBelief, dataPrior, blocks, rowFactors, result) {
  const allows = (/** @type {number} */ i, /** @type {number} */ j) => dataPrior[i] > 0 && matrix[i][j] > 0;
  const everywhere = { rows: positions(matrix.length) };
  const free = blocks?.find((block) => !block.columns.length)?.rows ?? [];
  const alone = logBelief.map((value, j) => value === -Infinity && free.some((i) => allows(i, j)));
  if (alone.includes(true)) {
    const evenly = alone.map((isAlone) => (isAlone ? 0 : -Infinity));
    const left = dataPrior.map((p, i) => (free.includes(i) ? p : 0));
    const own = scaleToBelief(matrix, evenly, left).logLikelihood;
    for (const i of free) alone.forEach((isAlone, j) => isAlone && (result[i][j] = own[i][j]));
  }
  logBelief.forEach((value, j) => {
    if (value > -Infinity || alone[j]) return;
    const part = blocks ? componentOfColumn(blocks, matrix.length, (i) => allows(i, j)) : everywhere;
    const rows = part ? part.rows.filter((i) => allows(i, j)) : [];
    const logs = rows.map((i) => rowFactors[i] + Math.log(matrix[i][j]));
    const norm = logSum(logs);
    rows.forEach((i, k) => (result[i][j] = logs[k] - norm));
  });
}

/**
 * The component to which a column of belief zero is added: one with a row in which the column is positive. Of several,
 * one in a later block (of a lower ratio) is preferred, then one with a larger `reach` (blocks.js).
 * @type {(blocks: Block[], numRows: number, isAllowed: (i: number) => boolean) => Component | undefined}
 */
function componentOfColumn(blocks, numRows, isAllowed) {
  /** @type {{place: number, part: Component} | null} */
  let best = null;
  for (const i of positions(numRows).filter(isAllowed)) {
    const place = blocks.findIndex((block) => block.rows.includes(i));
    const part = blocks[place].components.find((component) => component.rows.includes(i));
    if (!part) continue;
    const isBetter = !best || place > best.place || (place === best.place && part.reach > best.part.reach);
    if (isBetter) best = { place, part };
  }
  return best?.part;
}

/**
 * Turn the log-beliefs of these columns into weights with sum one.
 * @type {(logBelief: number[], columns: number[]) => number[]}
 */
function linearWeights(logBelief, columns) {
  const norm = logSum(columns.map((j) => logBelief[j]));
  return columns.map((j) => Math.exp(logBelief[j] - norm));
}

/**
 * Logarithm of a sum of exponentials.
 * @type {(logs: number[]) => number}
 */
export function logSum(logs) {
  const largest = Math.max(...logs);
  if (!(largest > -Infinity)) return -Infinity;
  return largest + Math.log(logs.reduce((sum, value) => sum + Math.exp(value - largest), 0));
}

/**
 * The scaling in one round, step by step: in turn, column sums are set to n times the belief and row sums to n times the
 * data prior, where n is the number of data.
 * @param {number[][]} matrix
 * @param {number[]} belief
 * @param {number[]} dataPrior
 * @param {number} count Number of normalisations.
 * @returns {number[][][]} The table itself, then one matrix per normalisation, columns first.
 */
export function alternate(matrix, belief, dataPrior, count) {
  const n = matrix.length,
    m = belief.length;
  const sumOf = total(dataPrior);
  const frames = [matrix.map((row) => row.slice())];
  for (let step = 0; step < count; step++) {
    const last = frames[frames.length - 1];
    if (step % 2 === 0) {
      const sums = positions(m).map((j) => last.reduce((sum, row) => sum + row[j], 0));
      frames.push(last.map((row) => row.map((x, j) => (sums[j] > 0 ? (x * n * belief[j]) / sums[j] : 0))));
    } else {
      frames.push(
        last.map((row, i) => {
          const sum = total(row);
          return row.map((x) => (sum > 0 ? (x * n * dataPrior[i]) / (sumOf * sum) : 0));
        }),
      );
    }
  }
  return frames;
}
