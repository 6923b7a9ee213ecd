/** The screen as Python: code that gives the same numbers. */
import { RULE_LIST, lessonsAt, probabilities } from "./lesson_data.js";
import { walk } from "./view_grid.js";
import { gameOf } from "./view_play.js";

const text = (value) => JSON.stringify(value);
const list = (values) => `[${values.map(text).join(", ")}]`;

/** @returns {string} Code for the view that is shown. */
export function pythonFor(state, isExample) {
  const writers = { lesson, table: modelOnly, compare, misjudge, play, grid };
  return `import cobayes as cb\n\n${writers[state.view](state, isExample)}`;
}

function model(state, isExample) {
  if (isExample) return `model = cb.examples[${text(state.example)}].model\n`;
  const { data, hypotheses, matrix } = state.table;
  return `model = cb.Model(\n    [\n${matrix.map((row) => `        ${list(row)},\n`).join("")}    ],\n    data=${list(data)},\n    hypotheses=${list(hypotheses)},\n)\n`;
}

function rules(state, subject = state.repeats ? "model" : "task") {
  const prior = state.dataPrior
    ? `, data_prior=${list(probabilities(state.dataPrior, state.table.data.length))}`
    : "";
  const literal = state.literal === "truth" ? ', literal="truth"' : "";
  return (
    (state.repeats ? "" : "task = cb.without_repeats(model)\n") +
    "rules = {\n" +
    `    "Literal": cb.BI(${subject}),\n` +
    `    "Pragmatic": cb.Pragmatic(${subject}, ${state.depth}, rationality=${state.rationality}${prior}${literal}),\n` +
    `    "Cooperative": cb.SCBI(${subject}${prior}),\n` +
    "}\n"
  );
}

const priorLine = (state) =>
  `prior = ${state.prior ? list(probabilities(state.prior, state.table.hypotheses.length)) : "None  # uniform"}\n`;

function lesson(state, isExample) {
  const sequences = lessonsAt(state).map((one) => one.data.slice(0, state.round));
  return learners(
    state,
    isExample,
    sequences,
    `round ${state.round} of the page, teaching ${text(state.table.hypotheses[state.truth])}`,
  );
}

function play(state, isExample) {
  const { truth, data } = gameOf(state);
  return learners(
    state,
    isExample,
    RULE_LIST.map(() => data),
    `the game of the page, which meant ${text(state.table.hypotheses[truth])}`,
  );
}

/** What learners of the three rules believe after the data that each was shown. */
function learners(state, isExample, sequences, comment) {
  const shown = sequences.map(
    (data, k) => `    "${RULE_LIST[k].title}": ${list(data.map((i) => state.table.data[i]))},\n`,
  );
  return (
    model(state, isExample) +
    priorLine(state) +
    rules(state) +
    `shown = {  # ${comment}\n${shown.join("")}}\n` +
    "for name, rule in rules.items():\n    learner = cb.Learner(rule, prior)\n    for datum in shown[name]:\n        learner.observe(datum)\n" +
    "    print(name, dict(zip(model.hypotheses, learner.belief.round(6).tolist())))\n"
  );
}

const modelOnly = (state, isExample) => model(state, isExample) + "print(model.check())\n";

function compare(state, isExample) {
  const truth = text(state.table.hypotheses[state.truth]);
  const head =
    model(state, isExample) +
    priorLine(state) +
    rules(state) +
    "# other draws than the page's: equal up to chance\n";
  if (state.repeats)
    return `${head}for name, rule in rules.items():\n    lessons = cb.simulate(rule, ${truth}, num_rounds=${state.rounds}, num_lessons=${state.lessons}, prior=prior, rng=${state.seed})\n    print(name, lessons.mean(${truth}).round(4))\n`;
  const rounds = Math.min(state.rounds, state.table.data.length);
  return (
    `import numpy as np\n\n${head}rng = np.random.default_rng(${state.seed})\nfor name, rule in rules.items():\n    final = [\n` +
    `        cb.run_lesson(cb.Teacher(rule, ${truth}, prior, rng=rng), cb.Learner(rule, prior), ${rounds}).beliefs[-1, ${state.truth}]\n` +
    `        for _ in range(${state.lessons})\n    ]\n    print(name, np.mean(final).round(4))\n`
  );
}

function misjudge(state, isExample) {
  const m = state.table.hypotheses.length,
    truth = text(state.table.hypotheses[state.truth]);
  return (
    model(state, isExample) +
    `assumed = ${list(probabilities(state.prior, m))}\nactual = ${list(probabilities(state.learnerPrior, m))}\n` +
    `print(cb.success_rate(model, hypothesis=${truth}, teacher_prior=assumed, learner_prior=actual, num_sequences=10_000, rng=${state.seed}))\n` +
    `print(cb.stability.success_bounds(assumed, actual, ${state.truth}))\n`
  );
}

function grid(state) {
  const { world, moves } = walk(state);
  const { board } = state;
  const square = ([row, column]) => `(${row}, ${column})`;
  const goals = Object.entries(board.goals)
    .map(([label, at]) => `${text(label)}: ${square(at)}`)
    .join(", ");
  const steps = list(moves.slice(0, state.steps).map((move) => world.actions[move]));
  return (
    `world = cb.GridWorld(\n    ${board.width}, ${board.height}, start=${square(board.start)}, goals={${goals}}, discount=${board.discount},\n` +
    `    walls=[${board.walls.map(square).join(", ")}], actions=${list(world.actions)},\n)\n` +
    `moves = ${steps}  # of the page's walker\n` +
    rules({ ...state, repeats: true, dataPrior: null }, "world") +
    "for name, rule in rules.items():\n    watcher = cb.Learner(rule)\n    for move in moves:\n        watcher.observe(move)\n" +
    "    print(name, dict(zip(world.goal_labels, watcher.belief.round(6).tolist())))\n"
  );
}
