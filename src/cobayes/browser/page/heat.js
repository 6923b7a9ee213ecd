/** Tables of numbers as heat maps, with sums as bars at the edges, and outlined blocks. */
import { shortened } from "./charts.js";
import { digits, drawing, svg } from "./dom.js";

const RIGHT = 84,
  TOP = 30,
  BOTTOM = 62,
  BAR = 38;

/**
 * One heat map, alone or at `x` within a larger drawing.
 * @param {{matrix: number[][], data: string[], hypotheses: string[], width: number, title: string, x?: number,
 *   blocks?: {rows: number[], columns: number[]}[] | null, rows?: number[], column?: number, hasSums?: boolean}} options
 *   `rows`, `column`: the rows and the column to outline.
 * @returns {{element: SVGElement, update: (matrix: number[][], sums?: Sums) => void}}
 *
 * @typedef {{rowSums: number[], columnSums: number[], rowGoals: number[] | null, columnGoals: number[] | null,
 *   isRows: boolean | null}} Sums `isRows`: whether rows were the last to be normalised.
 */
export function heatMap({
  matrix,
  data,
  hypotheses,
  width,
  title,
  x = 0,
  blocks = null,
  rows = [],
  column = -1,
  hasSums = true,
}) {
  const n = data.length,
    m = hypotheses.length;
  const longest = Math.max(...data.map((name) => name.length));
  const left = Math.min(Math.max(34, 7.2 * Math.min(longest, 17) + 12), width * 0.34),
    right = hasSums ? RIGHT : 4;
  const cellWidth = Math.min((width - left - right) / m, 118);
  const cellHeight = n > 14 ? 20 : n > 9 ? 26 : 34;
  const bottomEdge = TOP + n * cellHeight;
  const height = bottomEdge + (hasSums ? BOTTOM : 6);
  const element = drawing(width, height, title, "heat");
  element.setAttribute("x", x);
  const showNumbers = cellWidth >= 34;
  const limit = Math.max(3, Math.floor(cellWidth / 7.4));
  const middle = (j) => left + (j + 0.5) * cellWidth,
    centre = (i) => TOP + (i + 0.5) * cellHeight;
  const heads = [
    ...hypotheses.map((name, j) => [
      j === column,
      { x: middle(j), y: TOP - 10, "text-anchor": "middle" },
      shortened(name, limit),
    ]),
    ...data.map((name, i) => [
      rows.includes(i),
      { x: left - 10, y: centre(i) + 4, "text-anchor": "end" },
      shortened(name, Math.floor((left - 10) / 7)),
    ]),
  ];
  for (const [isOn, place, text] of heads)
    element.append(svg("text", { class: isOn ? "head on" : "head", ...place }, text));
  const cells = matrix.map((line, i) =>
    line.map((_, j) => {
      const box = { x: left + j * cellWidth, y: TOP + i * cellHeight };
      const size = { width: cellWidth - 2, height: cellHeight - 2 };
      const rect = svg("rect", { class: "cell", ...box, ...size, rx: 3 });
      const place = { x: middle(j) - 1, y: centre(i) + 3.5, "text-anchor": "middle" };
      const text = svg("text", { class: "value", ...place });
      element.append(rect, text);
      return { rect, text };
    }),
  );
  // Sums are bars; a mark shows the target of each sum.
  const barLeft = left + m * cellWidth + 8,
    barTop = bottomEdge + 6,
    thick = Math.min(cellWidth - 14, 30);
  const edge = !hasSums
    ? { rows: [], columns: [] }
    : {
        rows: data.map((_, i) => ({
          bar: svg("rect", { class: "sum-bar", x: barLeft, y: centre(i) - 6, height: 10, rx: 2 }),
          mark: svg("line", { class: "goal-mark", y1: centre(i) - 9, y2: centre(i) + 7 }),
          text: svg("text", { class: "sum", x: barLeft + BAR + 6, y: centre(i) + 3.5 }),
        })),
        columns: hypotheses.map((_, j) => ({
          bar: svg("rect", { class: "sum-bar", x: middle(j) - thick / 2 - 1, y: barTop, width: thick, rx: 2 }),
          mark: svg("line", { class: "goal-mark", x1: middle(j) - thick / 2 - 4, x2: middle(j) + thick / 2 + 2 }),
          text: svg("text", { class: "sum", x: middle(j) - 1, y: barTop + BAR + 14, "text-anchor": "middle" }),
        })),
      };
  for (const { bar, mark, text } of [...edge.rows, ...edge.columns]) element.append(bar, mark, text);
  const outlines = svg("g", { class: "outlines" });
  element.append(outlines);
  const frame = (i, j, tall, wide, name) =>
    svg("rect", {
      class: name,
      x: left + j * cellWidth - 2,
      y: TOP + i * cellHeight - 2,
      width: wide * cellWidth + 2,
      height: tall * cellHeight + 2,
      rx: 5,
    });
  for (const row of rows) outlines.append(frame(row, 0, 1, m, "pointed"));
  if (column >= 0) outlines.append(frame(0, column, n, 1, "pointed column"));
  (blocks ?? []).forEach((block, b) => {
    // Blocks need not be contiguous: each cell is outlined where its neighbour is outside the block.
    for (const i of block.rows)
      for (const j of block.columns)
        outlines.append(...edges(i, j, block, left - 1, TOP - 1, cellWidth, cellHeight, b));
  });

  const update = (values, sums = null) => {
    const largest = Math.max(...values.flat(), 1e-300);
    values.forEach((line, i) =>
      line.forEach((value, j) => {
        const share = Math.min(1, Math.max(0, value / largest)).toFixed(3);
        const cell = cells[i][j];
        const number = showNumbers ? fitted(value, 2, cellWidth - 4) : "";
        if (cell.share === share && cell.number === number) return;
        Object.assign(cell, { share, number });
        cell.rect.style.setProperty("--share", share);
        cell.text.textContent = number;
        // At the share 0.577 (dark scheme) or 0.787 (light scheme), black and white text have the same contrast, at least 4.5.
        cell.text.classList.toggle("mid", share > 0.577 && share <= 0.787);
        cell.text.classList.toggle("high", share > 0.787);
        cell.rect.classList.toggle("zero", value === 0);
      }),
    );
    if (!sums || !hasSums) return;
    showSums(edge.rows, sums.rowSums, sums.rowGoals, sums.isRows === true, RIGHT - BAR - 11, (one, share, goal) => {
      one.bar.setAttribute("width", share);
      one.mark.setAttribute("x1", barLeft + goal);
      one.mark.setAttribute("x2", barLeft + goal);
    });
    showSums(
      edge.columns,
      sums.columnSums,
      sums.columnGoals,
      sums.isRows === false,
      cellWidth - 4,
      (one, share, goal) => {
        one.bar.setAttribute("height", share);
        one.mark.setAttribute("y1", barTop + goal);
        one.mark.setAttribute("y2", barTop + goal);
      },
    );
  };
  update(matrix);
  return { element, update };
}

/** A number with the digits that fit into a width. */
function fitted(value, count, width) {
  const limit = Math.floor(width / 7);
  const texts = [digits(value, count), digits(value, 1), value.toExponential(0).replace("-", "−")];
  return texts.find((text) => text.length <= limit) ?? "";
}

/** Show sums as bars on one scale, with numbers no wider than `width`; `place` sets a bar's length and the place of its mark. */
function showSums(parts, sums, goals, isFresh, width, place) {
  const most = Math.max(...sums, ...(goals ?? []), 1e-300);
  parts.forEach((one, k) => {
    // Attributes are set only if they change: setting one makes the browser compute the layout again.
    const now = `${sums[k]} ${goals?.[k]} ${most} ${isFresh}`;
    if (one.shown === now) return;
    one.shown = now;
    place(one, Math.max(0.5, (BAR * sums[k]) / most), (BAR * (goals?.[k] ?? 0)) / most);
    one.text.textContent = fitted(sums[k], 3, width);
    one.text.classList.toggle("fresh", isFresh);
    one.bar.classList.toggle("fresh", isFresh);
    one.mark.classList.toggle("none", !goals);
  });
}

function edges(i, j, { rows, columns }, left, top, wide, tall, block) {
  const x1 = left + j * wide,
    x2 = left + (j + 1) * wide,
    y1 = top + i * tall,
    y2 = top + (i + 1) * tall;
  const line = (ax, ay, bx, by) => svg("line", { class: `block block-${block % 4}`, x1: ax, y1: ay, x2: bx, y2: by });
  return [
    rows.includes(i - 1) || line(x1, y1, x2, y1),
    rows.includes(i + 1) || line(x1, y2, x2, y2),
    columns.includes(j - 1) || line(x1, y1, x1, y2),
    columns.includes(j + 1) || line(x2, y1, x2, y2),
  ].filter((part) => part !== true);
}
