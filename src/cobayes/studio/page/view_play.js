/** Play as learner: a teacher has one hypothesis in mind; guess it from what it shows. */
import { Learner, Teacher } from "../twin/lessons.js";
import { Random } from "../twin/random.js";
import { announce, button, h, percent, put, segments } from "./dom.js";
import { RULE_LIST, ruleOf } from "./lesson_data.js";
import { stack } from "./why.js";

export function playView(store) {
  let guess = null;
  const score = { right: 0, games: 0 };
  const teacher = segments({
    label: "teacher",
    value: store.state.playTeacher,
    options: RULE_LIST.map(({ kind, title }) => [kind, `${title} teacher`]),
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
  const element = h(
    "div",
    { class: "view play" },
    h(
      "p",
      { class: "intro" },
      "A teacher has one hypothesis in mind and shows you data, one at a time. Ask for as few as you can, then guess. Afterwards you see what each rule would have believed.",
    ),
    h("div", { class: "row" }, teacher),
    h(
      "section",
      { class: "panel" },
      h("h3", {}, "The teacher shows"),
      shown,
      h("div", { class: "row" }, more),
      h("h3", {}, "Which one does it mean?"),
      guesses,
      verdict,
      h("div", { class: "row" }, again, tally),
    ),
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
    announce(truth === j ? "right" : "wrong");
  }

  let known = "";
  function update(state) {
    const key = JSON.stringify([
      state.table,
      state.playSeed,
      state.playTeacher,
      state.prior,
      state.dataPrior,
      state.repeats,
    ]);
    if (key !== known) guess = null;
    known = key;
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
    put(verdict);
    if (guess === null) return;
    put(
      verdict,
      h(
        "p",
        { class: "outcome" },
        guess === truth
          ? `Right: it was “${hypotheses[truth]}”, after ${sequence.length} shown.`
          : `It was “${hypotheses[truth]}”.`,
      ),
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ...["learner", "believes", "in the truth"].map((text) => h("th", { scope: "col" }, text)),
          ),
        ),
        h(
          "tbody",
          {},
          ...RULE_LIST.map(({ kind, title }) => {
            const learner = new Learner(ruleOf(state, kind), state.prior, { noRepeats: !state.repeats });
            for (const datum of sequence) learner.observe(datum);
            return h(
              "tr",
              {},
              h("th", { scope: "row" }, title),
              h("td", {}, stack(learner.belief, hypotheses)),
              h("td", { class: "value" }, percent(learner.belief[truth])),
            );
          }),
        ),
      ),
    );
  }
  return { element, update };
}

/** The game that a seed stands for: a truth and all the data that will be shown. */
export function gameOf(state) {
  const rng = new Random(state.playSeed);
  const { hypotheses } = state.table;
  const prior = state.prior ?? hypotheses.map(() => 1);
  const truth = rng.draw(prior);
  const agent = new Teacher(ruleOf(state, state.playTeacher), truth, state.prior, {
    rng,
    noRepeats: !state.repeats,
  });
  const data = [];
  while (data.length < state.playShown) {
    const datum = agent.choose();
    if (datum < 0) break;
    agent.observe(datum);
    data.push(datum);
  }
  return { truth, data };
}
