/** The screen as Python: code that gives the same numbers. */
import { RULE_LIST, lessonsAt, probabilities } from "./lesson_data.js";
import { walk } from "./view_grid.js";
import { shownSuccess } from "./view_misjudge.js";
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

const dataPriorText = (state) =>
  state.dataPrior ? `, data_prior=${list(probabilities(state.dataPrior, state.table.data.length))}` : "";

function rules(state, subject = state.repeats ? "model" : "task") {
  const prior = dataPriorText(state);
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

/** Name of the generator whose numbers the page draws by. */
const generator = (seed) => `np.random.SFC64(${seed})`;

function lesson(state, isExample) {
  const lessons = lessonsAt(state);
  const truth = text(state.table.hypotheses[state.truth]);
  if (state.choice !== "draw" || !state.round) {
    const sequences = lessons.map((one) => one.data.slice(0, state.round));
    return learners(state, isExample, sequences, `round ${state.round} of the page, teaching ${truth}`);
  }
  const rounds = lessons.map((one, k) => `"${RULE_LIST[k].title}": ${Math.min(state.round, one.data.length)}`);
  return (
    `import numpy as np\n\n${model(state, isExample)}${priorLine(state)}${rules(state)}` +
    `rounds = {${rounds.join(", ")}}\n` +
    "for name, rule in rules.items():\n" +
    `    teacher = cb.Teacher(rule, ${truth}, prior, rng=${generator(state.seed)})  # the page's draws\n` +
    "    lesson = cb.run_lesson(teacher, cb.Learner(rule, prior), rounds[name])\n" +
    "    print(name, dict(zip(model.hypotheses, lesson.beliefs[-1].tolist())))\n"
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
    "    print(name, dict(zip(model.hypotheses, learner.belief.tolist())))\n"
  );
}

const modelOnly = (state, isExample) => model(state, isExample) + "print(model.check())\n";

/** Many lessons at once, by the uniform numbers that the page draws; prints mean and spread at the end. */
function compare(state, isExample) {
  const head =
    `import numpy as np\n\n${model(state, isExample)}${priorLine(state)}${rules(state)}` +
    `uniforms = np.random.Generator(${generator(state.seed)}).random((${state.lessons}, ${state.rounds}))  # the page's draws\n` +
    `truth = ${state.truth}  # ${JSON.stringify(state.table.hypotheses[state.truth])}\n`;
  const tail = '    print(name, {"mean": float(beliefs[:, truth].mean()), "std": float(beliefs[:, truth].std())})\n';
  if (state.repeats)
    return (
      head +
      "for name, rule in rules.items():\n" +
      `    beliefs = np.tile(rule.model.distribution(prior), (${state.lessons}, 1))\n` +
      "    for drawn in uniforms.T:\n" +
      "        sums = rule.likelihood(beliefs)[:, :, truth].cumsum(axis=1)\n" +
      "        data = (drawn[:, None] >= sums / sums[:, -1:]).sum(axis=1)\n" +
      "        beliefs = rule.posteriors(beliefs)[np.arange(len(data)), data]\n" +
      tail
    );
  return (
    head +
    "for name, rule in rules.items():\n    beliefs = []\n    for drawn in uniforms:\n" +
    "        learner = cb.Learner(rule, prior)\n        for uniform in drawn:\n" +
    "            if learner.task.is_over(learner.state, truth):\n                break\n" +
    "            learner.observe(int((uniform >= learner.likelihood[:, truth].cumsum()).sum()))\n" +
    "        beliefs.append(learner.belief)\n    beliefs = np.array(beliefs)\n" +
    tail
  );
}

function misjudge(state, isExample) {
  const m = state.table.hypotheses.length;
  const { lessons, depth } = shownSuccess;
  return (
    `import numpy as np\n\n${model(state, isExample)}` +
    `truth = ${state.truth}  # ${JSON.stringify(state.table.hypotheses[state.truth])}\n` +
    `assumed = ${list(probabilities(state.prior, m))}\nactual = ${list(probabilities(state.learnerPrior, m))}\n` +
    `rule = cb.SCBI(model${dataPriorText(state)})\n` +
    `# the page's draws: one generator per lesson\n` +
    `drawn = np.array([np.random.Generator(np.random.SFC64([${state.seed}, k])).random(2000) for k in range(${lessons})])\n` +
    `taught, believed = np.tile(assumed, (${lessons}, 1)), np.tile(actual, (${lessons}, 1))\n` +
    `ends = np.full(${lessons}, -1)\n` +
    "for uniforms in drawn.T:\n" +
    "    open_ones = np.flatnonzero(ends < 0)\n    if not len(open_ones):\n        break\n" +
    "    sums = rule.likelihood(taught[open_ones])[:, :, truth].cumsum(axis=1)\n" +
    "    data = (uniforms[open_ones, None] >= sums / sums[:, -1:]).sum(axis=1)\n" +
    "    which = np.arange(len(data))\n" +
    "    taught[open_ones] = rule.posteriors(taught[open_ones])[which, data]\n" +
    "    after = rule.posteriors(believed[open_ones])[which, data]\n" +
    "    believed[open_ones] = np.where(np.isnan(after), believed[open_ones], after)\n" +
    "    is_sure = believed[open_ones].max(axis=1) > 1 - 1e-4\n" +
    "    ends[open_ones[is_sure]] = believed[open_ones[is_sure]].argmax(axis=1)\n" +
    'print("success", float((ends == truth).mean()))\n' +
    `found = cb.success_enclosure(rule, truth, teacher_prior=assumed, learner_prior=actual, depth=${depth})\n` +
    'print("proved", found.lower, found.upper)\n'
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
    "    print(name, dict(zip(world.goal_labels, watcher.belief.tolist())))\n"
  );
}
