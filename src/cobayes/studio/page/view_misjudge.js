/** Misjudge: the teacher is wrong about the learner's prior; how often is the truth still learned? */
import { frechetBounds, wilson } from "../twin/ensembles.js";
import { HYPOTHESIS_COLORS, triangle } from "./charts.js";
import { digits, h, percent, put } from "./dom.js";
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

export function misjudgeView(store) {
  let job = null,
    timer = null,
    shownFor = "";
  const number = h("p", { class: "number" });
  const gauge = h("div", { class: "gauge" });
  const text = h("p", { class: "soft" });
  const fig = figure(
    "The two priors",
    "Drag the learner’s prior. The teacher believes that it is the hollow one.",
  );
  const sliders = weightSliders({
    title: "The learner’s prior",
    hint: "the teacher does not know it",
    names: (s) => s.table.hypotheses,
    values: (s) => s.learnerPrior,
    onChange: (values) =>
      store.set({ learnerPrior: values ?? uniformOver(store.state.table.hypotheses.length) }),
  });
  sliders.element.open = true;
  const element = h(
    "div",
    { class: "view misjudge" },
    h(
      "p",
      { class: "intro" },
      "Teacher and learner both follow SCBI, but the teacher is wrong about what the learner believes at first. Its lesson is meant for somebody else; sometimes the learner ends at a wrong hypothesis.",
    ),
    h(
      "div",
      { class: "two" },
      fig.element,
      h(
        "section",
        { class: "panel", "aria-live": "polite" },
        h("h3", {}, "How often the truth is learned"),
        number,
        gauge,
        text,
        sliders.element,
      ),
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
    fig.element.hidden = m !== 3;
    if (m === 3)
      fig.draw((width) =>
        triangle({
          size: Math.min(width, 440),
          labels: hypotheses,
          colors: HYPOTHESIS_COLORS,
          title: "The teacher's guess of the prior and the learner's own",
          markers: [
            { color: "var(--ink)", point: assumed, label: "teacher’s guess", isHollow: true },
            { color: "var(--scbi)", point: actual, label: "learner", isBelow: true },
          ],
          onDrag: (point) => store.set({ learnerPrior: point }),
        }),
      );
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
    job?.cancel();
    clearTimeout(timer);
    show(state, assumed, actual, null);
    if (!element.isConnected) return void (shownFor = "");
    ask(
      state,
      assumed,
      actual,
      QUICK,
      () => (timer = setTimeout(() => ask(state, assumed, actual, SLOW, () => {}), 250)),
    );
  }

  function ask(state, assumed, actual, numLessons, then) {
    const settings = {
      matrix: state.table.matrix,
      rule: { kind: "SCBI" },
      hypothesis: state.truth,
      prior: assumed,
      learnerPrior: actual,
      dataPrior: state.dataPrior,
      numLessons,
      seed: state.seed,
    };
    const mine = startJob(
      "successRate",
      settings,
      (counts) => mine === job && counts.finished >= QUICK && show(state, assumed, actual, counts),
    );
    job = mine;
    mine.result.then(
      (counts) => {
        if (mine !== job) return;
        show(state, assumed, actual, counts);
        then();
      },
      (error) => put(text, `The computation failed: ${error.message}`),
    );
  }

  function show(state, assumed, actual, counts) {
    const { matrix, hypotheses } = state.table;
    const isPositive = matrix.every((row) => row.every((value) => value > 0));
    const { lower, upper } = frechetBounds(assumed[state.truth], actual[state.truth]);
    const found = counts ? wilson(counts.successes, counts.finished + counts.unfinished) : null;
    put(
      number,
      h("b", {}, found ? percent(found.value) : "…"),
      h("span", {}, ` of lessons end at “${hypotheses[state.truth]}”`),
    );
    const mark = (name, from, to) =>
      h("span", {
        class: name,
        style: { left: `${100 * from}%`, width: `${100 * Math.max(to - from, 0.004)}%` },
      });
    put(
      gauge,
      isPositive ? mark("proved", lower, upper) : null,
      found ? mark("interval", found.lower, found.upper) : null,
      found ? mark("value", found.value, found.value) : null,
    );
    put(
      text,
      found
        ? `95 % interval ${percent(found.lower)} to ${percent(found.upper)} from ${counts.finished + counts.unfinished} lessons${counts.unfinished ? ` (${counts.unfinished} unfinished)` : ""}. `
        : "",
      isPositive
        ? `Proved for every table without zeros: between ${digits(lower)} and ${digits(upper)} (shaded).`
        : "The proved bounds need a table without zeros.",
    );
    number.dataset.value = found ? String(found.value) : "";
  }
  const stop = () => {
    job?.cancel();
    clearTimeout(timer);
    shownFor = "";
  };
  return { element, update, stop };
}
