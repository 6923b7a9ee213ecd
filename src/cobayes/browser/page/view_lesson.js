/** The lesson: three rules side by side, curves, and the effect of a datum. */
import { lineChart, triangle } from "./charts.js";
import { announce, button, digits, h, percent, player, put, segments } from "./dom.js";
import { figure } from "./figures.js";
import { RULE_LIST, lessonsAt, logBeliefAt, ruleCurves } from "./lesson_data.js";
import { oneRound } from "./one_round.js";
import { ruleCard } from "./rule_card.js";
import { whyThisDatum } from "./why.js";

/** @returns {{element: HTMLElement, update: (state: object) => void, stop: () => void, play: () => void, csv: () => unknown[][]}} */
export function lessonView(store) {
  const cards = RULE_LIST.map((rule) => ruleCard(rule));
  const play = player({
    text: "▶ Play",
    name: "play",
    pause: 1100,
    isDone,
    rewind: () => store.set({ round: 0 }),
    step: () => go(store.state.round + 1),
  });
  const back = button("◀", () => go(store.state.round - 1), {
    "aria-label": "one round back",
    title: "one round back (←)",
  });
  const step = button("▶❙", () => go(store.state.round + 1), {
    "aria-label": "one round on",
    title: "one round on (→)",
  });
  const first = button("❙◀", () => go(0), { "aria-label": "to the start", title: "to the start (Home)" });
  const jump = h("input", {
    type: "range",
    min: 0,
    max: 30,
    step: 1,
    "aria-label": "round",
    on: { input: () => go(Number(jump.value)) },
  });
  const roundText = h("span", { class: "round" });
  const who = segments({
    label: "who chooses the data",
    value: store.state.choice,
    options: [
      ["draw", "Teacher draws", "each teacher draws from its distribution"],
      ["likeliest", "Likeliest", "each teacher shows its likeliest datum"],
      ["you", "You pick", "you are the teacher"],
    ],
    onChange: (choice) => {
      play.stop();
      store.set({ choice, picks: choice === "you" ? lessonsAt(store.state)[2].data.slice(0, store.state.round) : [] });
    },
  });
  const picker = h("div", { class: "picker", role: "group", "aria-label": "show a datum" });
  const beliefs = figure(
    "Belief in the truth",
    "Each learner’s belief in the hypothesis that is taught. Click a round to go there.",
  );
  const odds = figure(
    "Log-odds of the truth",
    "If the teachers draw, the log-odds grow in the long run by the rate, in nats per round (thin lines).",
  );
  const path = figure("Path of belief", "");
  path.element.classList.add("path-figure");
  const round = oneRound(store);
  const why = whyThisDatum(store);
  const element = h(
    "div",
    { class: "view lesson" },
    h(
      "div",
      { class: "transport", role: "group", "aria-label": "lesson" },
      h("div", { class: "buttons" }, first, back, play.element, step),
      jump,
      roundText,
      who,
    ),
    picker,
    h("div", { class: "cards" }, ...cards.map((card) => card.element)),
    h("div", { class: "figures" }, beliefs.element, odds.element, path.element),
    round.element,
    why.element,
  );

  function go(next) {
    const limit = store.state.choice === "you" ? store.state.picks.length : 500;
    const to = Math.min(Math.max(next, 0), limit);
    if (to !== store.state.round) store.set({ round: to });
  }
  function isDone() {
    const { round, truth } = store.state;
    const isEnd = (one) => one.isOver && one.data.length <= round;
    const isSure = (one) => logBeliefAt(one, round)[truth] > Math.log(0.999);
    return round >= 60 || lessonsAt(store.state).every((one) => isEnd(one) || isSure(one));
  }
  function update(state) {
    const lessons = lessonsAt(state);
    const isYours = state.choice === "you";
    who.set(state.choice);
    play.element.disabled = isYours;
    const limit = Math.max(20, Math.ceil((state.round + 1) / 10) * 10);
    jump.max = String(isYours ? Math.max(1, state.picks.length) : limit);
    jump.value = String(state.round);
    step.disabled = isYours && state.round >= state.picks.length;
    back.disabled = first.disabled = state.round === 0;
    put(roundText, "round ", h("b", {}, String(state.round)));
    picker.hidden = !isYours;
    if (isYours) fillPicker(state, lessons);
    cards.forEach((card, k) => card.update(state, lessons[k]));
    drawCurves(state, lessons);
    round.update(state, lessons[2]);
    why.update(state, lessons);
    if (!play.isPlaying())
      announce(
        `Round ${state.round}: ${lessons.map((one, k) => `${RULE_LIST[k].title} ${percent(Math.exp(logBeliefAt(one, state.round)[state.truth]))}`).join(", ")}`,
      );
  }

  function fillPicker(state, lessons) {
    const { data, matrix } = state.table;
    const teacher = lessons[2].teacher;
    const shown = state.picks.slice(0, state.round);
    put(
      picker,
      h("span", { class: "lead-in" }, "Show next:"),
      ...data.map((name, i) => {
        const isOut =
          (!state.repeats && shown.includes(i)) || !(teacher.rule.dataPrior[i] > 0) || !(matrix[i][state.truth] > 0);
        const title = matrix[i][state.truth] > 0 ? "" : "this datum is impossible under the truth";
        return button(name, () => store.set({ picks: [...shown, i], round: state.round + 1 }), {
          class: "datum",
          disabled: isOut,
          title,
        });
      }),
    );
  }

  function drawCurves(state, lessons) {
    const last = Math.max(...lessons.map((one) => one.logBeliefs.length - 1), 1);
    const xMax = Math.max(10, Math.ceil(last / 5) * 5);
    const until = (one) => one.logBeliefs.slice(0, state.round + 1);
    const shared = { xMax, now: state.round, onRound: go };
    beliefs.draw((width) =>
      lineChart({
        ...shared,
        width,
        yMin: 0,
        yMax: 1,
        yLabel: "belief in the truth",
        title: "Belief in the truth by round",
        series: ruleCurves((k) => until(lessons[k]).map((logs) => Math.exp(logs[state.truth]))),
      }),
    );
    const oddsOf = (logs) =>
      Math.max(-700, Math.min(700, logs[state.truth] - Math.max(...logs.filter((_, j) => j !== state.truth))));
    const values = lessons.map((one) => until(one).map(oddsOf));
    const finite = values.flat().filter((value) => Math.abs(value) < 690);
    const low = Math.min(0, ...finite),
      high = Math.max(2, ...finite) * 1.08;
    odds.draw((width) =>
      lineChart({
        ...shared,
        width,
        yMin: low,
        yMax: high,
        yLabel: "nats against the strongest rival",
        title: "Log-odds of the truth by round",
        series: ruleCurves((k) => values[k]).map((one, k) => ({ ...one, slope: lessons[k].rate })),
      }),
    );
    odds.caption.textContent = `If the teachers draw, the log-odds grow in the long run by the rate, in nats per round (thin lines): ${RULE_LIST.map(({ title }, k) => `${title.toLowerCase()} ${digits(lessons[k].rate)}`).join(", ")}.`;
    drawPath(state, lessons);
  }

  function drawPath(state, lessons) {
    const names = state.table.hypotheses,
      m = names.length;
    path.element.hidden = m < 3;
    if (m < 3) return;
    const { truth } = state;
    const latest = logBeliefAt(lessons[2], state.round);
    const others = names.map((_, j) => j).filter((j) => j !== truth);
    const rival = m === 3 ? others[0] : others.reduce((best, j) => (latest[j] > latest[best] ? j : best), others[0]);
    const fold = (logs) => {
      const belief = logs.map(Math.exp);
      return [belief[truth], belief[rival], Math.max(0, 1 - belief[truth] - belief[rival])];
    };
    const third = m === 3 ? others[1] : -1;
    path.caption.textContent =
      m === 3
        ? "A corner is certainty in one hypothesis; a path shows one learner’s beliefs. Drag the prior to repeat the lesson from another prior."
        : "The corners are certainty in the truth, in its strongest rival, and in all other hypotheses together.";
    path.draw((width) =>
      triangle({
        size: Math.min(width, 330),
        labels: [names[truth], names[rival], third >= 0 ? names[third] : "all others"],
        title: "Path of belief in the triangle",
        paths: lessons.map((one, k) => ({
          color: RULE_LIST[k].color,
          dash: RULE_LIST[k].dash,
          points: one.logBeliefs.slice(0, state.round + 1).map(fold),
        })),
        prior: m === 3 ? fold(lessons[0].logBeliefs[0]) : null,
        onDrag: m === 3 ? (point) => dragPrior(point, [truth, rival, third]) : undefined,
      }),
    );
  }

  /** Set the prior from a point of the triangle, and repeat the lesson up to the same round. */
  function dragPrior(point, corners) {
    play.stop();
    store.set({ prior: point.map((_, j) => point[corners.indexOf(j)]) });
  }

  element.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, textarea, button, [role=region]")) return;
    const moves = { ArrowRight: 1, ArrowLeft: -1 };
    if (event.key in moves) go(store.state.round + moves[event.key]);
    else if (event.key === "Home") go(0);
    else if (event.key === " ") play.element.click();
    else return;
    event.preventDefault();
  });
  element.tabIndex = -1;
  return { element, update, stop: play.stop, play: play.start, csv: () => lessonRows(store.state) };
}

function lessonRows(state) {
  const { data, hypotheses } = state.table;
  return [
    ["rule", "round", "datum", ...hypotheses],
    ...lessonsAt(state).flatMap((one, k) =>
      one.logBeliefs
        .slice(0, state.round + 1)
        .map((logs, round) => [
          RULE_LIST[k].kind,
          round,
          round ? data[one.data[round - 1]] : "",
          ...logs.map(Math.exp),
        ]),
    ),
  ];
}
