/** The card of one learner: its belief in numbers and bars, and the data it has seen. */
import { digits, h, percent, put, setText } from "./dom.js";

/** @returns {{element: HTMLElement, update: (state: object, lesson: object) => void}} */
export function ruleCard({ kind, title, note, color }) {
  const inTruth = h("b"),
    whichTruth = h("span");
  const subtitle = h("p", { class: "note" }, note);
  const bars = h("ul", { class: "bars" });
  const shown = h("p", { class: "shown" });
  const element = h(
    "article",
    { class: "card", style: { "--rule": color } },
    h("header", {}, h("h3", {}, title), subtitle),
    h("p", { class: "number" }, inTruth, whichTruth),
    bars,
    shown,
  );
  let rows = [],
    names = null;
  const update = (state, lesson) => {
    if (names !== state.table.hypotheses) {
      names = state.table.hypotheses;
      rows = names.map((name) => {
        const fill = h("span", { class: "fill" });
        const value = h("span", { class: "value" });
        const label = h("span", { class: "label", title: name }, name);
        return { line: h("li", {}, label, h("span", { class: "track" }, fill), value), fill, value };
      });
      put(bars, ...rows.map((row) => row.line));
    }
    if (kind === "Pragmatic")
      setText(
        subtitle,
        `recursion of depth ${state.depth}${state.rationality === 1 ? "" : `, rationality ${digits(state.rationality)}`}`,
      );
    const at = Math.min(state.round, lesson.logBeliefs.length - 1);
    const belief = lesson.logBeliefs[at].map(Math.exp);
    setText(inTruth, percent(belief[state.truth]));
    setText(whichTruth, ` belief in “${names[state.truth]}”`);
    rows.forEach(({ line, fill, value }, j) => {
      fill.style.setProperty("transform", `scaleX(${Math.max(belief[j], 0.002)})`);
      setText(value, percent(belief[j]));
      line.classList.toggle("truth", j === state.truth);
    });
    const data = lesson.data.slice(0, at),
      before = data.slice(-4, -1).map((i) => `${state.table.data[i]} · `);
    const blocked =
      lesson.impossible.includes(at) && at > 0 ? " The last datum was impossible for this learner; its belief does not change." : "";
    const over = lesson.isOver && state.round > at ? " No datum is left to show." : "";
    put(
      shown,
      ...(data.length
        ? [data.length > 4 ? "… " : "", ...before, h("b", {}, state.table.data[data[data.length - 1]])]
        : ["nothing shown yet"]),
      blocked || over ? h("em", {}, blocked + over) : null,
    );
  };
  return { element, update };
}
