/** Parts of the screens of an experiment: stimuli, the board, sliders, and the partner's belief. */
import { h, percent } from "../page/dom.js";
import { spoken, stimulus } from "./lesson.js";

/** A text with {names} replaced by values. */
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

/** The picture and the text of a datum or a hypothesis. Text is always a text node, never HTML. */
export function card(problem, label, name = "") {
  const { text, image, alt } = stimulus(problem, label);
  return h(
    "span",
    { class: `cobayes-card ${name}` },
    image && h("img", { src: image, alt: text ? "" : alt }),
    text && h("span", {}, text),
  );
}

export const choiceButton = (problem, label, act, attributes = {}) =>
  h(
    "button",
    { type: "button", class: "cobayes-place", "aria-label": spoken(problem, label), ...attributes, on: { click: act } },
    card(problem, label),
  );

/**
 * The data, on the problem's grid or else as a list. On a grid, each datum shows its rounds. If `choose` is given, each
 * datum is a button.
 * @param {CobayesLesson} lesson
 * @param {((datum: number) => void) | null} [choose]
 */
export function board(lesson, choose = null) {
  const { problem, shown } = lesson;
  const { data, grid } = problem;
  const cell = (i) => {
    const rounds = shown.flatMap((datum, k) => (datum === i ? [k + 1] : []));
    const isLast = !choose && shown[shown.length - 1] === i;
    const name = spoken(problem, data[i]) + (rounds.length ? `, shown in round ${rounds.join(", ")}` : "");
    const attributes = { "aria-label": name, class: `cobayes-place ${isLast ? "now" : rounds.length ? "past" : ""}` };
    const mark = grid && rounds.length ? h("span", { class: "cobayes-rounds" }, rounds.join(" ")) : null;
    if (!choose) return h("div", { role: "img", ...attributes }, card(problem, data[i]), mark);
    return h(
      "button",
      { type: "button", ...attributes, disabled: !lesson.isAvailable(i), on: { click: () => choose(i) } },
      card(problem, data[i]),
      mark,
    );
  };
  const cells = lesson.dataOrder.map(cell);
  if (!grid) return h("div", { class: "cobayes-choices" }, ...cells);
  return h("div", { class: "cobayes-grid", style: { "--columns": String(grid[1]) } }, ...cells);
}

/** One slider per hypothesis; each must be moved or clicked. `send` gets the values divided by their sum. */
export function ratingForm({ problem, hypothesisOrder }, texts, send) {
  const untouched = new Set(hypothesisOrder),
    inputs = [];
  const hint = h("p", { class: "cobayes-hint", role: "status" });
  const submit = h("button", { type: "submit", class: "jspsych-btn" }, texts.next);
  const check = () => {
    const isZero = inputs.every((input) => input.value === "0");
    submit.disabled = untouched.size > 0 || isZero;
    const reason = untouched.size ? filled(texts.touch, { left: untouched.size }) : isZero ? texts.zero : "";
    if (hint.textContent !== reason) hint.textContent = reason;
  };
  const rows = hypothesisOrder.map((j) => {
    const label = problem.hypotheses[j];
    const input = h("input", { type: "range", min: 0, max: 100, value: 50, "aria-label": spoken(problem, label) });
    const touch = () => {
      untouched.delete(j);
      input.classList.add("touched");
      check();
    };
    // A click on the handle is a response, too, although the value stays in the middle.
    for (const event of ["input", "click"]) input.addEventListener(event, touch);
    inputs[j] = input;
    const ends = h("span", { class: "cobayes-ends" }, h("span", {}, texts.low), h("span", {}, texts.high));
    return h("div", { class: "cobayes-slider" }, card(problem, label), h("span", {}, input, ends));
  });
  check();
  const finish = (event) => {
    event.preventDefault();
    const values = inputs.map((input) => Number(input.value));
    const sum = values.reduce((total, value) => total + value, 0);
    send(values.map((value) => value / sum));
  };
  const bar = h("div", { class: "cobayes-bar" }, hint, submit);
  return h("form", { class: "cobayes-rating", on: { submit: finish } }, ...rows, bar);
}

/** The partner's belief as bars. */
export function inside({ problem, hypothesisOrder, partner }, title) {
  const line = (j) => {
    const name = spoken(problem, problem.hypotheses[j]),
      value = partner.belief[j];
    const bar = h("meter", { min: 0, max: 1, value, "aria-label": name });
    return h("li", {}, h("span", {}, name), bar, h("span", {}, percent(value)));
  };
  return h("aside", { class: "cobayes-inside" }, title && h("p", {}, title), h("ul", {}, ...hypothesisOrder.map(line)));
}
