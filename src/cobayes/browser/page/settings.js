/** The settings of a lesson: example, truth, priors, pragmatic rule, task. */
import { choice, h, numberField, put, shareSlider, slider, toggle } from "./dom.js";
import { probabilities } from "./lesson_data.js";

export function settingsPanel(store) {
  const { examples } = store;
  const set = (key) => (value) => store.set({ [key]: value });
  const example = choice({ label: "Table", onChange: (name) => name && store.chooseExample(name) });
  const truth = choice({
    label: "Truth (taught hypothesis)",
    onChange: (text) => store.set({ truth: Number(text), picks: [], round: 0 }),
  });
  const seed = numberField({
    label: "Seed of the draws",
    ...{ min: 0, max: 2 ** 32 - 1, step: 1 },
    onChange: (value) => store.set({ seed: Math.floor(value), round: 0 }),
  });
  const repeats = toggle({
    label: "a datum may be shown again",
    onChange: (value) => store.set({ repeats: value, picks: [], round: 0 }),
  });
  const depth = slider({
    label: "Depth of the pragmatic rule",
    ...{ min: 0, max: 12, step: 1, show: String, onInput: set("depth") },
  });
  const rationality = slider({ label: "Rationality", min: 0.1, max: 10, step: 0.1, onInput: set("rationality") });
  const literal = toggle({
    label: "literal learner uses the table without normalisation (RSA)",
    onChange: (value) => store.set({ literal: value ? "truth" : "likelihood" }),
  });
  truth.classList.add("truth-field");
  seed.classList.add("seed-field");
  repeats.classList.add("repeats-field");
  const prior = weightSliders({
    title: "Prior",
    hint: "the belief before the first datum",
    names: (s) => s.table.hypotheses,
    values: (s) => s.prior,
    floor: (k) => (k === store.state.truth ? 0.001 : 0),
    onChange: set("prior"),
  });
  const dataPrior = weightSliders({
    title: "Data prior",
    hint: "weight of each datum in every round; zero: not available",
    names: (s) => s.table.data,
    values: (s) => s.dataPrior,
    onChange: set("dataPrior"),
  });
  const element = h(
    "details",
    { class: "settings" },
    h("summary", {}, "Settings"),
    h(
      "div",
      { class: "settings-body" },
      h("div", { class: "part for-table" }, example, truth),
      h("div", { class: "part for-rule" }, depth, rationality, literal),
      h("div", { class: "part for-priors" }, prior.element, dataPrior.element),
      h("div", { class: "part for-draws" }, seed, repeats),
    ),
  );

  let shown = null,
    wasTable = false;
  function update(next) {
    // The priors are opened when the view of the table is entered, and closed when it is left.
    const isTable = next.view === "table";
    if (isTable !== wasTable) prior.element.open = dataPrior.element.open = isTable;
    wasTable = isTable;
    if (shown !== next.table || example.input.value !== next.example) {
      shown = next.table;
      const own = examples.some(({ name }) => name === next.example) ? [] : [["", "your table"]];
      example.setOptions([...own, ...examples.map(({ name, title }) => [name, title])], own.length ? "" : next.example);
      truth.setOptions(
        next.table.hypotheses.map((name, j) => [String(j), name]),
        String(next.truth),
      );
    }
    truth.set(String(next.truth));
    seed.set(next.seed);
    repeats.set(next.repeats);
    depth.set(next.depth);
    rationality.set(next.rationality);
    literal.set(next.literal === "truth");
    prior.update(next);
    dataPrior.update(next);
  }
  return { element, update };
}

/** Sliders for weights with sum one; weights can also be typed. `floor(k)` is the smallest value that can be set for weight k. */
function weightSliders({ title, hint, names, values, onChange, floor = () => 0 }) {
  const list = h("div", { class: "weights" });
  const reset = h("button", { type: "button", class: "quiet", on: { click: () => onChange(null) } }, "make uniform");
  const element = h(
    "details",
    { class: "group" },
    h("summary", {}, title, h("span", { class: "soft" }, ` ${hint}`)),
    list,
    reset,
  );
  let rows = [],
    known = null,
    shown = null,
    current = [];
  const change = (k, share) => {
    const rest = current.reduce((sum, value, j) => (j === k ? sum : sum + value), 0);
    const next = current.map((value, j) =>
      j === k ? share : rest > 0 ? (value * (1 - share)) / rest : (1 - share) / (current.length - 1),
    );
    onChange(next.map((value) => Number(value.toPrecision(6))));
  };
  function update(state) {
    const labels = names(state);
    // The sliders are set only if the labels or the weights have changed.
    if (known === labels && shown === values(state)) return;
    shown = values(state);
    current = probabilities(values(state), labels.length);
    if (known !== labels) {
      known = labels;
      rows = labels.map((name, k) =>
        shareSlider({
          label: name,
          value: current[k],
          onInput: (value) => change(k, Math.min(Math.max(value, floor(k)), 0.999)),
        }),
      );
      put(list, ...rows);
    }
    rows.forEach((row, k) => row.set(current[k]));
    reset.disabled = !values(state);
  }
  return { element, update };
}
