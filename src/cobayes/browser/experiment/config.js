/* The settings of this experiment. Edit this file and load the page again. */
const CONFIG = {
  // The person is the "learner" or the "teacher".
  role: $role,
  // The partner's rule: kind "BI", "Pragmatic" or "SCBI".
  rule: $rule,
  // The response of a person who learns: "guess" or "rating".
  response: $response,
  // What a person who teaches sees after an example: "guess", "belief" (the learner's guess and belief) or "nothing".
  feedback: "guess",
  // Largest number of data in a lesson.
  rounds: $rounds,
  // true: in every problem, a datum is shown at most once in a lesson.
  no_repeats: $no_repeats,
  // Labels of the hypotheses to teach; null: every hypothesis once.
  truths: null,
  // Whether lessons and buttons come in random order; data on a grid keep their places.
  shuffle: true,
  // Seed of the partner's draws and of the orders of lessons and buttons; null: a random seed for each person.
  seed: $seed,
  // Whether a progress bar is shown.
  progress_bar: true,
  // Pages before the first lesson, each a list of paragraphs.
  instructions: $instructions,
  // Text of the page before every lesson but the first.
  new_lesson: $new_lesson,
  // Texts that replace entries of TEXTS in plugin-cobayes.js.
  texts: {},
  // The page after the last lesson.
  thanks: ["Thank you! That was all.", "Please save your answers with the button below."],
  // The function that saves the data; null: the person downloads them. Example:
  // (csv, person) => fetch("save.php", { method: "POST", body: csv })
  save: null,
  // Tables, data by hypotheses, with the partner's priors. no_repeats: true if a datum is shown at most once in a
  // lesson. costs: the cost of each step from the last datum (rows) to the next (columns); null: forbidden. stimuli: the text, image and
  // alternative text that replace a label. grid: rows and columns of the board, on which the data are arranged row by row.
  problems: $problems,
};
