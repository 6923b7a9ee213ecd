/** Compare the rules over many lessons: mean and quantiles of the belief by round, and the rounds until it is 95 %. */
import { lineChart, panels } from "./charts.js";
import { announce, button, digits, h, headedTable, numberField, percent, put } from "./dom.js";
import { figure } from "./figures.js";
import { startSimulation } from "./jobs.js";
import { LESSON_KEYS, RULE_LIST, keyOf, ratesOf, ruleCurves, ruleSettings } from "./lesson_data.js";

const KEYS = [...LESSON_KEYS, "rounds", "lessons"];

export function compareView(store) {
  let jobs = [],
    results = null,
    shownFor = "";
  const count = (label, key, min, max, step) =>
    numberField({ label, min, max, step, onChange: (value) => store.set({ [key]: Math.floor(value) }) });
  const rounds = count("Rounds", "rounds", 1, 200, 1),
    lessons = count("Lessons per rule", "lessons", 10, 5000, 10);
  const run = button("Run", () => (jobs.length ? cancel() : start()), { class: "primary" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "lessons done" });
  const status = h("span", { class: "soft", role: "status" });
  const fig = figure(
    "Belief in the truth, over many lessons",
    "Lines: mean belief; faint lines: the other two rules. Bands: from the 10 % to the 90 % quantile over the lessons.",
  );
  const reached = figure(
    "Lessons that have reached 95 %",
    "For each round: the share of lessons in which the belief in the truth has reached 95 %.",
  );
  const body = h("tbody");
  const head = ["rule", "median rounds to 95 %", "lessons that reached 95 %", "mean final belief", "rate (nats per round)"];
  const element = h(
    "div",
    { class: "view compare" },
    h("div", { class: "row controls" }, rounds, lessons, run, bar, status),
    fig.element,
    h(
      "div",
      { class: "two results-two" },
      reached.element,
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "results" },
        headedTable(head, body, { class: "results" }),
      ),
    ),
  );

  function settings(state, kind) {
    return {
      matrix: state.table.matrix,
      rule: ruleSettings(state, kind),
      hypothesis: state.truth,
      prior: state.prior,
      dataPrior: state.dataPrior,
      noRepeats: !state.repeats,
      numRounds: state.rounds,
      numLessons: state.lessons,
      seed: state.seed,
    };
  }

  function start() {
    const { state } = store;
    const done = RULE_LIST.map(() => 0);
    shownFor = keyOf(state, KEYS);
    put(run, "Cancel");
    bar.hidden = false;
    bar.value = 0;
    const show = () => {
      const sum = done.reduce((total, count) => total + count, 0);
      bar.value = sum / (state.lessons * done.length);
      status.textContent = `${sum} of ${state.lessons * done.length} lessons`;
    };
    jobs = RULE_LIST.map(({ kind }, k) =>
      startSimulation(settings(state, kind), (count) => ((done[k] = count), show())),
    );
    const mine = jobs;
    Promise.all(jobs.map((job, k) => job.result.then((value) => ((done[k] = state.lessons), show(), value)))).then(
      (values) => {
        if (jobs !== mine) return;
        jobs = [];
        results = values;
        finish(`${state.lessons} lessons per rule, seed ${state.seed}`);
        draw(store.state);
        announce("comparison finished");
      },
      (error) => {
        if (jobs !== mine) return;
        jobs = [];
        finish(`The computation failed: ${error.message}`);
      },
    );
  }
  function cancel() {
    for (const job of jobs) job.cancel();
    jobs = [];
    shownFor = "";
    finish("cancelled");
  }
  function finish(text) {
    put(run, "Run");
    bar.hidden = true;
    status.textContent = text;
  }

  function draw(state) {
    if (!results) return;
    const xMax = results[0].mean.length - 1;
    const shared = { xMax, yMin: 0, yMax: 1 };
    const rates = ratesOf(state);
    fig.draw((width) => {
      const isRow = width >= 660;
      const charts = RULE_LIST.map(({ title, color }, k) =>
        lineChart({
          ...shared,
          width: isRow ? width / 3 : width,
          height: isRow ? 270 : 210,
          yLabel: "belief in the truth",
          title,
          heading: { text: title, color },
          series: RULE_LIST.map((rule, other) => ({
            name: rule.title,
            color: rule.color,
            isFaint: other !== k,
            values: results[other].mean,
            ...(other === k ? { low: results[k].low, high: results[k].high } : {}),
          })),
        }),
      );
      return panels(charts, width, isRow, "Mean belief in the truth by round, with bands");
    });
    reached.draw((width) =>
      lineChart({
        ...shared,
        width,
        yLabel: "share of lessons",
        title: "Share of lessons that have reached 95 % by round",
        series: ruleCurves((k) => results[k].share),
      }),
    );
    put(
      body,
      ...RULE_LIST.map(({ title, kind, color }, k) =>
        h(
          "tr",
          { style: { "--rule": color }, "data-rule": kind },
          h("th", { scope: "row" }, h("span", { class: "swatch" }), title),
          h("td", { class: "value" }, median(results[k].reached)),
          h("td", { class: "value" }, percent(results[k].share[results[k].share.length - 1])),
          h("td", { class: "value" }, digits(results[k].mean[results[k].mean.length - 1], 4)),
          h("td", { class: "value" }, digits(rates[k])),
        ),
      ),
    );
  }

  const csv = () => [
    ["rule", "round", "mean", "std", "q10", "q90", "share_at_95"],
    ...RULE_LIST.flatMap(({ kind }, k) =>
      results[k].mean.map((_, round) => [
        kind,
        round,
        ...["mean", "std", "low", "high", "share"].map((name) => results[k][name][round]),
      ]),
    ),
  ];

  function update(state) {
    rounds.set(state.rounds);
    lessons.set(state.lessons);
    if (keyOf(state, KEYS) === shownFor) return draw(state);
    if (jobs.length) cancel();
    results = null;
    if (element.isConnected) start();
  }
  return { element, update, stop: () => jobs.length && cancel(), csv: () => results && csv() };
}

function median(reached) {
  const sorted = [...reached].sort((a, b) => a - b);
  const value = sorted[Math.floor((sorted.length - 1) / 2)];
  return Number.isFinite(value) ? String(value) : "not reached";
}
