/** Why this datum: the learner's belief after each datum that could have been shown. */
import { h, headedTable, inSightFirst, percent, put, segments, setText } from "./dom.js";
import { RULE_LIST, agentBefore } from "./lesson_data.js";

export function whyThisDatum(store) {
  const which = segments({
    label: "teacher",
    value: store.state.why,
    options: RULE_LIST.map(({ kind, title }) => [kind, title]),
    onChange: (why) => store.set({ why }),
  });
  const lead = h("p", { class: "lead-in" });
  const body = h("tbody"),
    rows = [];
  const heads = ["datum", "probability of being drawn", "belief after it", "belief in the truth"];
  const element = h(
    "figure",
    { class: "why" },
    h("div", { class: "figure-head" }, h("h3", {}, "Why this datum"), which),
    lead,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "alternatives" }, headedTable(heads, body)),
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
        ? `Before round ${at} the ${RULE_LIST[position].title.toLowerCase()} learner’s belief in “${hypotheses[state.truth]}” was ${percent(was)}. `
        : `Before the first datum the belief in the truth is ${percent(was)}. `,
      chosen >= 0
        ? `Then “${data[chosen]}” was shown; this teacher draws it with probability ${percent(chances[chosen])}.`
        : "The table lists all data.",
    );
    const order = data.map((_, i) => i).sort((a, b) => chances[b] - chances[a] || a - b);
    while (rows.length < data.length) rows.push(alternative());
    rows.length = data.length;
    if (body.childElementCount !== rows.length) put(body, ...rows.map(({ line }) => line));
    const { color } = RULE_LIST[position];
    order.forEach((i, k) => {
      const after = agent.rule.logUpdate(agent.logBelief, i, agent.dataPrior).map(Math.exp);
      const isFree = agent.dataPrior[i] > 0;
      rows[k].show({
        name: data[i],
        isChosen: i === chosen,
        chance: chances[i],
        color,
        refusal: !isFree ? "not available" : Number.isNaN(after[0]) ? "impossible under every hypothesis with a positive belief" : "",
        after,
        gain: after[state.truth] - was,
        hypotheses,
        truth: state.truth,
      });
    });
  }
  return { element, update: inSightFirst(element, update) };
}

/** One row of the table; it is made once and then updated. */
function alternative() {
  const name = h("span"),
    tag = h("span", { class: "tag" }, "shown"),
    fill = h("span", { class: "fill" }),
    chance = h("span", { class: "value" }),
    bar = h("span", { class: "stack", role: "img" }),
    refusal = h("span", { class: "soft" }),
    inTruth = h("span"),
    arrow = h("span");
  const line = h(
    "tr",
    {},
    h("th", { scope: "row" }, name, tag),
    h("td", { class: "chance" }, h("span", { class: "track" }, fill), chance),
    h("td", {}, bar, refusal),
    h("td", { class: "value" }, inTruth, arrow),
  );
  const show = (one) => {
    line.classList.toggle("chosen", one.isChosen);
    setText(name, one.name);
    tag.hidden = !one.isChosen;
    fill.style.setProperty("width", `${100 * one.chance}%`);
    fill.style.setProperty("background", one.color);
    setText(chance, percent(one.chance));
    setText(refusal, one.refusal);
    bar.hidden = Boolean(one.refusal);
    if (!one.refusal) paintStack(bar, one.after, one.hypotheses, one.truth, one.color);
    setText(inTruth, one.refusal ? "–" : percent(one.after[one.truth]));
    setText(arrow, one.refusal ? "" : one.gain >= 0 ? " ▲" : " ▼");
    arrow.className = one.gain >= 0 ? "up" : "down";
  };
  return { line, show };
}

/** One row per rule: its belief as a bar, and its belief in the truth. */
export const beliefRows = (beliefs, names, truth) =>
  RULE_LIST.map(({ kind, title, color }, k) => {
    const bar = paintStack(h("span", { class: "stack", role: "img" }), beliefs[k], names, truth, color);
    const value = h("td", { class: "value" }, percent(beliefs[k][truth]));
    return h("tr", { "data-rule": kind }, h("th", { scope: "row" }, title), h("td", {}, bar), value);
  });

/** Paint a belief as one bar, the truth first. A gradient keeps each bar a single element; the table has hundreds of bars. */
function paintStack(element, belief, names, truth, color) {
  const text = names.map((name, j) => `${name} ${percent(belief[j])}`).join(", ");
  const order = [truth, ...names.map((_, j) => j).filter((j) => j !== truth)];
  let end = 0;
  const parts = order.map((j, k) => {
    const start = end;
    end += 100 * belief[j];
    const shade = k === 0 ? color : `var(--other-${1 + (k % 2)})`;
    return `${shade} ${start.toFixed(2)}% ${end.toFixed(2)}%`;
  });
  element.setAttribute("aria-label", text);
  element.setAttribute("title", text);
  element.style.setProperty("background", `linear-gradient(to right, ${parts.join(", ")})`);
  return element;
}
