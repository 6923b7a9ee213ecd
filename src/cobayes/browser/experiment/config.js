/* What this experiment does. Edit this file and load the page again. */
const CONFIG = {
  // The person is the "learner" or the "teacher".
  role: $role,
  // The partner's rule: kind "BI", "Pragmatic" or "SCBI".
  rule: $rule,
  // What a learner is asked for: "guess" or "rating".
  response: $response,
  // What a teacher sees of the learner's answer: "guess", "belief" or "nothing".
  feedback: "guess",
  // Data per lesson.
  rounds: $rounds,
  // Whether a datum is shown at most once in a lesson.
  no_repeats: $no_repeats,
  // Hypotheses that are taught, by label; null: each of them once.
  truths: null,
  // Whether lessons and buttons come in random order; data on a grid keep their places.
  shuffle: true,
  // Seed of the partner's draws; null: different draws for each person.
  seed: $seed,
  // Whether progress is shown.
  progress_bar: true,
  // Pages before the first lesson, each a list of paragraphs.
  instructions: $instructions,
  // A page before each of the other lessons.
  new_lesson: $new_lesson,
  // Words on the screens; see TEXTS in plugin-cobayes.js.
  texts: {},
  // The last page.
  thanks: ["Thank you! That was all.", "Please save your answers with the button below."],
  // Where the data go: null offers a download. Or a function, such as
  // (csv, person) => fetch("save.php", { method: "POST", body: csv })
  save: null,
  // Tables, data by hypotheses, with the partner's priors. stimuli: the text, image and alternative text that
  // stand for a label. grid: rows and columns of the board on which the data are laid out, row by row.
  problems: $problems,
};
