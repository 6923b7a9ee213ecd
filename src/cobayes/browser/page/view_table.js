/** The table: edit cells, paste a table, choose an example, or draw a random table. */
import { Random } from "../twin/random.js";
import { button, digits, h, numberField, put, slider } from "./dom.js";
import { FRESH } from "./state.js";
import { parseTable, problems, proportionalColumns, readNumber } from "./tables.js";

const MAX_EDITED = 600;

export function tableView(store) {
  const grid = h("div", { class: "scroll grid-holder", tabindex: 0, role: "region", "aria-label": "table of numbers" });
  const message = h("p", { class: "message", role: "status" });
  const paste = h("textarea", {
    id: "paste",
    rows: 6,
    spellcheck: "false",
    placeholder: "datum\tcup\tbowl\nlook left\t0.2\t0.1\nlook right\t0.1\t0.3",
  });
  const pasteMessage = h("p", { class: "message", role: "status" });
  paste.addEventListener("input", () => {
    const { table, message: text } = parseTable(paste.value);
    say(pasteMessage, text || `Read ${table.data.length} data and ${table.hypotheses.length} hypotheses.`, !table);
    if (table) take(table);
  });
  const random = { rows: 5, columns: 3, seed: 1, zeros: 0 };
  const fields = [
    ["Data", "rows", 2, 30],
    ["Hypotheses", "columns", 2, 12],
    ["Seed", "seed", 0, 2 ** 32 - 1],
  ].map(([label, name, min, max]) =>
    numberField({
      label,
      value: random[name],
      min,
      max,
      step: 1,
      onChange: (value) => (random[name] = Math.floor(value)),
    }),
  );
  const element = h(
    "div",
    { class: "view table-view" },
    h(
      "div",
      {},
      grid,
      message,
      h(
        "div",
        { class: "row" },
        button("+ datum", () => resize(1, 0), { "aria-label": "add a datum" }),
        button("− datum", () => resize(-1, 0), { "aria-label": "remove the last datum" }),
        button("+ hypothesis", () => resize(0, 1), { "aria-label": "add a hypothesis" }),
        button("− hypothesis", () => resize(0, -1), { "aria-label": "remove the last hypothesis" }),
      ),
    ),
    h(
      "div",
      { class: "stacked" },
      h(
        "section",
        { class: "panel" },
        h("h3", {}, h("label", { for: "paste" }, "Paste from a spreadsheet")),
        paste,
        pasteMessage,
      ),
      h(
        "section",
        { class: "panel" },
        h("h3", {}, "Draw a random table"),
        h("div", { class: "fields" }, ...fields),
        slider({
          label: "Share of zeros",
          min: 0,
          max: 0.6,
          step: 0.05,
          value: 0,
          onInput: (value) => (random.zeros = value),
        }),
        button("Draw the table", () => take(randomTable(random)), { class: "primary" }),
      ),
    ),
  );
  grid.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!/[\t\n]/.test(text.trim())) return;
    event.preventDefault();
    paste.value = text;
    paste.dispatchEvent(new Event("input"));
  });

  function take(table) {
    store.set({ ...FRESH, table, example: "", truth: 0 });
  }

  function resize(rows, columns) {
    const { data, hypotheses, matrix } = store.state.table;
    const next = structuredClone({ data, hypotheses, matrix });
    const fresh = (names, letter) => {
      let k = names.length + 1;
      while (names.includes(`${letter}${k}`)) k++;
      return `${letter}${k}`;
    };
    if (rows > 0) (next.data.push(fresh(data, "d")), next.matrix.push(hypotheses.map(() => 1)));
    if (rows < 0 && data.length > 2) (next.data.pop(), next.matrix.pop());
    if (columns > 0) (next.hypotheses.push(fresh(hypotheses, "h")), next.matrix.forEach((row) => row.push(1)));
    if (columns < 0 && hypotheses.length > 2) (next.hypotheses.pop(), next.matrix.forEach((row) => row.pop()));
    const [problem] = problems(next);
    if (problem) say(message, problem.message, true);
    else take(next);
  }

  let known = null;
  function update(state) {
    if (known === state.table) return;
    known = state.table;
    build(state.table);
  }

  /** Make fields for a copy of the table; the copy replaces the page's table whenever it is valid. */
  function build(table) {
    const draft = structuredClone(table);
    const inputs = [];
    const isLarge = table.data.length * table.hypotheses.length > MAX_EDITED;
    const check = () => {
      const found = problems(draft);
      [...inputs, ...Object.values(names)].flat().forEach((input) => mark(input, ""));
      for (const { row, column, message: text } of found)
        if (row !== undefined && column !== undefined) mark(inputs[row][column], text);
        else if (row !== undefined) mark(names.data[row], text);
        else if (column !== undefined) mark(names.hypotheses[column], text);
      report(found[0]);
      if (found.length) return;
      known = structuredClone(draft);
      store.set({ table: known, example: "", picks: [], round: 0 });
    };
    /** Show the first error of the table; without errors, describe the table and colour its cells. */
    const report = (problem) => {
      if (problem) return say(message, problem.message, true);
      const most = Math.max(...draft.matrix.flat());
      draft.matrix.forEach((row, i) =>
        row.forEach((value, j) => inputs[i][j].parentElement.style.setProperty("--share", value / most)),
      );
      const pair = proportionalColumns(draft);
      const twins = pair?.map((j) => `“${draft.hypotheses[j]}”`).join(" and ");
      if (pair) say(message, `${twins} have proportional columns: no data can tell them apart.`, true);
      else say(message, summary(draft), false);
    };
    const cell = (value, i, j) => {
      const input = h("input", {
        type: "text",
        inputmode: "decimal",
        value: String(value),
        "aria-label": `${table.data[i]}, ${table.hypotheses[j]}`,
        disabled: isLarge,
      });
      input.addEventListener("input", () => {
        draft.matrix[i][j] = readNumber(input.value);
        check();
      });
      input.addEventListener("keydown", (event) => {
        const down = { ArrowUp: -1, ArrowDown: 1, Enter: 1 }[event.key];
        if (down) inputs[i + down]?.[j].focus();
      });
      return input;
    };
    const name = (list, k, what) => {
      const input = h("input", {
        type: "text",
        class: "name",
        value: list[k],
        maxlength: 80,
        "aria-label": `name of ${what} ${k + 1}`,
      });
      input.addEventListener("input", () => {
        list[k] = input.value.trim();
        check();
      });
      return input;
    };
    const names = {
      data: table.data.map((_, i) => name(draft.data, i, "datum")),
      hypotheses: table.hypotheses.map((_, j) => name(draft.hypotheses, j, "hypothesis")),
    };
    table.matrix.forEach((row, i) => inputs.push(row.map((value, j) => cell(value, i, j))));
    put(
      grid,
      h(
        "table",
        { class: "edit" },
        h(
          "thead",
          { style: { "--letters": longest(table.hypotheses) } },
          h("tr", {}, h("td", {}), ...names.hypotheses.map((input) => h("th", { scope: "col" }, input))),
        ),
        h(
          "tbody",
          { style: { "--letters": longest(table.data) } },
          ...inputs.map((line, i) =>
            h("tr", {}, h("th", { scope: "row" }, names.data[i]), ...line.map((input) => h("td", {}, input))),
          ),
        ),
      ),
    );
    report();
  }
  return { element, update, csv: () => csvRows(store.state.table) };
}

/** Mark a field as wrong, with the reason beside it; an empty reason removes the mark. */
function mark(input, text) {
  input.classList.toggle("wrong", text !== "");
  input.setAttribute("aria-invalid", String(text !== ""));
  input.title = text;
  const place = input.parentElement;
  let note = place?.querySelector(".cell-note");
  if (text === "") return note?.remove();
  if (!note && place) place.append((note = h("span", { class: "cell-note" })));
  if (note) note.textContent = text.replace(/^“.*?”, “.*?”: /, "");
}

function say(place, text, isBad) {
  place.textContent = text;
  place.classList.toggle("bad", isBad);
}

function summary({ matrix, data, hypotheses }) {
  const zeros = matrix.flat().filter((value) => value === 0).length;
  const share = zeros
    ? `${zeros} ${zeros === 1 ? "zero" : "zeros"} (${digits((100 * zeros) / (data.length * hypotheses.length), 2)} %)`
    : "no zeros";
  return `${data.length} data, ${hypotheses.length} hypotheses, ${share}.`;
}

const csvRows = ({ data, hypotheses, matrix }) => [
  ["datum", ...hypotheses],
  ...matrix.map((row, i) => [data[i], ...row]),
];

/** Random columns, uniform on the simplex and rounded to three decimals, with a share of zeros. */
function randomTable({ rows, columns, seed, zeros }) {
  const rng = new Random(seed);
  const drawn = Array.from({ length: columns }, () => rng.simplex(rows));
  const matrix = Array.from({ length: rows }, (_, i) =>
    drawn.map((column) => Math.max(0.001, Number(column[i].toFixed(3)))),
  );
  const isFilled = (i, j) => matrix[i].filter((x) => x > 0).length > 1 && matrix.filter((row) => row[j] > 0).length > 1;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) if (rng.uniform() < zeros && isFilled(i, j)) matrix[i][j] = 0;
  const names = (count, letter) => Array.from({ length: count }, (_, k) => `${letter}${k + 1}`);
  return { data: names(rows, "d"), hypotheses: names(columns, "h"), matrix };
}

/** The width, in letters, of a column of names: at most 16; longer names scroll inside their field. */
const longest = (list) => String(Math.min(16, Math.max(...list.map((name) => name.length))));
