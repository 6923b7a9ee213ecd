/** Misjudge: the teacher is wrong about the learner's prior; how often is the truth still learned? */
import { frechetBounds, wilson } from "../twin/ensembles.js";
import { triangle, twoPriors } from "./charts.js";
import { h, percent, put } from "./dom.js";
import { figure } from "./figures.js";
import { startJob } from "./jobs.js";
import { probabilities, uniformOver } from "./lesson_data.js";
import { weightSliders } from "./settings.js";

/** A prior to start from: half of what the teacher assumes of the truth lies elsewhere. */
function misjudged(assumed, truth) {
  const half = assumed[truth] / 2,
    rest = 1 - assumed[truth];
  return assumed.map((p, j) => Number((j === truth ? half : p + (half * p) / rest).toFixed(4)));
}

/** Lessons of the quick answer while a hand moves, and of the slow one when it rests. */
const QUICK = 100,
  SLOW = 2000;

/** How many lessons and rounds the numbers on the screen come from, for those who repeat them. */
export const shownSuccess = { lessons: SLOW, depth: 0 };

export function misjudgeView(store) {
  let jobs = [],
    timer = null,
    shownFor = "",
    counts = null,
    proved = null;
  const number = h("p", { class: "number" });
  const gauge = h("div", { class: "gauge" });
  const sampled = h("p", { class: "sampled" });
  const bounds = h("p", { class: "bounds" });
  const fig = figure("The two priors", "");
  const sliders = weightSliders({
    title: "The learner’s prior",
    hint: "the teacher does not know it",
    names: (s) => s.table.hypotheses,
    values: (s) => s.learnerPrior,
    onChange: (values) =>
      store.set({ learnerPrior: values ?? uniformOver(store.state.table.hypotheses.length) }),
  });
  sliders.element.open = true;
  const scale = h("div", { class: "gauge-scale", "aria-hidden": "true" }, ...["0", "50 %", "100 %"].map((text) => h("span", {}, text)));
  const element = h(
    "div",
    { class: "view misjudge two" },
    fig.element,
    h(
      "section",
      { class: "panel" },
      h("h3", {}, "How often the truth is learned"),
      h("div", { class: "answer", "aria-live": "polite" }, number, gauge, scale, sampled, bounds),
      sliders.element,
    ),
  );

  function update(state) {
    const { hypotheses, matrix } = state.table;
    const m = hypotheses.length;
    if (!state.learnerPrior)
      return store.set({ learnerPrior: misjudged(probabilities(state.prior, m), state.truth) });
    const assumed = probabilities(state.prior, m),
      actual = probabilities(state.learnerPrior, m);
    sliders.update(state);
    drawPriors(hypotheses, assumed, actual);
    const key = JSON.stringify([
      matrix,
      state.truth,
      state.prior,
      state.learnerPrior,
      state.dataPrior,
      state.seed,
    ]);
    if (key === shownFor) return;
    shownFor = key;
    stopJobs();
    counts = proved = null;
    show(state, assumed, actual);
    if (!element.isConnected) return void (shownFor = "");
    ask(state, assumed, actual);
  }

  function drawPriors(hypotheses, assumed, actual) {
    const title = "The teacher's guess of the prior and the learner's own";
    const isTriangle = hypotheses.length === 3;
    fig.caption.textContent = isTriangle
      ? "Drag the learner’s prior. The teacher believes that it is the hollow one."
      : "Filled: the learner’s prior, set by the sliders. Hollow: what the teacher takes it to be.";
    fig.draw((width) =>
      isTriangle
        ? triangle({
            size: Math.min(width, 460),
            labels: hypotheses,
            title,
            markers: [
              { color: "var(--ink)", point: assumed, label: "teacher’s guess", isHollow: true },
              { color: "var(--scbi)", point: actual, label: "learner", isBelow: true },
            ],
            onDrag: (point) => store.set({ learnerPrior: point }),
          })
        : twoPriors({ width, labels: hypotheses, hollow: assumed, filled: actual, color: "var(--scbi)", title }),
    );
  }

  /** Ask for the bounds and a quick estimate at once, and for a good one when the hand rests. */
  function ask(state, assumed, actual) {
    const settings = {
      matrix: state.table.matrix,
      rule: { kind: "SCBI" },
      hypothesis: state.truth,
      prior: assumed,
      learnerPrior: actual,
      dataPrior: state.dataPrior,
      seed: state.seed,
    };
    const begin = (name, more, take, then = () => {}) => {
      const mine = startJob(name, { ...settings, ...more }, (part) => isMine() && take(part));
      const isMine = () => jobs.includes(mine);
      jobs.push(mine);
      mine.result.then(
        (value) => isMine() && (take(value), then()),
        (error) => put(sampled, `The computation failed: ${error.message}`),
      );
    };
    const takeCounts = (found) => {
      if (found.finished + found.unfinished < QUICK) return;
      counts = found;
      show(state, assumed, actual);
    };
    const takeBounds = (found) => {
      proved = found;
      show(state, assumed, actual);
    };
    begin("successEnclosure", {}, takeBounds);
    begin("successRate", { numLessons: QUICK }, takeCounts, () => {
      timer = setTimeout(() => begin("successRate", { numLessons: SLOW }, takeCounts), 250);
    });
  }

  function show(state, assumed, actual) {
    const { matrix, hypotheses } = state.table;
    const isPositive = matrix.every((row) => row.every((value) => value > 0));
    const first = isPositive
      ? frechetBounds(assumed[state.truth], actual[state.truth])
      : { lower: 0, upper: 1 };
    const { lower, upper, depth } = proved ?? { ...first, depth: 0 };
    const found = counts ? wilson(counts.successes, counts.finished + counts.unfinished) : null;
    put(
      number,
      h("b", {}, found ? percent(found.value) : "…"),
      h("span", {}, ` of lessons end at “${hypotheses[state.truth]}”`),
    );
    const mark = (name, from, to) =>
      h("span", {
        class: name,
        style: { left: `${100 * from}%`, width: `${100 * Math.max(to - from, 0.005)}%` },
      });
    put(
      gauge,
      mark("proved", lower, upper),
      found ? mark("interval", found.lower, found.upper) : null,
      found ? mark("value", found.value, found.value) : null,
    );
    put(
      sampled,
      h("i", { class: "key interval" }),
      found
        ? `95 % interval ${percent(found.lower)} to ${percent(found.upper)}, from ${counts.finished + counts.unfinished} lessons${counts.unfinished ? ` (${counts.unfinished} unfinished)` : ""}`
        : "teaching …",
    );
    put(
      bounds,
      h("i", { class: "key proved" }),
      `Proved: between ${percent(lower)} and ${percent(upper)}, by all data of ${depth} round${depth === 1 ? "" : "s"}`,
      isPositive ? `; ${percent(first.lower)} to ${percent(first.upper)} for every table without zeros` : "",
    );
    if (counts) shownSuccess.lessons = counts.finished + counts.unfinished;
    shownSuccess.depth = depth;
    Object.assign(number.dataset, { value: found ? String(found.value) : "" });
    Object.assign(bounds.dataset, { lower: String(lower), upper: String(upper), depth: String(depth) });
  }

  function stopJobs() {
    for (const job of jobs) job.cancel();
    jobs = [];
    clearTimeout(timer);
  }
  const stop = () => {
    stopJobs();
    shownFor = "";
  };

  /** The numbers of the screen as rows: the priors, and success beside the truth. */
  function csv() {
    const { table, truth, prior, learnerPrior } = store.state;
    const m = table.hypotheses.length;
    const lessons = counts ? counts.finished + counts.unfinished : 0;
    const { value, lower, upper } = counts ? wilson(counts.successes, lessons) : {};
    const answer = [value, lower, upper, lessons, proved?.lower, proved?.upper, proved?.depth];
    const names = ["success", "interval_lower", "interval_upper", "lessons", "proved_lower", "proved_upper", "depth"];
    return [
      ["hypothesis", "assumed", "learner", ...names],
      ...table.hypotheses.map((name, j) => [
        name,
        probabilities(prior, m)[j],
        probabilities(learnerPrior, m)[j],
        ...answer.map((part) => (j === truth ? (part ?? "") : "")),
      ]),
    ];
  }
  return { element, update, stop, csv };
}
