/** A table of numbers as a heat map, with its sums at the edges and blocks outlined. */
import { digits, svg } from "./dom.js";

/**
 * @param {{matrix: number[][], data: string[], hypotheses: string[], max: number, width: number, title: string,
 *   rowSums?: number[], columnSums?: number[], blocks?: {rows: number[], columns: number[]}[] | null,
 *   row?: number, column?: number}} options `row`, `column`: what to point out.
 * @returns {{element: SVGElement, update: (matrix: number[][], sums: object) => void}}
 */
export function heatMap({
  matrix,
  data,
  hypotheses,
  max,
  width,
  title,
  blocks = null,
  row = -1,
  column = -1,
}) {
  const n = data.length,
    m = hypotheses.length;
  const longest = Math.max(...data.map((name) => name.length));
  const left = Math.min(Math.max(40, 7 * Math.min(longest, 16) + 12), width * 0.32),
    right = 58;
  const cellWidth = Math.min((width - left - right) / m, 110);
  const cellHeight = n > 14 ? 20 : n > 9 ? 25 : 32;
  const top = 30,
    bottom = 34;
  const height = top + n * cellHeight + bottom;
  const element = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": title,
    class: "chart heat",
  });
  const showNumbers = cellWidth >= 34;
  const limit = Math.max(3, Math.floor(cellWidth / 7));
  hypotheses.forEach((name, j) =>
    element.append(
      svg(
        "text",
        {
          class: j === column ? "head on" : "head",
          x: left + (j + 0.5) * cellWidth,
          y: top - 10,
          "text-anchor": "middle",
        },
        cut(name, limit),
      ),
    ),
  );
  data.forEach((name, i) =>
    element.append(
      svg(
        "text",
        {
          class: i === row ? "head on" : "head",
          x: left - 10,
          y: top + (i + 0.5) * cellHeight + 4,
          "text-anchor": "end",
        },
        cut(name, Math.floor((left - 10) / 7)),
      ),
    ),
  );
  const cells = matrix.map((line, i) =>
    line.map((_, j) => {
      const box = { x: left + j * cellWidth, y: top + i * cellHeight };
      const rect = svg("rect", {
        class: "cell",
        ...box,
        width: cellWidth - 1.5,
        height: cellHeight - 1.5,
        rx: 2,
      });
      const text = svg("text", {
        class: "value",
        x: box.x + cellWidth / 2 - 0.75,
        y: box.y + cellHeight / 2 + 3.5,
        "text-anchor": "middle",
      });
      element.append(rect, text);
      return { rect, text };
    }),
  );
  const rowTexts = data.map((_, i) =>
    svg("text", { class: "sum", x: left + m * cellWidth + 8, y: top + (i + 0.5) * cellHeight + 4 }),
  );
  const columnTexts = hypotheses.map((_, j) =>
    svg("text", {
      class: "sum",
      x: left + (j + 0.5) * cellWidth,
      y: top + n * cellHeight + 16,
      "text-anchor": "middle",
    }),
  );
  element.append(...rowTexts, ...columnTexts);
  const outlines = svg("g", { class: "outlines" });
  element.append(outlines);
  const frame = (i, j, tall, wide, name) =>
    svg("rect", {
      class: name,
      x: left + j * cellWidth - 1.5,
      y: top + i * cellHeight - 1.5,
      width: wide * cellWidth + 1.5,
      height: tall * cellHeight + 1.5,
      rx: 4,
    });
  if (row >= 0) outlines.append(frame(row, 0, 1, m, "pointed"));
  if (column >= 0) outlines.append(frame(0, column, n, 1, "pointed column"));
  (blocks ?? []).forEach((block, b) => {
    // Blocks need not be contiguous: every cell gets the edges that its neighbours do not share.
    for (const i of block.rows)
      for (const j of block.columns)
        outlines.append(...edges(i, j, block, left, top, cellWidth, cellHeight, b));
  });

  const update = (values, { rowSums = null, columnSums = null } = {}, largest = max) => {
    values.forEach((line, i) =>
      line.forEach((value, j) => {
        const share = Math.min(1, Math.max(0, value / largest)).toFixed(3);
        const cell = cells[i][j];
        const number = showNumbers ? digits(value, 2) : "";
        if (cell.share === share && cell.number === number) return;
        Object.assign(cell, { share, number });
        cell.rect.style.setProperty("--share", share);
        cell.text.textContent = number;
        cell.text.classList.toggle("light", share > 0.55);
        cell.rect.classList.toggle("zero", value === 0);
      }),
    );
    rowTexts.forEach((text, i) => (text.textContent = rowSums ? `Σ ${digits(rowSums[i], 3)}` : ""));
    columnTexts.forEach(
      (text, j) => (text.textContent = columnSums ? `${m <= 6 ? "Σ " : ""}${digits(columnSums[j], 2)}` : ""),
    );
  };
  update(matrix);
  return { element, update };
}

function edges(i, j, { rows, columns }, left, top, wide, tall, block) {
  const x1 = left + j * wide - 1,
    x2 = left + (j + 1) * wide - 1,
    y1 = top + i * tall - 1,
    y2 = top + (i + 1) * tall - 1;
  const line = (ax, ay, bx, by) =>
    svg("line", { class: `block block-${block % 4}`, x1: ax, y1: ay, x2: bx, y2: by });
  return [
    rows.includes(i - 1) || line(x1, y1, x2, y1),
    rows.includes(i + 1) || line(x1, y2, x2, y2),
    columns.includes(j - 1) || line(x1, y1, x1, y2),
    columns.includes(j + 1) || line(x2, y1, x2, y2),
  ].filter((part) => part !== true);
}

export const cut = (text, limit) =>
  text.length > limit ? `${text.slice(0, Math.max(1, limit - 1))}…` : text;
