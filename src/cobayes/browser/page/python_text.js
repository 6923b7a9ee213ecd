/** Python code that uses cobayes to compute what a view shows. */
import { lessonsAt, probabilities } from "./lesson_data.js";
import { walk } from "./view_grid.js";
import { gameOf } from "./view_play.js";

const text = (value) => JSON.stringify(value);
const namesOf = (places, names) => places.map((k) => names[k]);
const list = (values) => `[${values.map(text).join(", ")}]`;
const lines = (...parts) => parts.flat().join("\n") + "\n";

/** @returns {string} Code for the view that is shown. */
export function pythonFor(state, examples) {
  const isExample = examples.some(({ name }) => name === state.example);
  const writers = { lesson, table: check, compare, play, grid };
  return lines("import cobayes as cb", "", writers[state.view](state, model(state, isExample)));
}

function model({ example, table: { data, hypotheses, matrix } }, isExample) {
  if (isExample) return [`model = cb.examples[${text(example)}].model`];
  return [
    "model = cb.Model(",
    `    [`,
    ...matrix.map((row) => `        ${list(row)},`),
    `    ],`,
    `    data=${list(data)},`,
    `    hypotheses=${list(hypotheses)},`,
    ")",
  ];
}

const check = (state, made) => [...made, "print(model.check())"];

/** Code for the three rules; `name` is the Python name of the model or world. */
function rules({ depth, rationality, literal, dataPrior, repeats, table: { data } }, name) {
  const task = (inner) => (repeats ? inner : `cb.without_repeats(${inner})`);
  const prior = dataPrior ? `, data_prior=${list(probabilities(dataPrior, data.length))}` : "";
  // Plain Bayes takes no data prior; `limited_to` excludes the data whose prior is zero.
  const left = dataPrior?.includes(0) ? data.filter((_, i) => dataPrior[i] > 0) : null;
  return [
    "rules = {",
    `    "Literal": cb.BI(${task(left ? `cb.limited_to(${name}, ${list(left)})` : name)}),`,
    `    "Pragmatic": cb.Pragmatic(${task(name)}, ${depth}, rationality=${rationality}${prior}, literal=${text(literal)}),`,
    `    "Cooperative": cb.SCBI(${task(name)}${prior}),`,
    "}",
  ];
}

/** Code for the model, the rules and the prior. */
function setting(state, made) {
  const { prior, table } = state;
  return [
    ...made,
    ...rules(state, "model"),
    `prior = ${prior ? list(probabilities(prior, table.hypotheses.length)) : "None  # uniform"}`,
  ];
}

const printBelief = (belief) => `    print(name, dict(zip(rule.model.hypotheses, ${belief}.tolist())))`;

/** Code for the beliefs of the three rules' learners after some data. */
const learners = (shown, comment) => [
  `shown = ${list(shown)}  # ${comment}`,
  "for name, rule in rules.items():",
  "    learner = cb.Learner(rule, prior=prior)",
  "    for datum in shown:",
  "        learner.observe(datum)",
  printBelief("learner.belief"),
];

function lesson(state, made) {
  const { choice, round, seed, table, truth } = state;
  const first = setting(state, made);
  if (choice === "you") {
    const shown = lessonsAt(state)[2].data.slice(0, round);
    return [...first, ...learners(namesOf(shown, table.data), "the data that you chose")];
  }
  const how = choice === "draw" ? `rng=np.random.SFC64(${seed})` : 'choice="likeliest"';
  return [
    ...(choice === "draw" ? ["import numpy as np", ""] : []),
    ...first,
    "for name, rule in rules.items():",
    `    teacher = cb.Teacher(rule, ${text(table.hypotheses[truth])}, prior=prior, ${how})`,
    `    lesson = cb.run_lesson(teacher, cb.Learner(rule, prior=prior), ${round})`,
    printBelief("lesson.beliefs[-1]"),
  ];
}

function play(state, made) {
  const { truth, data } = gameOf(state);
  const comment = `the teacher meant ${text(state.table.hypotheses[truth])}`;
  return [...setting(state, made), ...learners(namesOf(data, state.table.data), comment)];
}

/** Code for many lessons; its random numbers differ from the page's, so means agree only up to sampling error. */
function compare(state, made) {
  const { lessons, rounds, seed, table, truth } = state;
  return [
    ...setting(state, made),
    `truth = ${text(table.hypotheses[truth])}`,
    "for name, rule in rules.items():",
    `    lessons = cb.simulate(rule, truth, num_rounds=${rounds}, num_lessons=${lessons}, prior=prior, rng=${seed})`,
    `    print(name, {"mean": float(lessons.mean(truth)[-1]), "std": float(lessons.std(truth)[-1])})`,
  ];
}

function grid(state) {
  const { world, moves } = walk(state);
  const { width, height, start, goals, walls, discount } = state.board;
  const square = ([row, column]) => `(${row}, ${column})`;
  const named = Object.entries(goals).map(([label, at]) => `${text(label)}: ${square(at)}`);
  return [
    "world = cb.GridWorld(",
    `    ${width}, ${height}, start=${square(start)}, goals={${named.join(", ")}}, discount=${discount},`,
    `    walls=[${walls.map(square).join(", ")}], actions=${list(world.actions)},`,
    ")",
    ...rules({ ...state, dataPrior: null, repeats: true }, "world"),
    "prior = None  # uniform",
    ...learners(namesOf(moves.slice(0, state.steps), world.actions), "moves of the walker"),
  ];
}
