/** Curves and the triangle of beliefs, as SVG. */
import { digits, drawing, svg } from "./dom.js";

const MARGIN = { top: 28, right: 94, bottom: 36, left: 44 };

/**
 * Curves over rounds.
 * @param {{width: number, height?: number, xMax: number, yMin: number, yMax: number, xLabel?: string,
 *   yLabel: string, heading?: {text: string, color: string}, showY?: (y: number) => string, now?: number, onRound?: (round: number) => void,
 *   series: {name: string, color: string, dash?: string, values: number[], low?: number[], high?: number[],
 *   slope?: number, isFaint?: boolean}[], title: string}} options `slope`: the slope, per round,
 *   of a straight line for comparison. `isFaint`: whether the curve is thin and has no name. `heading`: a name for the whole chart
 *   instead of names at the ends of curves.
 */
export function lineChart(options) {
  const { width, height = 240, xMax, yMin, yMax, xLabel = "round", yLabel, showY = digits, series, title } = options;
  const isNarrow = width < 290 || options.heading !== undefined;
  const right = isNarrow ? 14 : MARGIN.right;
  const inner = { left: MARGIN.left, right: width - right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  const x = (round) => inner.left + (xMax ? round / xMax : 0) * (inner.right - inner.left);
  const y = (value) => inner.bottom - ((clamp(value, yMin, yMax) - yMin) / (yMax - yMin)) * (inner.bottom - inner.top);
  const root = drawing(width, height, title);
  for (const tick of ticks(yMin, yMax, 4)) {
    root.append(
      svg("line", { class: "rule", x1: inner.left, x2: inner.right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: inner.left - 8, y: y(tick) + 4, "text-anchor": "end" }, showY(tick)),
    );
  }
  for (const tick of ticks(0, xMax, isNarrow ? 4 : 6).filter(Number.isInteger))
    root.append(
      svg("text", { class: "tick", x: x(tick), y: inner.bottom + 17, "text-anchor": "middle" }, String(tick)),
    );
  root.append(
    svg("text", { class: "axis", x: inner.right, y: height - 3, "text-anchor": "end" }, xLabel),
    svg("text", { class: "axis", x: 0, y: 11 }, yLabel),
  );
  if (options.heading)
    root.append(
      svg(
        "text",
        { class: "name", x: inner.right, y: 12, "text-anchor": "end", style: { fill: options.heading.color } },
        options.heading.text,
      ),
    );
  if (options.now !== undefined)
    root.append(svg("line", { class: "now", x1: x(options.now), x2: x(options.now), y1: inner.top, y2: inner.bottom }));
  for (const { low, high, color } of series)
    if (low && high) {
      const there = high.map((value, k) => `${x(k)},${y(value)}`),
        back = low.map((value, k) => `${x(k)},${y(value)}`).reverse();
      root.append(svg("polygon", { class: "band", points: [...there, ...back].join(" "), style: { fill: color } }));
    }
  for (const { values, slope, color } of series)
    if (slope !== undefined && Number.isFinite(slope) && values.length)
      root.append(
        svg("line", {
          class: "slope",
          style: { stroke: color },
          x1: x(0),
          y1: y(values[0]),
          ...endOfSlope(values[0], slope, xMax, yMax, x, y),
        }),
      );
  // To keep curves that coincide visible, SCBI's solid curve, the last series, is drawn first, below the dashed ones, and each
  // dot is smaller than the dot below it.
  for (const { values, color, dash, isFaint, r } of series.map((one, k) => ({ ...one, r: 3 + k })).reverse()) {
    root.append(
      svg("polyline", {
        class: isFaint ? "curve faint" : "curve",
        points: values.map((value, k) => `${x(k)},${y(value)}`).join(" "),
        style: { stroke: color, "stroke-dasharray": dash || "none" },
      }),
    );
    if (values.length && !isFaint)
      root.append(
        svg("circle", {
          class: "dot",
          r,
          cx: x(values.length - 1),
          cy: y(values[values.length - 1]),
          style: { fill: color },
        }),
      );
  }
  if (!isNarrow) {
    const ends = spread(
      series
        .filter(({ values, isFaint }) => values.length && !isFaint)
        .map((one) => ({ ...one, at: y(one.values[one.values.length - 1]) })),
      15,
      inner,
    );
    for (const { name, color, at, values } of ends)
      root.append(svg("text", { class: "name", x: x(values.length - 1) + 9, y: at + 4, style: { fill: color } }, name));
  }
  if (options.onRound) {
    root.classList.add("clickable");
    root.addEventListener("pointerdown", (event) => {
      const box = root.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      options.onRound(Math.round(clamp((at - inner.left) / (inner.right - inner.left), 0, 1) * xMax));
    });
  }
  return root;
}

function endOfSlope(first, slope, xMax, yMax, x, y) {
  const last = slope > 0 ? Math.min(xMax, (yMax - first) / slope) : xMax;
  return { x2: x(last), y2: y(first + slope * last) };
}

/** Move overlapping labels apart. */
function spread(items, gap, { top, bottom }) {
  const sorted = [...items].sort((a, b) => a.at - b.at);
  for (let k = 1; k < sorted.length; k++) sorted[k].at = Math.max(sorted[k].at, sorted[k - 1].at + gap);
  const over = sorted.length ? sorted[sorted.length - 1].at - bottom : 0;
  if (over > 0) for (const item of sorted) item.at = Math.max(top, item.at - over);
  return sorted;
}

/** About `count` numbers between two ends, multiples of 1, 2 or 5 times a power of ten. */
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++)
    found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** One drawing of several charts, in a row or below each other. */
export function panels(charts, width, isRow, title) {
  const sizes = charts.map((chart) => Number(chart.getAttribute("height")));
  const height = isRow ? Math.max(...sizes) : sizes.reduce((sum, size) => sum + size, 0);
  charts.forEach((chart, k) => {
    chart.setAttribute("x", isRow ? (k * width) / charts.length : 0);
    chart.setAttribute("y", isRow ? 0 : sizes.slice(0, k).reduce((sum, size) => sum + size, 0));
    chart.removeAttribute("role");
  });
  return drawing(width, height, title, "", ...charts);
}

/**
 * The triangle of beliefs in three hypotheses.
 * @param {{size: number, labels: string[], title: string,
 *   paths: {color: string, dash?: string, points: number[][]}[],
 *   prior?: number[] | null,
 *   onDrag?: (point: number[]) => void}} options Points are three probabilities.
 */
export function triangle({ size, labels, title, paths, prior, onDrag }) {
  const side = size - 60,
    tall = (side * Math.sqrt(3)) / 2,
    left = 30,
    top = 26;
  const corners = [
    [left + side / 2, top],
    [left, top + tall],
    [left + side, top + tall],
  ];
  const place = (point) => [0, 1].map((axis) => point.reduce((sum, share, k) => sum + share * corners[k][axis], 0));
  const height = tall + 58;
  const root = drawing(size, height, title, "triangle");
  root.append(svg("polygon", { class: "frame", points: corners.map(String).join(" ") }));
  for (let share = 0.2; share < 0.99; share += 0.2)
    for (let k = 0; k < 3; k++) {
      const ends = [1, 2].map((step) =>
        place([0, 1, 2].map((axis) => (axis === k ? share : axis === (k + step) % 3 ? 1 - share : 0))),
      );
      root.append(svg("line", { class: "rule", x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1] }));
    }
  const fits = Math.floor(size / 2 / 7.2);
  const anchors = ["middle", "start", "end"];
  corners.forEach(([x, y], k) => {
    const at = { x: k === 0 ? x : k === 1 ? 0 : size, y: k === 0 ? y - 10 : y + 20 };
    root.append(
      svg("circle", { class: "vertex", r: 3, cx: x, cy: y }),
      svg("text", { class: "corner", ...at, "text-anchor": anchors[k] }, shortened(labels[k], fits)),
    );
  });
  for (const { color, dash, points, r } of paths.map((path, k) => ({ ...path, r: 4 + k })).reverse()) {
    const spots = points.map(place);
    root.append(
      svg("polyline", {
        class: "path",
        points: spots.map(String).join(" "),
        style: { stroke: color, "stroke-dasharray": dash || "none" },
      }),
    );
    // Dots for earlier rounds, if the path has at most 30 points: lines of length zero with round caps, all in one element.
    const past = spots.length > 30 ? [] : spots.slice(0, -1);
    const [x, y] = spots[spots.length - 1];
    root.append(
      svg("path", { class: "past", d: past.map(([a, b]) => `M${a} ${b}h0`).join(""), style: { stroke: color } }),
      svg("circle", { class: "dot", r, cx: x, cy: y, style: { fill: color } }),
    );
  }
  if (prior) {
    const [x, y] = place(prior);
    root.append(
      svg("circle", { class: "marker", r: 8, cx: x, cy: y }),
      svg("text", { class: "marker-name", x, y: y + 24, "text-anchor": "middle" }, "prior"),
    );
  }
  if (onDrag) makeDraggable(root, size, corners, onDrag);
  return root;
}

function makeDraggable(root, size, corners, onDrag) {
  root.classList.add("draggable");
  root.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    // The drawing is replaced while the point is dragged, so the listeners are on the window; the drawing's box is measured once.
    const box = root.getBoundingClientRect();
    const follow = ({ clientX, clientY }) =>
      onDrag(
        barycentric(
          [clientX - box.left, clientY - box.top].map((x) => (x * size) / box.width),
          corners,
        ),
      );
    const stop = () => removeEventListener("pointermove", follow);
    addEventListener("pointermove", follow);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, stop, { once: true });
    follow(event);
  });
}

/** The three probabilities that a point stands for; a point outside or near an edge is moved inside. */
function barycentric([px, py], [[ax, ay], [bx, by], [cx, cy]]) {
  const area = (by - cy) * (ax - cx) + (cx - bx) * (ay - cy);
  const a = ((by - cy) * (px - cx) + (cx - bx) * (py - cy)) / area;
  const b = ((cy - ay) * (px - cx) + (ax - cx) * (py - cy)) / area;
  const shares = [a, b, 1 - a - b].map((share) => Math.max(share, 0.01));
  const sum = shares.reduce((total, share) => total + share, 0);
  return shares.map((share) => Math.round((share / sum) * 1000) / 1000);
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** A name, cut to at most `limit` letters. */
export const shortened = (text, limit) => (text.length > limit ? `${text.slice(0, Math.max(1, limit - 1))}…` : text);
