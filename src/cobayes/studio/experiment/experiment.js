/* The experiment: instructions, lessons, a table of responses. What it does is set in config.js. */

const address = new URLSearchParams(location.search);
const isDemo = address.has("demo");
// Recruiting services put their own name for a person into the address.
const person =
  address.get("person") ??
  address.get("PROLIFIC_PID") ??
  address.get("workerId") ??
  `p${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
const seed = CONFIG.seed ?? Math.floor(Math.random() * 2 ** 31);

const jsPsych = initJsPsych({ show_progress_bar: CONFIG.progress_bar, auto_update_progress_bar: true });

/** A page of text with a button. */
class TextPage {
  static info = {
    name: "cobayes-text",
    version: "1.0.0",
    parameters: {
      paragraphs: { type: jsPsychModule.ParameterType.COMPLEX, default: [] },
      button: { type: jsPsychModule.ParameterType.STRING, default: "Continue" },
    },
    data: {},
  };

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  trial(display, trial) {
    const page = document.createElement("div");
    page.className = "cobayes cobayes-text";
    for (const text of trial.paragraphs)
      page.append(Object.assign(document.createElement("p"), { textContent: text }));
    const button = Object.assign(document.createElement("button"), {
      textContent: trial.button,
      className: "jspsych-btn",
      type: "button",
    });
    button.addEventListener("click", () => this.jsPsych.finishTrial({}), { once: true });
    page.append(button);
    display.replaceChildren(page);
  }
}

/** The lessons in order: every problem with every truth that was asked for. */
function lessons() {
  const list = CONFIG.problems.flatMap((problem) =>
    (CONFIG.truths ?? problem.hypotheses)
      .map((label) => ({ problem, truth: problem.hypotheses.indexOf(label) }))
      .filter(({ truth }) => truth >= 0),
  );
  const order = CONFIG.shuffle ? jsPsych.randomization.shuffle(list) : list;
  return (isDemo ? order.slice(0, 1) : order).map(
    ({ problem, truth }, k) =>
      new jsPsychCobayes.Lesson({
        role: CONFIG.role,
        problem,
        truth,
        number: k + 1,
        rule: CONFIG.rule,
        prior: CONFIG.prior,
        dataPrior: CONFIG.data_prior,
        noRepeats: CONFIG.no_repeats || Boolean(problem.no_repeats),
        costs: problem.costs ?? null,
        shuffle: CONFIG.shuffle,
        seed: seed + k,
      }),
  );
}

const rounds = lessons().flatMap((lesson) =>
  Array.from({ length: CONFIG.rounds }, () => ({
    timeline: [
      {
        type: jsPsychCobayes,
        lesson,
        response: CONFIG.response,
        feedback: CONFIG.feedback,
        texts: CONFIG.texts,
        show_belief: isDemo,
      },
    ],
    conditional_function: () => !lesson.isOver,
  })),
);

const response = CONFIG.role === "teacher" ? "choice" : CONFIG.response;

/** The table that `cobayes fit` reads. */
function table() {
  const trials = jsPsych.data
    .get()
    .filter({ trial_type: "cobayes" })
    .values()
    .filter((trial) => !trial.skipped);
  return jsPsychCobayes.responseTable(
    trials.map((trial) => ({ person, ...trial })),
    response,
  );
}

const saving = {
  type: TextPage,
  paragraphs: () => CONFIG.thanks,
  button: isDemo ? "Start again" : CONFIG.save ? "Finish" : "Download my answers",
  on_finish: () => {
    if (isDemo) location.reload();
    else if (CONFIG.save) CONFIG.save(table(), person, jsPsych);
    else {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
      link.download = `responses-${person}.csv`;
      link.click();
    }
  },
};

jsPsych.data.addProperties({ person, role: CONFIG.role, seed, rule: JSON.stringify(CONFIG.rule) });
jsPsych.run([
  ...CONFIG.instructions.map((paragraphs) => ({ type: TextPage, paragraphs })),
  ...rounds,
  saving,
]);
