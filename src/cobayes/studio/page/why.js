/** Why this datum: what each alternative would have done to the learner's belief. */
import { h, percent, put, segments } from "./dom.js";
import { RULE_LIST, agentBefore } from "./lesson_data.js";

export function whyThisDatum(store) {
  const which = segments({
    label: "teacher",
    value: store.state.why,
    options: RULE_LIST.map(({ kind, title }) => [kind, title]),
    onChange: (why) => store.set({ why }),
  });
  const lead = h("p", { class: "lead-in" });
  const body = h("tbody");
  const head = h(
    "tr",
    {},
    ...["datum", "the teacher shows it", "belief after it", "in the truth"].map((text) =>
      h("th", { scope: "col" }, text),
    ),
  );
  const element = h(
    "figure",
    { class: "why" },
    h("div", { class: "figure-head" }, h("h3", {}, "Why this datum"), which),
    lead,
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "alternatives" },
      h("table", {}, h("thead", {}, head), body),
    ),
  );

  function update(state, lessons) {
    which.set(state.why);
    const position = RULE_LIST.findIndex(({ kind }) => kind === state.why);
    const lesson = lessons[position];
    const at = Math.min(state.round, lesson.data.length);
    const before = Math.max(0, at - 1);
    const agent = agentBefore(state, state.why, lesson, before);
    const { data, hypotheses } = state.table;
    const logs = agent.rule.respond(agent.logBelief, agent.dataPrior);
    const chances = logs.map((row) => Math.exp(row[state.truth]));
    const was = Math.exp(agent.logBelief[state.truth]);
    const chosen = at > 0 ? lesson.data[at - 1] : -1;
    put(
      lead,
      at > 0
        ? `Before round ${at} the ${RULE_LIST[position].title.toLowerCase()} learner believed “${hypotheses[state.truth]}” to ${percent(was)}. `
        : `The first datum will move a belief of ${percent(was)}. `,
      chosen >= 0
        ? `Then “${data[chosen]}” was shown, with probability ${percent(chances[chosen])}.`
        : "These are the alternatives.",
    );
    const order = data.map((_, i) => i).sort((a, b) => chances[b] - chances[a] || a - b);
    put(
      body,
      ...order.map((i) => {
        const after = agent.rule.logUpdate(agent.logBelief, i, agent.dataPrior).map(Math.exp);
        const isPossible = !Number.isNaN(after[0]);
        const gain = after[state.truth] - was;
        const isFree = agent.dataPrior[i] > 0;
        return h(
          "tr",
          { class: i === chosen ? "chosen" : "" },
          h("th", { scope: "row" }, data[i], i === chosen ? h("span", { class: "tag" }, "shown") : null),
          h(
            "td",
            { class: "chance" },
            h(
              "span",
              { class: "track" },
              h("span", {
                class: "fill",
                style: { width: `${100 * chances[i]}%`, background: RULE_LIST[position].color },
              }),
            ),
            h("span", { class: "value" }, percent(chances[i])),
          ),
          h(
            "td",
            {},
            isPossible && isFree
              ? stack(after, hypotheses, state.truth, RULE_LIST[position].color)
              : h("span", { class: "soft" }, isFree ? "no believed hypothesis allows it" : "not available"),
          ),
          h(
            "td",
            { class: "value" },
            isPossible && isFree ? percent(after[state.truth]) : "–",
            isPossible && isFree
              ? h("span", { class: gain >= 0 ? "up" : "down" }, gain >= 0 ? " ▲" : " ▼")
              : null,
          ),
        );
      }),
    );
  }
  return { element, update };
}

/**
 * A belief as one bar: the truth in the rule's colour first, so that bars can be compared, then the others.
 * @param {number[]} belief
 * @param {string[]} names
 * @param {number} truth
 * @param {string} color
 */
export function stack(belief, names, truth, color) {
  const text = names.map((name, j) => `${name} ${percent(belief[j])}`).join(", ");
  const order = [truth, ...names.map((_, j) => j).filter((j) => j !== truth)];
  let end = 0;
  const parts = order.map((j, k) => {
    const start = end;
    end += 100 * belief[j];
    const shade = k === 0 ? color : `var(--other-${1 + (k % 2)})`;
    return `${shade} ${start.toFixed(2)}% ${end.toFixed(2)}%`;
  });
  // One element however many parts: a table of alternatives has hundreds of them.
  return h("span", {
    class: "stack",
    role: "img",
    "aria-label": text,
    title: text,
    style: { background: `linear-gradient(to right, ${parts.join(", ")})` },
  });
}
