/** The lessons on the page: computed from the state, and kept until it changes. */
import { Learner, Teacher } from "../twin/lessons.js";
import { Random } from "../twin/random.js";
import { makeRule, normalize, rate } from "../twin/rules.js";

/** The three rules in their order, with the name and the colour that they have everywhere. */
export const RULE_LIST = [
  { kind: "BI", title: "Literal", note: "plain Bayes (BI)", color: "var(--bi)", dash: "6 4" },
  { kind: "Pragmatic", title: "Pragmatic", note: "", color: "var(--pragmatic)", dash: "1 6" },
  { kind: "SCBI", title: "Cooperative", note: "SCBI, the limit of infinite depth", color: "var(--scbi)", dash: "" },
];

/** The state's values that determine a lesson; how data are chosen is not included. */
export const LESSON_KEYS = [
  "table",
  "truth",
  "prior",
  "dataPrior",
  "depth",
  "rationality",
  "literal",
  "repeats",
  "seed",
];

/** Some values of the state as one text, which changes if any of them changes. */
export const keyOf = (state, names) => JSON.stringify(names.map((name) => state[name]));

/** Settings of one of the three rules, for `makeRule`. */
export function ruleSettings(state, kind) {
  if (kind !== "Pragmatic") return { kind };
  return { kind, depth: state.depth, rationality: state.rationality, literal: state.literal };
}

export const ruleOf = (state, kind) => makeRule(state.table.matrix, ruleSettings(state, kind), state.dataPrior);

/** Weights as probabilities; null gives the uniform distribution. */
export const probabilities = (values, size) => normalize(values ?? new Array(size).fill(1));

let known = { key: "", lessons: null };

/**
 * The lessons of the three rules, with at least `state.round` rounds; a lesson is shorter if no datum is left.
 * @returns {{kind: string, data: number[], logBeliefs: number[][], impossible: number[], rate: number,
 *   teacher: Teacher, isOver: boolean}[]} `impossible`: rounds whose datum was impossible for the learner.
 */
export function lessonsAt(state) {
  const key = keyOf(state, [...LESSON_KEYS, "choice", "picks"]);
  if (known.key !== key) {
    const lessons = RULE_LIST.map(({ kind }) => {
      const rule = ruleOf(state, kind);
      const teacher = new Teacher(rule, state.truth, state.prior, {
        rng: new Random(state.seed),
        choice: state.choice === "likeliest" ? "likeliest" : "draw",
        noRepeats: !state.repeats,
      });
      return {
        kind,
        teacher,
        data: [],
        logBeliefs: [teacher.logBelief],
        impossible: [],
        isOver: false,
        rate: rate(rule, state.truth),
      };
    });
    known = { key, lessons };
  }
  for (const lesson of known.lessons) extend(lesson, state);
  return known.lessons;
}

function extend(lesson, state) {
  const { teacher } = lesson;
  while (lesson.data.length < state.round && !lesson.isOver) {
    const round = lesson.data.length;
    let datum = state.choice === "you" ? (state.picks[round] ?? -1) : teacher.choose();
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

/** A lesson's log-belief after `round` rounds, or the last one if the lesson ended earlier. */
export const logBeliefAt = (lesson, round) => lesson.logBeliefs[Math.min(round, lesson.logBeliefs.length - 1)];

/** The learner of one rule after `round` rounds of its lesson. */
export function agentBefore(state, kind, lesson, round) {
  const agent = new Learner(ruleOf(state, kind), state.prior, { noRepeats: !state.repeats });
  agent.logBelief = logBeliefAt(lesson, round);
  agent.shown = lesson.data.slice(0, round);
  return agent;
}

/** The rate of each of the three rules, in nats per round. */
export const ratesOf = (state) => RULE_LIST.map(({ kind }) => rate(ruleOf(state, kind), state.truth));

export const ruleCurves = (valuesOf) =>
  RULE_LIST.map(({ title, color, dash }, k) => ({ name: title, color, dash, values: valuesOf(k) }));
