/**
 * The scaling of SCBI: row sums in proportion to a data prior, column sums in proportion to the belief.
 *
 * The scaled matrix is S[i][j] = r_i M[i][j] e^{v_j} theta_j / den_i with den_i = sum_k M[i][k] e^{v_k} theta_k:
 * rows are exact by construction, theta enters as a weight only, and Newton's method finds v. Columns
 * of a belief too small for a float are scaled like the others; they just weigh nothing.
 */
import { positions, scalingBlocks, total } from "./blocks.js";

const MAX_ITERATIONS = 500;
/** Largest change of a logarithm in one Newton step. */
const MAX_STEP = 6;

/**
 * Scale a table to a belief: the likelihood matrix of SCBI, as logarithms.
 * @param {number[][]} matrix Data by hypotheses, not negative.
 * @param {number[]} logBelief Logarithms; -Infinity for a hypothesis that is ruled out.
 * @param {number[]} dataPrior One weight per datum; zero: not available.
 * @param {number[] | null} [start] Logarithms of column factors to start from.
 * @returns {{logLikelihood: number[][], blocks: import("./blocks.js").Block[] | null, factors: number[]}}
 *   Columns of exp(logLikelihood) sum to one; `blocks` is null where no zero is involved.
 */
export function scaleToBelief(matrix, logBelief, dataPrior, start = null) {
  const numRows = matrix.length, numColumns = logBelief.length;
  const rows = positions(numRows).filter((i) => dataPrior[i] > 0);
  const believed = positions(numColumns).filter((j) => logBelief[j] > -Infinity);
  const result = matrix.map((row) => row.map(() => -Infinity));
  const factors = start ? start.slice() : new Array(numColumns).fill(0);
  const isPositive = rows.every((i) => believed.every((j) => matrix[i][j] > 0));
  let blocks = null, components = [{ rows, columns: believed }];
  if (!isPositive) {
    const weights = linearWeights(logBelief, positions(numColumns));
    // Beliefs too small for a float keep a place in the blocks.
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

/** Solve one component and write its part of the log-likelihood and the logarithms of row factors. */
function scaleComponent(matrix, logBelief, dataPrior, { rows, columns }, factors, isWarm, result, rowFactors) {
  const prior = rows.map((i) => dataPrior[i]);
  const priorTotal = total(prior);
  const r = prior.map((p) => p / priorTotal);
  const weights = linearWeights(logBelief, columns);
  const entries = rows.map((i) => columns.map((j) => matrix[i][j]));
  // Columns of very different size are brought to one size first; the factors undo it.
  const shift = columns.map((_, k) => Math.log(Math.max(...entries.map((row) => row[k]))));
  const kernel = entries.map((row) => row.map((value, k) => value / Math.exp(shift[k])));
  const v = solve(kernel, r, weights, isWarm ? columns.map((j, k) => factors[j] + shift[k]) : null);
  rows.forEach((i, a) => {
    let den = 0;
    columns.forEach((_, k) => (den += kernel[a][k] * Math.exp(v[k]) * weights[k]));
    rowFactors[i] = Math.log(r[a]) - Math.log(den);
    columns.forEach((j, k) => (result[i][j] = rowFactors[i] + Math.log(entries[a][k]) + v[k] - shift[k]));
  });
  columns.forEach((j, k) => (factors[j] = v[k] - shift[k]));
}

/**
 * Find v with sum_i r_i kernel[i][j] e^{v_j} / den_i = 1 for every column j.
 *
 * The convex function sum_i r_i log den_i - sum_j theta_j v_j has its minimum there: Newton steps with a
 * line search on it, and a sweep (one Sinkhorn step) after each, which also settles weightless columns.
 */
function solve(kernel, r, weights, start) {
  const size = weights.length;
  let v = start ?? new Array(size).fill(0);
  let state = evaluate(kernel, r, weights, v);
  let best = { v, error: state.error }, stalls = 0;
  for (let iteration = 0; iteration < MAX_ITERATIONS && stalls < 4; iteration++) {
    let next = v.map((value, j) => value - Math.log(state.ratio[j]));
    let nextState = evaluate(kernel, r, weights, next);
    const step = size > 1 ? newtonStep(weights, nextState, r) : null;
    if (step) {
      const largest = Math.max(...step.map(Math.abs));
      for (let t = Math.min(1, MAX_STEP / largest), tries = 0; tries < 30; t /= 2, tries++) {
        const trial = next.map((value, j) => value + t * step[j]);
        const trialState = evaluate(kernel, r, weights, trial);
        if (trialState.error < nextState.error || trialState.potential < nextState.potential - 1e-13) {
          next = trial;
          nextState = trialState;
          break;
        }
      }
    }
    v = next;
    state = nextState;
    if (state.error < best.error * 0.5) stalls = 0;
    else if (best.error < 1e-12) stalls++;
    if (state.error < best.error) best = { v, error: state.error };
    if (best.error < 4e-16) break;
  }
  return best.v;
}

/** Column ratios (one at the solution), their largest error, the potential, and q = kernel e^v / den. */
function evaluate(kernel, r, weights, v) {
  const size = v.length, exps = v.map(Math.exp), ratio = new Array(size).fill(0);
  let potential = 0;
  const q = kernel.map((row, i) => {
    let den = 0;
    for (let j = 0; j < size; j++) den += row[j] * exps[j] * weights[j];
    potential += r[i] * Math.log(den);
    const shares = new Array(size);
    for (let j = 0; j < size; j++) {
      shares[j] = (row[j] * exps[j]) / den;
      ratio[j] += r[i] * shares[j];
    }
    return shares;
  });
  let error = 0;
  for (let j = 0; j < size; j++) {
    potential -= weights[j] * v[j];
    error = Math.max(error, Math.abs(Math.log(ratio[j])));
  }
  return { q, ratio, potential, error: Number.isNaN(error) ? Infinity : error };
}

/** Solve the linearised equations; the heaviest column stays where it is. Null where they are singular. */
function newtonStep(weights, { q, ratio }, r) {
  const size = weights.length;
  const pinned = weights.indexOf(Math.max(...weights));
  const free = positions(size).filter((j) => j !== pinned);
  const system = free.map((j) => {
    const line = free.map((k) => {
      let sum = 0;
      for (let i = 0; i < q.length; i++) sum += r[i] * q[i][j] * q[i][k];
      return (j === k ? ratio[j] : 0) - sum * weights[k];
    });
    line.push(1 - ratio[j]);
    return line;
  });
  const solution = eliminate(system);
  if (!solution) return null;
  const step = new Array(size).fill(0);
  free.forEach((j, k) => (step[j] = solution[k]));
  return step;
}

/** Gaussian elimination with partial pivoting on an augmented system. */
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
 * Fill the columns of hypotheses that nobody believes: the limit of a belief that tends to zero. Such a
 * column goes where there is most room: to rows that nobody reaches, else to its block of lowest ratio.
 */
function attachUnbelieved(matrix, logBelief, dataPrior, blocks, rowFactors, result) {
  logBelief.forEach((value, j) => {
    if (value > -Infinity) return;
    let rows = positions(matrix.length).filter((i) => dataPrior[i] > 0 && matrix[i][j] > 0);
    if (blocks) {
      const ratioOf = (i) => blocks.find((block) => block.rows.includes(i)).ratio;
      const lowest = Math.min(...rows.map(ratioOf));
      rows = rows.filter((i) => ratioOf(i) <= lowest * (1 + 1e-12));
    }
    const logs = rows.map(
      (i) => (rowFactors[i] > -Infinity ? rowFactors[i] : Math.log(dataPrior[i])) + Math.log(matrix[i][j])
    );
    const norm = logSum(logs);
    rows.forEach((i, k) => (result[i][j] = logs[k] - norm));
  });
}

/** Weights of these columns in floats, in total one. */
function linearWeights(logBelief, columns) {
  const norm = logSum(columns.map((j) => logBelief[j]));
  return columns.map((j) => Math.exp(logBelief[j] - norm));
}

/** Logarithm of a sum of exponentials. */
export function logSum(logs) {
  const largest = Math.max(...logs);
  if (!(largest > -Infinity)) return -Infinity;
  return largest + Math.log(logs.reduce((sum, value) => sum + Math.exp(value - largest), 0));
}

/**
 * What one round does: the table after each normalisation, columns to n theta and rows to n p in turn.
 * @returns {number[][][]} The table itself, then one matrix per normalisation, columns first.
 */
export function alternate(matrix, belief, dataPrior, count) {
  const n = matrix.length, m = belief.length;
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
        })
      );
    }
  }
  return frames;
}
