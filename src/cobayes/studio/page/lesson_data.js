/** The lessons that the page shows, computed from the state and remembered while it does not change. */
import { Learner, Teacher } from "../twin/lessons.js";
import { Random } from "../twin/random.js";
import { makeRule, rate } from "../twin/rules.js";

/** The three rules of the page, in their order, with the name and the colour they have everywhere. */
export const RULE_LIST = [
  { kind: "BI", title: "Literal", note: "plain Bayes (BI)", color: "var(--bi)", dash: "6 4" },
  {
    kind: "Pragmatic",
    title: "Pragmatic",
    note: "recursion of finite depth",
    color: "var(--pragmatic)",
    dash: "2 3",
  },
  {
    kind: "SCBI",
    title: "Cooperative",
    note: "SCBI, the limit of infinite depth",
    color: "var(--scbi)",
    dash: "",
  },
];

/** What `makeRule` needs for one of the three. */
export function ruleSettings(state, kind) {
  if (kind !== "Pragmatic") return { kind };
  return { kind, depth: state.depth, rationality: state.rationality, literal: state.literal };
}

export const ruleOf = (state, kind) =>
  makeRule(state.table.matrix, ruleSettings(state, kind), state.dataPrior);

export const uniformOver = (size) => new Array(size).fill(1 / size);

/** A prior of the state as probabilities. */
export function probabilities(values, size) {
  if (!values) return uniformOver(size);
  const sum = values.reduce((total, value) => total + value, 0);
  return values.map((value) => value / sum);
}

let known = { key: "", lessons: null };

/**
 * The lessons of the three rules up to the state's round.
 * @returns {{kind: string, data: number[], logBeliefs: number[][], impossible: number[], rate: number,
 *   teacher: Teacher, isOver: boolean}[]} `impossible`: rounds whose datum the learner had ruled out.
 */
export function lessonsAt(state) {
  const key = JSON.stringify([
    state.table,
    state.truth,
    state.prior,
    state.dataPrior,
    state.choice,
    state.seed,
    state.picks,
    state.depth,
    state.rationality,
    state.literal,
    state.repeats,
  ]);
  if (known.key !== key) {
    const lessons = RULE_LIST.map(({ kind }) => {
      const rule = ruleOf(state, kind);
      const teacher = new Teacher(rule, state.truth, state.prior, {
        choice: state.choice === "likeliest" ? "likeliest" : "draw",
        noRepeats: !state.repeats,
      });
      return {
        kind,
        teacher,
        data: [],
        logBeliefs: [teacher.logBelief],
        distributions: [],
        impossible: [],
        isOver: false,
        rate: rate(rule, state.truth),
      };
    });
    known = { key, lessons, rng: new Random(state.seed), uniforms: [] };
  }
  for (const lesson of known.lessons) extend(lesson, state);
  return known.lessons;
}

function extend(lesson, state) {
  const { teacher } = lesson;
  while (lesson.data.length < state.round && !lesson.isOver) {
    const round = lesson.data.length;
    while (known.uniforms.length <= round) known.uniforms.push(known.rng.uniform());
    let datum = state.picks[round] ?? (state.choice === "you" ? -1 : teacher.choose(known.uniforms[round]));
    if (datum >= 0 && !(teacher.dataPrior[datum] > 0)) datum = -1;
    if (datum < 0) {
      lesson.isOver = true;
      break;
    }
    if (!teacher.observe(datum)) lesson.impossible.push(round + 1);
    lesson.data.push(datum);
    lesson.logBeliefs.push(teacher.logBelief);
  }
}

/** The agent of one rule as it was before a round, to ask what it would do. */
export function agentBefore(state, kind, lesson, round) {
  const agent = new Learner(ruleOf(state, kind), state.prior, { noRepeats: !state.repeats });
  agent.logBelief = lesson.logBeliefs[Math.min(round, lesson.logBeliefs.length - 1)];
  agent.shown = lesson.data.slice(0, round);
  return agent;
}

/** Nats per round in the long run, for each of the three rules. */
export const ratesOf = (state) => RULE_LIST.map(({ kind }) => rate(ruleOf(state, kind), state.truth));
