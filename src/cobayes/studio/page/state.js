/** What the page shows, in one plain object: kept, watched, and written into the address. */
import { problems } from "./tables.js";

/** @typedef {import("./tables.js").Table} Table */

export const VIEWS = ["lesson", "table", "compare", "misjudge", "play", "grid"];

const BOARD = {
  width: 7,
  height: 5,
  start: [4, 3],
  goals: { A: [0, 0], B: [0, 6] },
  walls: [],
  discount: 0.3,
};

/** The state with which a page begins; `table` and `truth` come from the example. */
export const DEFAULTS = {
  view: "lesson",
  example: "",
  table: null,
  truth: 0,
  prior: null,
  dataPrior: null,
  choice: "draw",
  // Chosen among 200 so that the first lesson shows the rules apart; averages are under Compare.
  seed: 7,
  round: 0,
  picks: [],
  depth: 1,
  rationality: 1,
  literal: "likelihood",
  repeats: true,
  frame: 0,
  why: "SCBI",
  learnerPrior: null,
  rounds: 40,
  lessons: 400,
  playTeacher: "SCBI",
  playSeed: 1,
  playShown: 1,
  board: BOARD,
  walker: "SCBI",
  goal: 0,
  steps: 0,
};

/** How each value of the state is checked when it comes from an address. */
const whole = (low, high) => (x) => Number.isInteger(x) && x >= low && x <= high;
const real = (low, high) => (x) => typeof x === "number" && x >= low && x <= high;
const oneOf =
  (...values) =>
  (x) =>
    values.includes(x);
const weights = (x) =>
  x === null ||
  (Array.isArray(x) &&
    x.length <= 200 &&
    x.every((v) => typeof v === "number" && v >= 0 && v < 1e9) &&
    x.some((v) => v > 0));
const isSquare = (x) => Array.isArray(x) && x.length === 2 && x.every(whole(0, 14));
const RULES = oneOf("BI", "Pragmatic", "SCBI");
const CHECKS = {
  view: oneOf(...VIEWS),
  example: (x) => typeof x === "string" && x.length < 100,
  table: (x) => x === null || isTable(x),
  truth: whole(0, 59),
  prior: weights,
  dataPrior: weights,
  choice: oneOf("draw", "likeliest", "you"),
  seed: whole(0, 2 ** 32 - 1),
  round: whole(0, 500),
  picks: (x) => Array.isArray(x) && x.length <= 500 && x.every(whole(0, 199)),
  depth: whole(0, 12),
  rationality: real(0.1, 10),
  literal: oneOf("likelihood", "truth"),
  repeats: (x) => typeof x === "boolean",
  frame: whole(0, 40),
  why: RULES,
  learnerPrior: weights,
  rounds: whole(1, 200),
  lessons: whole(10, 5000),
  playTeacher: RULES,
  playSeed: whole(0, 2 ** 32 - 1),
  playShown: whole(1, 200),
  board: isBoard,
  walker: RULES,
  goal: whole(0, 5),
  steps: whole(0, 200),
};

function isTable(x) {
  const isNames = (list) =>
    Array.isArray(list) && list.every((name) => typeof name === "string" && name.length <= 200);
  if (!x || !isNames(x.data) || !isNames(x.hypotheses) || !Array.isArray(x.matrix)) return false;
  if (x.matrix.length !== x.data.length || x.data.length > 200 || x.hypotheses.length > 60) return false;
  if (!x.matrix.every((row) => Array.isArray(row) && row.length === x.hypotheses.length)) return false;
  return problems(x).length === 0;
}

function isBoard(x) {
  if (
    !x ||
    !whole(2, 12)(x.width) ||
    !whole(2, 12)(x.height) ||
    !isSquare(x.start) ||
    !real(0.05, 0.99)(x.discount)
  )
    return false;
  const goals = Object.entries(x.goals ?? {});
  const squares = [x.start, ...goals.map(([, square]) => square)];
  const isInside = ([row, column]) => row < x.height && column < x.width;
  if (
    goals.length < 2 ||
    goals.length > 6 ||
    !goals.every(([label, square]) => /^[A-F]$/.test(label) && isSquare(square))
  )
    return false;
  if (!Array.isArray(x.walls) || !x.walls.every(isSquare)) return false;
  const keys = squares.map(String);
  return (
    squares.every(isInside) &&
    new Set(keys).size === keys.length &&
    !x.walls.some((wall) => keys.includes(String(wall)))
  );
}

/** Keeps the state; tells those who watch about changes. */
export class Store {
  /**
   * @param {{name: string, title: string, hypothesis: number, data: string[], hypotheses: string[],
   *   matrix: number[][], priors: Record<string, number[]>}[]} examples
   * @param {object} start What differs from the defaults.
   */
  constructor(examples, start) {
    this.examples = examples;
    this.first = { ...DEFAULTS, ...start };
    this.watchers = [];
    this.state = this.complete(this.first);
  }

  /** Make parts fit each other: lengths of priors, positions inside the table. */
  complete(state) {
    const example = this.examples.find(({ name }) => name === state.example);
    const next = { ...state };
    if (!next.table) {
      const found = example ?? this.examples[0];
      next.example = found.name;
      next.table = { data: found.data, hypotheses: found.hypotheses, matrix: found.matrix };
    }
    const n = next.table.data.length,
      m = next.table.hypotheses.length;
    next.truth = Math.min(next.truth, m - 1);
    next.picks = next.picks.filter((datum) => datum < n);
    for (const [name, size] of [
      ["prior", m],
      ["learnerPrior", m],
      ["dataPrior", n],
    ])
      if (next[name] && next[name].length !== size) next[name] = null;
    // The truth must be teachable: believed, and with a datum that may be shown.
    if (next.prior && !(next.prior[next.truth] > 0)) next.prior = null;
    if (next.dataPrior && !next.table.matrix.some((row, i) => next.dataPrior[i] > 0 && row[next.truth] > 0))
      next.dataPrior = null;
    next.goal = Math.min(next.goal, Object.keys(next.board.goals).length - 1);
    return next;
  }

  watch(listener) {
    this.watchers.push(listener);
  }

  /** Change some values. */
  set(changes) {
    const before = this.state;
    this.state = this.complete({ ...before, ...changes });
    for (const listener of this.watchers) listener(this.state, before);
  }

  /** Choose an example: its table, what it teaches, no priors. */
  chooseExample(name) {
    const example = this.examples.find((one) => one.name === name);
    if (example)
      this.set({
        example: name,
        table: null,
        truth: example.hypothesis,
        prior: null,
        dataPrior: null,
        learnerPrior: null,
        picks: [],
        round: 0,
        playShown: 1,
      });
  }

  /** The state as text for an address: only what differs from the page's first state. */
  encode() {
    const first = this.complete(this.first);
    const changed = {};
    const example = this.examples.find(({ name }) => name === this.state.example);
    for (const key of Object.keys(DEFAULTS)) {
      const value = this.state[key];
      if (key === "table") {
        const own = example
          ? { data: example.data, hypotheses: example.hypotheses, matrix: example.matrix }
          : first.table;
        if (JSON.stringify(value) !== JSON.stringify(own)) changed.table = value;
      } else if (JSON.stringify(value) !== JSON.stringify(first[key])) changed[key] = value;
    }
    return toBase64(JSON.stringify(changed));
  }

  /**
   * Take over what an address says; values that are not valid are left out.
   * @returns {boolean} Whether it could be read.
   */
  decode(text) {
    let found;
    try {
      found = JSON.parse(fromBase64(text));
    } catch {
      return false;
    }
    if (!found || typeof found !== "object" || Array.isArray(found)) return false;
    const next = { ...this.first };
    for (const [key, isValid] of Object.entries(CHECKS))
      if (key in found && isValid(found[key])) next[key] = found[key];
    if ("example" in found && !("table" in found)) next.table = null;
    this.set(next);
    return true;
  }
}

function toBase64(text) {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return new TextDecoder("utf-8", { fatal: true }).decode(
    Uint8Array.from(binary, (sign) => sign.charCodeAt(0)),
  );
}
