/**
 * plugin-cobayes: a jsPsych 8 plugin. One trial is one round of a lesson with an artificial partner.
 *
 * The person learns from a teacher that follows BI, a pragmatic rule or SCBI and adapts to the person's
 * answers, or teaches a learner that follows such a rule. A lesson is an object that its rounds share.
 */
import { CobayesLesson, responseTable } from "./lesson.js";

const { ParameterType } = jsPsychModule;

class CobayesPlugin {
  static info = {
    name: "cobayes",
    version: "1.0.0",
    parameters: {
      /** A `jsPsychCobayes.Lesson`, the same for all rounds of the lesson. */
      lesson: { type: ParameterType.OBJECT, default: undefined },
      /** What a learner is asked for: "guess" or "rating". */
      response: { type: ParameterType.STRING, default: "guess" },
      /** Whether the partner's belief is shown, for demonstrations. */
      show_belief: { type: ParameterType.BOOL, default: false },
      /** What a teacher sees of the learner's answer: "guess", "belief" or "nothing". */
      feedback: { type: ParameterType.STRING, default: "guess" },
      /** Texts, to be translated or rephrased. */
      texts: { type: ParameterType.OBJECT, default: {} },
    },
    data: {
      /** Name of the problem. */
      problem: { type: ParameterType.STRING },
      /** Number of the person's lesson. */
      lesson: { type: ParameterType.INT },
      /** Round of the lesson, from 1. */
      round: { type: ParameterType.INT },
      /** Label of the datum that was shown. */
      datum: { type: ParameterType.STRING },
      /** Label of the truth, for a person who teaches. */
      hypothesis: { type: ParameterType.STRING },
      /** Label of the truth. */
      truth: { type: ParameterType.STRING },
      /** The person's guess. */
      guess: { type: ParameterType.STRING },
      /** The person's belief in each hypothesis. */
      ratings: { type: ParameterType.COMPLEX },
      /** What the partner believed after the round (a teacher: what it thinks the person believes). */
      belief: { type: ParameterType.COMPLEX },
      /** Milliseconds from the datum to the response. */
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
    this.root = element("div", "cobayes");
    display.replaceChildren(this.root);
    if (lesson.isOver) return this.jsPsych.finishTrial({ skipped: true });
    if (lesson.role === "teacher") this.teach(lesson, trial);
    else this.learn(lesson, trial);
  }

  /** The person teaches: choose a datum, see what the learner makes of it. */
  teach(lesson, trial) {
    const { data, hypotheses } = lesson.problem;
    this.root.append(
      element("p", "cobayes-lead", this.texts.teach),
      element("p", "cobayes-truth", hypotheses[lesson.truth]),
      this.history(lesson),
      element("p", "cobayes-lead", this.texts.choose),
      buttons(lesson.available.map((i) => [data[i], () => choose(i)])),
    );
    const choose = (datum) => {
      const rt = Math.round(performance.now() - this.start);
      const isPossible = lesson.show(datum);
      const belief = lesson.partner.belief;
      const result = this.result(lesson, { datum, rt, belief, hypothesis: hypotheses[lesson.truth] });
      if (trial.feedback === "nothing") return this.jsPsych.finishTrial(result);
      const guess = belief.indexOf(Math.max(...belief));
      const answer = isPossible ? `${this.texts.guesses} ${hypotheses[guess]}` : this.texts.puzzled;
      this.root.replaceChildren(
        this.history(lesson),
        element("p", "cobayes-answer", answer),
        trial.feedback === "belief" || trial.show_belief ? bars(hypotheses, belief) : "",
        buttons([[this.texts.next, () => this.jsPsych.finishTrial(result)]]),
      );
    };
  }

  /** The person learns: see a datum, answer with a guess or a rating. */
  learn(lesson, trial) {
    const { data, hypotheses } = lesson.problem;
    const datum = lesson.nextDatum();
    lesson.show(datum);
    const finish = (answer) => {
      const rt = Math.round(performance.now() - this.start);
      this.jsPsych.finishTrial(this.result(lesson, { datum, rt, belief: lesson.partner.belief, ...answer }));
    };
    this.root.append(
      element("p", "cobayes-lead", this.texts.shows),
      this.history(lesson),
      element("p", "cobayes-datum", data[datum]),
      element("p", "cobayes-lead", trial.response === "rating" ? this.texts.rate : this.texts.guess),
    );
    if (trial.response === "rating")
      this.root.append(
        ratingForm(lesson, this.texts, (rating) => {
          lesson.followRating(rating);
          finish({ ratings: Object.fromEntries(rating.map((share, j) => [hypotheses[j], share])) });
        }),
      );
    else
      this.root.append(
        buttons(
          lesson.hypothesisOrder.map((j) => [
            hypotheses[j],
            () => {
              lesson.followGuess(j);
              finish({ guess: hypotheses[j] });
            },
          ]),
        ),
      );
    if (trial.show_belief)
      this.root.append(
        element("p", "cobayes-lead", this.texts.demo),
        bars(hypotheses, lesson.partner.belief),
      );
  }

  history(lesson) {
    const list = element("ol", "cobayes-history");
    const past = lesson.role === "learner" ? lesson.shown.slice(0, -1) : lesson.shown;
    list.append(...past.map((i) => element("li", "", lesson.problem.data[i])));
    return list;
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

const TEXTS = {
  teach: "You are the teacher. Make your partner think of:",
  choose: "What do you show next?",
  guesses: "Your partner guesses:",
  puzzled: "Your partner is puzzled: nothing it considers goes with that.",
  shows: "Your teacher shows you:",
  guess: "Which one does the teacher have in mind?",
  rate: "How much do you believe in each?",
  next: "Continue",
  demo: "Demo: what the teacher thinks you believe",
};

/** Text is always a text node: nothing in a table is read as HTML. */
function element(tag, name, text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

function buttons(items) {
  const row = element("div", "cobayes-buttons");
  for (const [text, act] of items) {
    const made = element("button", "jspsych-btn", text);
    made.type = "button";
    made.addEventListener("click", act, { once: true });
    row.append(made);
  }
  return row;
}

/** Sliders for belief; what is sent are shares that sum to one. */
function ratingForm(lesson, texts, send) {
  const { hypotheses } = lesson.problem;
  const form = element("form", "cobayes-rating");
  const inputs = [];
  for (const j of lesson.hypothesisOrder) {
    const label = element("label", "", hypotheses[j]);
    const input = element("input", "");
    Object.assign(input, { type: "range", min: "0", max: "100", value: "50" });
    input.setAttribute("aria-label", hypotheses[j]);
    inputs[j] = input;
    label.append(input);
    form.append(label);
  }
  const button = element("button", "jspsych-btn", texts.next);
  button.type = "submit";
  form.append(button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = inputs.map((input) => Number(input.value));
    const sum = values.reduce((total, value) => total + value, 0);
    send(values.map((value) => (sum > 0 ? value / sum : 1 / values.length)));
  });
  return form;
}

function bars(names, belief) {
  const list = element("ul", "cobayes-bars");
  names.forEach((name, j) => {
    const bar = element("meter", "");
    Object.assign(bar, { min: 0, max: 1, value: belief[j] });
    bar.setAttribute("aria-label", name);
    const line = element("li", "", name);
    line.append(bar);
    list.append(line);
  });
  return list;
}

CobayesPlugin.Lesson = CobayesLesson;
CobayesPlugin.responseTable = responseTable;
