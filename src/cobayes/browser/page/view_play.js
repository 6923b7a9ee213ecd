/** Play as learner: guess the teacher's hypothesis from the data that it shows. */
import { Learner, Teacher, runLesson } from "../twin/lessons.js";
import { Random } from "../twin/random.js";
import { lineChart } from "./charts.js";
import { announce, button, h, headedTable, put, segments } from "./dom.js";
import { figure } from "./figures.js";
import { heatMap } from "./heat.js";
import { LESSON_KEYS, RULE_LIST, keyOf, ruleCurves, ruleOf } from "./lesson_data.js";
import { beliefRows } from "./why.js";

export function playView(store) {
  let guess = null;
  const score = { right: 0, games: 0 };
  const teacher = segments({
    label: "the teacher’s rule",
    value: store.state.playTeacher,
    options: RULE_LIST.map(({ kind, title }) => [kind, title]),
    onChange: (playTeacher) => restart({ playTeacher }),
  });
  const shown = h("ol", { class: "chips", "aria-label": "data shown" });
  const more = button("Show me another", () => store.set({ playShown: store.state.playShown + 1 }));
  const guesses = h("div", { class: "guesses", role: "group", "aria-label": "your guess" });
  const verdict = h("div", { class: "verdict", role: "status" });
  const again = button("New game", () => restart({ playSeed: (store.state.playSeed + 1) % 2 ** 32 }), {
    class: "primary",
  });
  const tally = h("p", { class: "soft" });
  const known = figure("The table that you and the teacher know", "Outlined: the data that were shown and, after your guess, the truth.");
  const curves = figure("Beliefs of three learners", "Each learner’s belief in the truth, after the data that you saw.");
  const element = h(
    "div",
    { class: "view play two" },
    h(
      "section",
      { class: "panel" },
      h("div", { class: "row" }, h("span", { class: "lead-in" }, "Teacher"), teacher),
      h("h3", {}, "The teacher shows"),
      shown,
      h("div", { class: "row" }, more),
      h("h3", {}, "Which hypothesis does the teacher have in mind?"),
      guesses,
      verdict,
      h("div", { class: "row" }, again, tally),
    ),
    h("div", { class: "stacked" }, curves.element, known.element),
  );

  function restart(changes) {
    guess = null;
    store.set({ playShown: 1, ...changes });
  }

  function choose(j) {
    guess = j;
    score.games++;
    const { truth } = gameOf(store.state);
    if (truth === j) score.right++;
    update(store.state);
    again.focus();
    announce(truth === j ? "right" : "wrong");
  }

  let shownFor = "";
  function update(state) {
    const key = keyOf(state, [...LESSON_KEYS, "playSeed", "playTeacher"]);
    if (key !== shownFor) guess = null;
    shownFor = key;
    const { data, hypotheses } = state.table;
    const { truth, data: sequence } = gameOf(state);
    teacher.set(state.playTeacher);
    put(shown, ...sequence.map((datum) => h("li", {}, data[datum])));
    more.disabled = guess !== null || sequence.length < state.playShown;
    put(
      guesses,
      ...hypotheses.map((name, j) =>
        button(name, () => choose(j), {
          class: guess === null ? "" : j === truth ? "right" : j === guess ? "wrong" : "",
          disabled: guess !== null,
        }),
      ),
    );
    tally.textContent = score.games ? `${score.right} of ${score.games} right` : "";
    known.draw(
      (width) =>
        heatMap({
          matrix: state.table.matrix,
          data,
          hypotheses,
          width,
          title: "The table that you and the teacher know",
          rows: [...new Set(sequence)],
          column: guess === null ? -1 : truth,
          hasSums: false,
        }).element,
    );
    curves.element.hidden = guess === null;
    put(verdict);
    if (guess !== null) reveal(state, truth, sequence);
  }

  /** After the guess: the truth, and the belief of each rule's learner after the same data. */
  function reveal(state, truth, sequence) {
    const { hypotheses } = state.table;
    const beliefs = beliefsOf(state);
    curves.draw((width) =>
      lineChart({
        width,
        xMax: Math.max(sequence.length, 2),
        yMin: 0,
        yMax: 1,
        xLabel: "data shown",
        yLabel: "belief in the truth",
        title: "Belief in the truth by number of data shown",
        series: ruleCurves((k) => beliefs[k].map((belief) => belief[truth])),
      }),
    );
    const heads = ["learner", "belief", "belief in the truth"];
    put(
      verdict,
      h(
        "p",
        { class: guess === truth ? "outcome right" : "outcome wrong" },
        guess === truth
          ? `Right: it was “${hypotheses[truth]}”. Number of data shown: ${sequence.length}.`
          : `It was “${hypotheses[truth]}”.`,
      ),
      headedTable(
        heads,
        h(
          "tbody",
          {},
          ...beliefRows(
            beliefs.map((all) => all[sequence.length]),
            hypotheses,
            truth,
          ),
        ),
      ),
    );
  }

  const csv = () => {
    const { data: sequence } = gameOf(store.state);
    const { data, hypotheses } = store.state.table;
    const header = ["rule", "round", "datum", ...hypotheses];
    return [
      header,
      ...beliefsOf(store.state).flatMap((beliefs, k) =>
        beliefs.map((belief, round) => [RULE_LIST[k].kind, round, round ? data[sequence[round - 1]] : "", ...belief]),
      ),
    ];
  };
  return { element, update, csv };
}

/** The beliefs of three learners, one per rule, after 0, 1, 2, ... of the game's data. */
function beliefsOf(state) {
  const { data } = gameOf(state);
  return RULE_LIST.map(({ kind }) => {
    const learner = new Learner(ruleOf(state, kind), state.prior, { noRepeats: !state.repeats });
    return [learner.belief, ...data.map((datum) => (learner.observe(datum), learner.belief))];
  });
}

/** The game of a seed: the truth and the data that are shown. */
export function gameOf(state) {
  const rng = new Random(state.playSeed);
  const truth = rng.draw(state.prior ?? state.table.hypotheses.map(() => 1));
  const rule = ruleOf(state, state.playTeacher),
    noRepeats = !state.repeats;
  const teacher = new Teacher(rule, truth, state.prior, { rng, noRepeats });
  const { data } = runLesson(teacher, new Learner(rule, state.prior, { noRepeats }), state.playShown);
  return { truth, data };
}
