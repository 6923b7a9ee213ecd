/**
 * Blocks of a table with zeros, for the limit of alternating row and column normalisation.
 *
 * Rows and columns split into blocks, each with one ratio of column sums to row sums; entries outside
 * the blocks vanish. Blocks come from maximum flows. Inside a block an entry survives if its row and
 * column lie in one strongly connected component of the residual graph. On a component the scaling
 * exists and is unique.
 */

/** Sums that differ by less than this share of the total are treated as equal. */
const TIE = 1e-12;
/** Flows below this share of a column's sum are treated as zero. */
const CARRIED = 1e-12;

/**
 * @typedef {{rows: number[], columns: number[], reach: number}} Component `reach`: the number of
 *   columns that can be reached from the component in the residual graph
 * @typedef {{rows: number[], columns: number[], ratio: number, components: Component[]}} Block
 */

/**
 * Split a table into blocks and find the entries that survive the scaling.
 * Rows with target zero (data that are not available) and columns with target zero (hypotheses with belief zero)
 * belong to no block, nor do columns that are zero in all rows with a positive target. Rows with a positive target that
 * are zero in all columns with a positive target form a last block of ratio zero.
 * @param {number[][]} matrix Data by hypotheses, not negative.
 * @param {number[]} rowSums Target sums, not negative; only their ratios matter.
 * @param {number[]} columnSums Target sums, not negative; only their ratios matter.
 * @returns {{blocks: Block[], support: boolean[][]}}
 */
export function scalingBlocks(matrix, rowSums, columnSums) {
  const support = matrix.map((row) => row.map(() => false));
  let rows = positions(rowSums.length).filter((i) => rowSums[i] > 0);
  const columns = positions(columnSums.length).filter((j) => columnSums[j] > 0 && rows.some((i) => matrix[i][j] > 0));
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
 * Decompose the subproblem of these rows and columns, and append its blocks to `blocks`.
 * @type {(matrix: number[][], rowSums: number[], columnSums: number[], rows: number[], columns: number[],
 *   blocks: Block[]) => void}
 */
function split(matrix, rowSums, columnSums, rows, columns, blocks) {
  const capacity = shares(rows, rowSums),
    supply = shares(columns, columnSums);
  const allowed = columns.map((j) => positions(rows.length).filter((i) => matrix[rows[i]][j] > 0));
  const { flow, unsent } = maximumFlow(allowed, supply, capacity);
  const next = residualGraph(allowed, flow, supply, rows.length);
  if (total(unsent) <= TIE) {
    const ratio = sumAt(columnSums, columns) / sumAt(rowSums, rows);
    const components = connected(next, columns.length).map((part) => ({
      rows: part.rows.map((i) => rows[i]),
      columns: part.columns.map((j) => columns[j]),
      reach: part.reach,
    }));
    blocks.push({ rows, columns, ratio, components });
    return;
  }
  // Split in two. The first part, with a ratio above the average, has the rows reached from columns with unsent supply,
  // and the columns that are positive only in these rows.
  const full = reachable(
    next,
    positions(columns.length).filter((j) => unsent[j] > TIE / columns.length),
  );
  const isFull = allowed.map((reach) => reach.every((i) => full.has(columns.length + i)));
  for (const keep of [true, false]) {
    const ownRows = rows.filter((_, i) => full.has(columns.length + i) === keep),
      ownColumns = columns.filter((_, j) => isFull[j] === keep);
    split(matrix, rowSums, columnSums, ownRows, ownColumns, blocks);
  }
}

/**
 * Send as much as possible from columns to rows, by shortest augmenting paths.
 * @param {number[][]} allowed The rows that each column may send to.
 * @param {number[]} supply The amount that each column has to send; the amounts sum to one.
 * @param {number[]} capacity The largest amount that each row can take; the amounts sum to one.
 */
function maximumFlow(allowed, supply, capacity) {
  const flow = allowed.map(() => new Float64Array(capacity.length));
  const spare = capacity.slice(),
    unsent = supply.slice();
  // Columns with few rows first: then most problems need no path longer than one edge.
  const order = positions(allowed.length).sort((a, b) => allowed[a].length - allowed[b].length);
  for (const j of order)
    for (const i of allowed[j]) {
      const sent = Math.min(unsent[j], spare[i]);
      flow[j][i] += sent;
      spare[i] -= sent;
      unsent[j] -= sent;
    }
  for (let path; (path = augmentingPath(allowed, flow, spare, unsent, supply));) {
    const first = path[0],
      last = path[path.length - 1];
    let amount = Math.min(unsent[first], spare[last]);
    for (let k = 2; k < path.length; k += 2) amount = Math.min(amount, flow[path[k]][path[k - 1]]);
    for (let k = 0; k < path.length; k += 2) {
      flow[path[k]][path[k + 1]] += amount;
      if (k) flow[path[k]][path[k - 1]] -= amount;
    }
    unsent[first] -= amount;
    spare[last] -= amount;
  }
  // Unsent supply below the tolerance goes to the column's first row, so that every column has an entry with flow.
  if (total(unsent) <= TIE) unsent.forEach((rest, j) => (flow[j][allowed[j][0]] += rest));
  return { flow, unsent };
}

/**
 * A shortest path from a column with unsent supply to a row with spare capacity: column, row, column, ..., row. Each column
 * sends more to the row after it, and takes the same amount back from the row before it.
 * @param {number[][]} allowed
 * @param {Float64Array[]} flow
 * @param {number[]} spare
 * @param {number[]} unsent
 * @param {number[]} supply
 * @returns {number[] | null}
 */
function augmentingPath(allowed, flow, spare, unsent, supply) {
  const rounding = 1e-15;
  const columnBefore = spare.map(() => -1),
    rowBefore = supply.map(() => -1);
  const seen = supply.map((sum, j) => unsent[j] > rounding * Math.max(sum, 1e-3));
  const queue = positions(supply.length).filter((j) => seen[j]);
  for (const j of queue)
    for (const i of allowed[j]) {
      if (columnBefore[i] >= 0) continue;
      columnBefore[i] = j;
      if (spare[i] > rounding) {
        const path = [];
        for (let row = i; row >= 0; row = rowBefore[path[0]]) path.unshift(columnBefore[row], row);
        return path;
      }
      for (const other of positions(supply.length))
        if (!seen[other] && flow[other][i] > CARRIED * supply[other]) {
          seen[other] = true;
          rowBefore[other] = i;
          queue.push(other);
        }
    }
  return null;
}

/**
 * The residual graph: nodes are columns, then rows. A column leads to the rows that it allows, a row to the columns
 * from which it takes flow.
 * @type {(allowed: number[][], flow: Float64Array[], supply: number[], numRows: number) => number[][]}
 */
function residualGraph(allowed, flow, supply, numRows) {
  const numColumns = allowed.length;
  /** @type {number[][]} */
  const next = positions(numColumns + numRows).map(() => []);
  allowed.forEach((reach, j) =>
    reach.forEach((i) => {
      next[j].push(numColumns + i);
      if (flow[j][i] > CARRIED * supply[j]) next[numColumns + i].push(j);
    }),
  );
  return next;
}

/** @type {(next: number[][], starts: number[]) => Set<number>} */
function reachable(next, starts) {
  const seen = new Set(starts);
  for (const node of seen) for (const target of next[node]) seen.add(target);
  return seen;
}

/**
 * Strongly connected components (nodes that can reach each other) that contain both rows and columns.
 * @type {(next: number[][], numColumns: number) => Component[]}
 */
function connected(next, numColumns) {
  const reach = next.map((_, node) => reachable(next, [node]));
  const nodes = positions(next.length);
  const mutual = nodes.map((node) => nodes.filter((other) => reach[node].has(other) && reach[other].has(node)));
  return mutual
    .filter((part, node) => part[0] === node && part[0] < numColumns && part[part.length - 1] >= numColumns)
    .map((part) => ({
      rows: part.filter((node) => node >= numColumns).map((node) => node - numColumns),
      columns: part.filter((node) => node < numColumns),
      reach: [...reach[part[0]]].filter((node) => node < numColumns).length,
    }));
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
