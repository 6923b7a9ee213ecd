/* The order of the experiment: instructions, lessons, the saving of the responses. The settings are in config.js. */

const address = new URLSearchParams(location.search);
const isDemo = address.has("demo");
// Recruiting services add the participant's identifier to the address, under different names.
const named = address.get("person") ?? address.get("PROLIFIC_PID") ?? address.get("workerId");
const made = `p${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
const person = named ?? (isDemo ? "demo" : made);
const seed = CONFIG.seed ?? Math.floor(Math.random() * 2 ** 31);
const fileName = `responses-${person}.csv`;
const response = CONFIG.role === "teacher" ? "choice" : CONFIG.response;

const jsPsych = initJsPsych({ show_progress_bar: CONFIG.progress_bar, message_progress_bar: "Progress" });
const page = (paragraphs, more = {}) => ({ type: jsPsychCobayes.TextPage, paragraphs, ...more });
/** A page after the last lesson, on which the progress bar is full. */
const lastPage = (paragraphs, more) =>
  page(paragraphs, { on_load: () => jsPsych.progressBar && (jsPsych.progressBar.progress = 1), ...more });

/** The lessons in the person's order, one per problem and hypothesis to teach; a demonstration has only one. */
function lessons() {
  const list = CONFIG.problems.flatMap((problem) =>
    (CONFIG.truths ?? problem.hypotheses)
      .map((label) => ({ problem, truth: problem.hypotheses.indexOf(label) }))
      .filter(({ truth }) => truth >= 0),
  );
  // The shuffle has its own seed; those of the lessons are seed, ..., seed + list.length - 1.
  const order = CONFIG.shuffle ? new jsPsychCobayes.Random(seed + list.length).shuffle(list) : list;
  const taken = isDemo ? order.slice(0, 1) : order;
  return taken.map(
    ({ problem, truth }, k) =>
      new jsPsychCobayes.Lesson({
        role: CONFIG.role,
        problem,
        truth,
        number: k + 1,
        numLessons: taken.length,
        numRounds: CONFIG.rounds,
        rule: CONFIG.rule,
        prior: problem.prior ?? null,
        dataPrior: problem.data_prior ?? null,
        noRepeats: CONFIG.no_repeats || Boolean(problem.no_repeats),
        costs: problem.costs ?? null,
        shuffle: CONFIG.shuffle,
        seed: seed + k,
      }),
  );
}

/** The rounds of a lesson; a page before them announces every lesson but the first. */
function timeline(lesson) {
  const round = {
    type: jsPsychCobayes,
    lesson,
    response: CONFIG.response,
    feedback: CONFIG.feedback,
    texts: CONFIG.texts,
    show_belief: isDemo,
  };
  const rounds = Array.from({ length: CONFIG.rounds }, () => ({
    timeline: [round],
    conditional_function: () => !lesson.isOver,
  }));
  if (lesson.number === 1) return rounds;
  const place = `Lesson ${lesson.number} of ${lesson.numLessons}`;
  return [page([place, CONFIG.new_lesson]), ...rounds];
}

/** The table that `cobayes fit` reads. */
function rows() {
  const trials = jsPsych.data
    .get()
    .filter({ trial_type: "cobayes" })
    .values()
    .filter((trial) => !trial.skipped);
  return jsPsychCobayes.responseRows(
    trials.map((trial) => ({ person, ...trial })),
    response,
  );
}

function save() {
  const csv = jsPsychCobayes.toCsv(rows());
  if (CONFIG.save) return CONFIG.save(csv, person, jsPsych);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  link.download = fileName;
  link.click();
}

const all = lessons();
const demoStart = page([
  "This is a demonstration for the authors of the experiment. It shows one lesson; nothing is saved.",
  "The screens are those that a participant sees. The box below them shows your partner's belief, which a participant does not see.",
]);
const demoEnd = lastPage(
  () => [
    `That was one lesson. ${CONFIG.role === "teacher" ? "You taught" : "The right answer was"} “${all[0].spokenTruth}”.`,
    "This table would have been saved; cobayes fit reads it.",
  ],
  { rows, button: "Start again", on_finish: () => location.reload() },
);
const thanks = lastPage(CONFIG.thanks, { button: CONFIG.save ? "Finish" : "Download my answers", on_finish: save });
const end = `Saved as ${fileName}. You may close this page.`;
const saved = lastPage([end], { button: "Download again", on_finish: save });
// The last page is repeated without end, so that it stays.
const stay = { timeline: [saved], loop_function: () => true };

jsPsych.data.addProperties({ person, role: CONFIG.role, seed, rule: JSON.stringify(CONFIG.rule) });
jsPsych.run([
  ...(isDemo ? [demoStart] : []),
  ...CONFIG.instructions.map((paragraphs) => page(paragraphs)),
  ...all.flatMap(timeline),
  isDemo ? demoEnd : thanks,
  ...(isDemo || CONFIG.save ? [] : [stay]),
]);
