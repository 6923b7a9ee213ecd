/**
 * What alternating row and column normalisation does to a table with zeros.
 *
 * Rows and columns split into blocks, each with one ratio of column sums to row sums; entries outside
 * the blocks vanish. Blocks come from maximum flows. Inside a block an entry survives if its row and
 * column lie in one strongly connected component of the residual graph. On a component the scaling
 * exists and is unique.
 */

/** Sums that agree to this share of the block's total count as equal. */
const TIE = 1e-12;
/** Flows below this share of a column's sum are rounding. */
const CARRIED = 1e-12;

/**
 * @typedef {{rows: number[], columns: number[], reach: number}} Component `reach`: how many columns its
 *   own could hand mass to
 * @typedef {{rows: number[], columns: number[], ratio: number, components: Component[]}} Block
 * @typedef {{i: number, j: number, k: number, back: number | undefined}} Step
 */

/**
 * Split a table into blocks and find the entries that survive the scaling.
 *
 * Rows whose sum is zero (data that are not available) and columns whose sum is zero (hypotheses that
 * nobody believes) belong to no block. Rows that no column of positive sum allows form a last block of
 * ratio zero.
 * @param {number[][]} matrix Data by hypotheses, not negative.
 * @param {number[]} rowSums Not negative; only their ratios matter.
 * @param {number[]} columnSums Not negative; only their ratios matter.
 * @returns {{blocks: Block[], support: boolean[][]}}
 */
export function scalingBlocks(matrix, rowSums, columnSums) {
  const support = matrix.map((row) => row.map(() => false));
  let rows = positions(rowSums.length).filter((i) => rowSums[i] > 0);
  const columns = positions(columnSums.length).filter(
    (j) => columnSums[j] > 0 && rows.some((i) => matrix[i][j] > 0),
  );
  const unreached = rows.filter((i) => columns.every((j) => !(matrix[i][j] > 0)));
  rows = rows.filter((i) => !unreached.includes(i));
  const rowTotal = total(rowSums),
    columnTotal = total(columnSums);
  /** @type {Block[]} */
  const blocks = [];
  if (columns.length) {
    split(
      matrix,
      rowSums.map((r) => r / rowTotal),
      columnSums.map((c) => c / columnTotal),
      rows,
      columns,
      blocks,
    );
  }
  blocks.sort((a, b) => b.ratio - a.ratio);
  if (unreached.length) blocks.push({ rows: unreached, columns: [], ratio: 0, components: [] });
  for (const { components } of blocks)
    for (const component of components)
      for (const i of component.rows) for (const j of component.columns) support[i][j] = matrix[i][j] > 0;
  return { blocks, support };
}

/**
 * Decompose the part of the problem that these rows and columns are, into `blocks`.
 * @type {(matrix: number[][], rowSums: number[], columnSums: number[], rows: number[], columns: number[],
 *   blocks: Block[]) => void}
 */
function split(matrix, rowSums, columnSums, rows, columns, blocks) {
  const capacity = shares(rows, rowSums),
    supply = shares(columns, columnSums);
  const allowed = columns.map((j) => positions(rows.length).filter((i) => matrix[rows[i]][j] > 0));
  const { flow, unsent } = maximumFlow(allowed, supply, capacity);
  if (total(unsent) <= TIE) {
    const ratio = sumAt(columnSums, columns) / sumAt(rowSums, rows);
    const components = connected(allowed, flow, supply, rows.length).map((part) => ({
      rows: part.rows.map((i) => rows[i]),
      columns: part.columns.map((j) => columns[j]),
      reach: part.reach,
    }));
    blocks.push({ rows, columns, ratio, components });
    return;
  }
  // The columns that can reach only saturated rows, and those rows, have more than the average ratio.
  const full = reachable(allowed, flow, supply, unsent, capacity.length);
  const isFull = allowed.map((reach) => reach.every((i) => full[i]));
  for (const keep of [true, false]) {
    const ownRows = rows.filter((_, i) => full[i] === keep),
      ownColumns = columns.filter((_, j) => isFull[j] === keep);
    split(matrix, rowSums, columnSums, ownRows, ownColumns, blocks);
  }
}

/**
 * Send as much as possible from columns to rows, by shortest augmenting paths.
 * @param {number[][]} allowed The rows that each column may send to.
 * @param {number[]} supply What each column sends, in total one.
 * @param {number[]} capacity What each row takes, in total one.
 */
function maximumFlow(allowed, supply, capacity) {
  const flow = allowed.map((reach) => new Float64Array(reach.length));
  const spare = capacity.slice(),
    unsent = supply.slice();
  // Columns with few rows first: most problems need no path longer than one edge then.
  const order = positions(allowed.length).sort((a, b) => allowed[a].length - allowed[b].length);
  for (const j of order)
    allowed[j].forEach((i, k) => {
      const sent = Math.min(unsent[j], spare[i]);
      flow[j][k] += sent;
      spare[i] -= sent;
      unsent[j] -= sent;
    });
  for (let path; (path = augmentingPath(allowed, flow, spare, unsent, supply));) {
    const first = path[0].j,
      last = path[path.length - 1];
    let amount = Math.min(unsent[first], spare[last.i]);
    for (const step of path) if (step.back !== undefined) amount = Math.min(amount, flow[step.j][step.back]);
    for (const { j, k, back } of path) {
      flow[j][k] += amount;
      if (back !== undefined) flow[j][back] -= amount;
    }
    unsent[first] -= amount;
    spare[last.i] -= amount;
  }
  // What is left below a tie goes to one row, so that every column has an entry that carries flow.
  if (total(unsent) <= TIE)
    unsent.forEach((rest, j) => {
      if (rest > 0) flow[j][0] += rest;
    });
  return { flow, unsent };
}

/**
 * A shortest path from a column with supply to a row with spare capacity, as steps: column j takes the
 * flow at `back` (the edge by which j was reached) away and sends it along its edge k to row i.
 * @param {number[][]} allowed
 * @param {Float64Array[]} flow
 * @param {number[]} spare
 * @param {number[]} unsent
 * @param {number[]} supply
 * @returns {Step[] | null}
 */
function augmentingPath(allowed, flow, spare, unsent, supply) {
  const rounding = 1e-15;
  /** @type {Map<number, {j: number, k: number}>} */
  const fromColumn = new Map();
  /** @type {({i: number, back: number} | null)[]} */
  const fromRow = allowed.map(() => null);
  const seen = allowed.map((_, j) => unsent[j] > rounding * Math.max(supply[j], 1e-3));
  const queue = positions(allowed.length).filter((j) => seen[j]);
  for (let head = 0; head < queue.length; head++) {
    const j = queue[head];
    for (let k = 0; k < allowed[j].length; k++) {
      const i = allowed[j][k];
      if (fromColumn.has(i)) continue;
      fromColumn.set(i, { j, k });
      if (spare[i] > rounding) return trace(i, fromColumn, fromRow);
      for (let other = 0; other < allowed.length; other++) {
        if (seen[other]) continue;
        const back = allowed[other].indexOf(i);
        if (back < 0 || !(flow[other][back] > CARRIED * supply[other])) continue;
        seen[other] = true;
        fromRow[other] = { i, back };
        queue.push(other);
      }
    }
  }
  return null;
}

/** @type {(end: number, fromColumn: Map<number, {j: number, k: number}>, fromRow: ({i: number, back: number} | null)[]) => Step[]} */
function trace(end, fromColumn, fromRow) {
  /** @type {Step[]} */
  const path = [];
  for (let i = end, edge; (edge = fromColumn.get(i));) {
    const entry = fromRow[edge.j];
    path.unshift({ i, ...edge, back: entry?.back });
    if (!entry) break;
    i = entry.i;
  }
  return path;
}

/**
 * Which rows can be reached in the residual graph from a column that could not send everything.
 * @type {(allowed: number[][], flow: Float64Array[], supply: number[], unsent: number[], numRows: number) => boolean[]}
 */
function reachable(allowed, flow, supply, unsent, numRows) {
  const rows = new Array(numRows).fill(false);
  const columns = unsent.map((rest) => rest > TIE / unsent.length);
  const queue = positions(allowed.length).filter((j) => columns[j]);
  for (let head = 0; head < queue.length; head++)
    for (const i of allowed[queue[head]]) {
      if (rows[i]) continue;
      rows[i] = true;
      allowed.forEach((reach, j) => {
        const k = reach.indexOf(i);
        if (!columns[j] && k >= 0 && flow[j][k] > CARRIED * supply[j]) {
          columns[j] = true;
          queue.push(j);
        }
      });
    }
  return rows;
}

/**
 * Strongly connected components of the residual graph (Tarjan); nodes are columns, then rows.
 * @type {(allowed: number[][], flow: Float64Array[], supply: number[], numRows: number) => Component[]}
 */
function connected(allowed, flow, supply, numRows) {
  const numColumns = allowed.length;
  /** @type {number[][]} */
  const next = positions(numColumns + numRows).map(() => []);
  allowed.forEach((reach, j) =>
    reach.forEach((i, k) => {
      next[j].push(numColumns + i);
      if (flow[j][k] > CARRIED * supply[j]) next[numColumns + i].push(j);
    }),
  );
  const index = new Array(next.length).fill(-1),
    low = index.slice(),
    onStack = new Array(next.length).fill(false);
  /** @type {number[]} */
  const stack = [];
  /** @type {{rows: number[], columns: number[]}[]} */
  const parts = [];
  let counter = 0;
  /** @type {(node: number) => void} */
  const visit = (node) => {
    index[node] = low[node] = counter++;
    stack.push(node);
    onStack[node] = true;
    for (const target of next[node]) {
      if (index[target] < 0) visit(target);
      if (onStack[target]) low[node] = Math.min(low[node], low[target]);
    }
    if (low[node] !== index[node]) return;
    /** @type {{rows: number[], columns: number[]}} */
    const part = { rows: [], columns: [] };
    for (let member = -1; member !== node;) {
      member = stack.pop() ?? node;
      onStack[member] = false;
      if (member < numColumns) part.columns.push(member);
      else part.rows.push(member - numColumns);
    }
    part.rows.sort((a, b) => a - b);
    part.columns.sort((a, b) => a - b);
    parts.push(part);
  };
  for (let node = 0; node < next.length; node++) if (index[node] < 0) visit(node);
  return parts
    .filter(({ rows, columns }) => rows.length && columns.length)
    .map((part) => ({ ...part, reach: countColumns(next, part.columns[0], numColumns) }));
}

/**
 * How many columns can be reached from a node of the residual graph.
 * @type {(next: number[][], start: number, numColumns: number) => number}
 */
function countColumns(next, start, numColumns) {
  const seen = new Set([start]);
  for (const node of seen) for (const target of next[node]) seen.add(target);
  return [...seen].filter((node) => node < numColumns).length;
}

/** @type {(length: number) => number[]} */
export const positions = (length) => Array.from({ length }, (_, i) => i);
/** @type {(values: number[]) => number} */
export const total = (values) => values.reduce((sum, value) => sum + value, 0);
/** @type {(values: number[], where: number[]) => number} */
const sumAt = (values, where) => where.reduce((sum, k) => sum + values[k], 0);

/** @type {(where: number[], sums: number[]) => number[]} */
function shares(where, sums) {
  const all = sumAt(sums, where);
  return where.map((k) => sums[k] / all);
}
