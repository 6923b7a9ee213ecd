/**
 * plugin-cobayes: a jsPsych 8 plugin. One trial is one round of a lesson with an artificial partner.
 *
 * Either the person learns from a teacher that follows BI, a pragmatic rule or SCBI and adapts to the person's
 * answers, or the person teaches a learner that follows one of these rules. All rounds of a lesson share one `Lesson` object.
 */
import { button, digits, h, put } from "../page/dom.js";
import { toCsv } from "../page/tables.js";
import { Random } from "../twin/random.js";
import { CobayesLesson, responseRows } from "./lesson.js";
import { board, card, choiceButton, filled, inside, ratingForm } from "./screen.js";

const { ParameterType } = jsPsychModule;

/** Texts on the screen; `texts` in config.js replaces some of them. */
const TEXTS = {
  teacher: "You are the teacher.",
  learner: "You are the learner.",
  place: "Lesson {lesson} of {lessons}, example {round} of {rounds}",
  teach: "The learner does not see which possibility is marked. Help it to find the marked one.",
  marked: "marked",
  choose: "Which example do you show next?",
  showed: "You showed:",
  guesses: "The learner guesses:",
  right: "The guess is right.",
  wrong: "The guess is wrong.",
  believes: "The learner’s belief in each possibility:",
  puzzled: "This example fits none of the possibilities that the learner still considers. The learner ignores it.",
  shows: "The teacher shows you:",
  before: "Examples shown before:",
  guess: "Which possibility does the teacher have in mind?",
  rate: "For each possibility: how certain are you that the teacher has it in mind?",
  low: "not at all",
  high: "certain",
  touch: "Move every slider to continue, or click it to leave it in the middle. Still to do: {left}.",
  zero: "Move at least one slider away from the left end.",
  next: "Continue",
  inTeacher: "Only in this demonstration: the teacher's estimate of your belief",
  inLearner: "Only in this demonstration: the learner's belief",
};

class CobayesPlugin {
  static info = {
    name: "cobayes",
    version: "1.1.0",
    parameters: {
      /** A `jsPsychCobayes.Lesson`, the same for all rounds of the lesson. */
      lesson: { type: ParameterType.OBJECT, default: undefined },
      /** The response of a person who learns: "guess" or "rating". */
      response: { type: ParameterType.STRING, default: "guess" },
      /** Whether the partner's belief is shown, for demonstrations. */
      show_belief: { type: ParameterType.BOOL, default: false },
      /** What a person who teaches sees after an example: "guess", "belief" (the learner's guess and belief) or "nothing". */
      feedback: { type: ParameterType.STRING, default: "guess" },
      /** Texts that replace entries of TEXTS. */
      texts: { type: ParameterType.OBJECT, default: {} },
    },
    data: {
      /** Name of the problem. */
      problem: { type: ParameterType.STRING },
      /** The lesson's number in the person's order, from 1. */
      lesson: { type: ParameterType.INT },
      /** Round of the lesson, from 1. */
      round: { type: ParameterType.INT },
      /** Label of the datum that was shown. */
      datum: { type: ParameterType.STRING },
      /** Label of the hypothesis that the person teaches. */
      hypothesis: { type: ParameterType.STRING },
      /** Label of the truth. */
      truth: { type: ParameterType.STRING },
      /** The person's guess. */
      guess: { type: ParameterType.STRING },
      /** The person's belief in each hypothesis. */
      ratings: { type: ParameterType.COMPLEX },
      /** After the round: the artificial learner's belief, or the artificial teacher's estimate of the person's belief. */
      belief: { type: ParameterType.COMPLEX },
      /** Milliseconds from the start of the round to the response. */
      rt: { type: ParameterType.INT },
    },
  };

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  trial(display, trial) {
    const { lesson } = trial;
    this.texts = { ...TEXTS, ...trial.texts };
    this.start = performance.now();
    this.root = h("div", { class: "cobayes" });
    display.replaceChildren(this.root);
    if (lesson.isOver) return this.jsPsych.finishTrial({ skipped: true });
    if (lesson.role === "teacher") this.teach(lesson, trial);
    else this.learn(lesson, trial);
  }

  /** The person teaches: choose a datum, then see the learner's answer. */
  teach(lesson, trial) {
    const { texts } = this;
    const { data, hypotheses } = lesson.problem;
    const head = this.head(lesson, lesson.shown.length + 1);
    const choose = (datum) => {
      const rt = Math.round(performance.now() - this.start);
      const isPossible = lesson.show(datum);
      const belief = lesson.partner.belief;
      const result = this.result(lesson, { datum, rt, belief, hypothesis: hypotheses[lesson.truth] });
      const finish = () => this.jsPsych.finishTrial(result);
      if (trial.feedback === "nothing") return finish();
      const guess = belief.indexOf(Math.max(...belief));
      const answer = isPossible
        ? [
            h("p", { class: "cobayes-lead" }, texts.guesses),
            card(lesson.problem, hypotheses[guess], "cobayes-guess"),
            h("p", {}, guess === lesson.truth ? texts.right : texts.wrong),
          ]
        : h("p", {}, texts.puzzled);
      const isShown = trial.feedback === "belief" || trial.show_belief;
      put(
        this.root,
        head,
        this.candidates(lesson),
        h("p", { class: "cobayes-lead" }, texts.showed),
        lesson.problem.grid ? board(lesson) : card(lesson.problem, data[datum], "cobayes-datum"),
        h("div", { class: "cobayes-answer", role: "status" }, answer),
        isShown && inside(lesson, trial.show_belief ? texts.inLearner : texts.believes),
        h("div", { class: "cobayes-bar" }, button(texts.next, finish, { class: "jspsych-btn" })),
      );
    };
    put(
      this.root,
      head,
      h("p", { class: "cobayes-lead" }, texts.teach),
      this.candidates(lesson),
      this.history(lesson, lesson.shown),
      h("p", { class: "cobayes-lead" }, texts.choose),
      board(lesson, choose),
      trial.show_belief && inside(lesson, texts.inLearner),
    );
  }

  /** The person learns: see a datum, answer with a guess or a rating. */
  learn(lesson, trial) {
    const { texts } = this;
    const { data, hypotheses } = lesson.problem;
    const datum = lesson.partner.choose();
    lesson.show(datum);
    const finish = (answer) => {
      const rt = Math.round(performance.now() - this.start);
      this.jsPsych.finishTrial(this.result(lesson, { datum, rt, belief: lesson.partner.belief, ...answer }));
    };
    const guess = (j) => {
      lesson.followGuess(j);
      finish({ guess: hypotheses[j] });
    };
    const rate = (rating) => {
      lesson.followRating(rating);
      finish({ ratings: Object.fromEntries(rating.map((share, j) => [hypotheses[j], share])) });
    };
    const isRating = trial.response === "rating";
    put(
      this.root,
      this.head(lesson, lesson.shown.length),
      h("p", { class: "cobayes-lead" }, texts.shows),
      lesson.problem.grid ? board(lesson) : card(lesson.problem, data[datum], "cobayes-datum"),
      this.history(lesson, lesson.shown.slice(0, -1)),
      h("p", { class: "cobayes-lead" }, isRating ? texts.rate : texts.guess),
      isRating
        ? ratingForm(lesson, texts, rate)
        : h(
            "div",
            { class: "cobayes-choices" },
            ...lesson.hypothesisOrder.map((j) => choiceButton(lesson.problem, hypotheses[j], () => guess(j))),
          ),
      trial.show_belief && inside(lesson, texts.inTeacher),
    );
  }

  /** The person's role and the progress of the lesson. */
  head(lesson, round) {
    const place = filled(this.texts.place, {
      lesson: lesson.number,
      lessons: lesson.numLessons,
      round,
      rounds: lesson.numRounds,
    });
    return h("p", { class: "cobayes-head" }, h("b", {}, this.texts[lesson.role]), h("span", {}, place));
  }

  /** All hypotheses with the truth marked, shown to a person who teaches. */
  candidates({ problem, hypothesisOrder, truth }) {
    const item = (j) => {
      const isTruth = j === truth;
      return h(
        "li",
        { class: isTruth ? "cobayes-truth" : "" },
        card(problem, problem.hypotheses[j]),
        isTruth && h("span", { class: "cobayes-mark" }, this.texts.marked),
      );
    };
    return h("ul", { class: "cobayes-candidates" }, ...hypothesisOrder.map(item));
  }

  /** The data of earlier rounds; on a grid the board itself shows them. */
  history({ problem }, shown) {
    if (problem.grid || !shown.length) return null;
    return h(
      "div",
      { class: "cobayes-history" },
      h("span", {}, this.texts.before),
      h("ol", {}, ...shown.map((i) => h("li", {}, card(problem, problem.data[i])))),
    );
  }

  result(lesson, { datum, ...rest }) {
    return {
      problem: lesson.problem.name,
      lesson: lesson.number,
      round: lesson.shown.length,
      datum: lesson.problem.data[datum],
      truth: lesson.problem.hypotheses[lesson.truth],
      ...rest,
    };
  }
}

/** A page of text with a button, and optionally a table above the button. */
class TextPage {
  static info = {
    name: "cobayes-text",
    version: "1.1.0",
    parameters: {
      paragraphs: { type: ParameterType.COMPLEX, default: [] },
      rows: { type: ParameterType.COMPLEX, default: null },
      button: { type: ParameterType.STRING, default: "Continue" },
    },
    data: {},
  };

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  trial(display, { paragraphs, rows, button: text }) {
    const short = (cell) => (Number.isFinite(cell) && !Number.isInteger(cell) ? digits(cell) : String(cell));
    const line = (tag) => (row) => h("tr", {}, ...row.map((cell) => h(tag, {}, short(cell))));
    display.replaceChildren(
      h(
        "div",
        { class: "cobayes cobayes-text" },
        ...paragraphs.map((paragraph) => h("p", {}, paragraph)),
        rows &&
          h(
            "div",
            { class: "cobayes-table", tabindex: 0 },
            h("table", {}, h("thead", {}, line("th")(rows[0])), h("tbody", {}, ...rows.slice(1).map(line("td")))),
          ),
        button(text, () => this.jsPsych.finishTrial({}), { class: "jspsych-btn" }),
      ),
    );
  }
}

Object.assign(CobayesPlugin, { Lesson: CobayesLesson, Random, TextPage, responseRows, toCsv });
