/** One round: the alternating normalisations of the table, up to the matrix of SCBI. */
import { alternate, scaleToBelief } from "../twin/scaling.js";
import { digits, drawing, h, inSightFirst, player, put, setText, svg } from "./dom.js";
import { figure } from "./figures.js";
import { heatMap } from "./heat.js";
import { agentBefore, probabilities } from "./lesson_data.js";

/** The number of normalisations that the slider shows; its last position is the limit. */
const STEPS = 12;
const LIMIT = STEPS + 1;

export function oneRound(store) {
  let shown = null,
    latest = null;
  const slide = h("input", {
    type: "range",
    min: 0,
    max: LIMIT,
    step: 1,
    "aria-label": "normalisation",
    on: { input: () => (play.stop(), store.set({ frame: Number(slide.value) })) },
  });
  const play = player({
    text: "▶ Normalise",
    name: "normalise",
    pause: 650,
    isDone: () => store.state.frame >= LIMIT,
    rewind: () => store.set({ frame: 0 }),
    step: () => store.set({ frame: store.state.frame + 1 }),
  });
  const label = h("p", { class: "stage", "aria-live": "polite" });
  const fig = figure("The normalisations of one round", "", h("div", { class: "stages" }, play.element, slide, label));
  fig.element.classList.add("one-round");

  function update(state, lesson) {
    const { matrix, data, hypotheses } = state.table;
    const at = Math.min(state.round, lesson.logBeliefs.length - 1);
    const logBelief = lesson.logBeliefs[at],
      belief = logBelief.map(Math.exp);
    const n = data.length;
    const agent = agentBefore(state, "SCBI", lesson, at);
    const prior = agent.hasData ? agent.dataPrior : agent.rule.dataPrior;
    const table = matrix.map((row, i) => (prior[i] > 0 ? row : row.map(() => 0)));
    const scaled = scaleToBelief(matrix, logBelief, prior);
    const isLimit = state.frame >= LIMIT;
    const frames = alternate(table, belief, prior, STEPS);
    const limit = scaled.logLikelihood.map((row) => row.map((value, j) => n * Math.exp(value) * belief[j]));
    const values = isLimit ? limit : frames[state.frame];
    const numLost = vanishing(matrix, scaled, prior, logBelief);
    const binds = scaled.blocks && (scaled.blocks.length > 1 || numLost > 0);
    slide.value = String(state.frame);
    put(label, ...stage(state.frame, new Set(prior).size > 1 ? "n × data prior" : "one", binds, scaled.blocks));
    setText(fig.caption, caption(isLimit, binds, numLost, scaled.blocks, hypotheses[state.truth]));
    const sumsOf = (numbers) => ({
      rowSums: numbers.map((row) => row.reduce((sum, x) => sum + x, 0)),
      columnSums: hypotheses.map((_, j) => numbers.reduce((sum, row) => sum + row[j], 0)),
    });
    const goals = { rowGoals: probabilities(prior, n).map((p) => n * p), columnGoals: belief.map((p) => n * p) };
    const isRows = isLimit ? null : state.frame % 2 === 0;
    const sums = state.frame
      ? { ...sumsOf(values), ...goals, isRows }
      : { ...sumsOf(values), rowGoals: null, columnGoals: null, isRows: null };
    const key = JSON.stringify([table, data, hypotheses, state.truth, isLimit && binds ? scaled.blocks : null]);
    latest = [values, sums];
    // While only numbers change, the drawing is kept, so that colours and bars change gradually.
    if (shown?.key !== key) {
      fig.draw((width) => {
        const isWide = width >= 720;
        const part = isWide ? (width - 46) / 2 : width;
        const shared = { data, hypotheses, column: state.truth, width: part };
        const map = heatMap({
          ...shared,
          matrix: values,
          x: isWide ? part + 46 : 0,
          title: "The table after each normalisation",
          blocks: isLimit && binds ? scaled.blocks : null,
        });
        shown = { key, map };
        map.update(...latest);
        if (!isWide) return map.element;
        const first = heatMap({ ...shared, matrix: table, title: "The table M" });
        first.update(table, { ...sumsOf(table), rowGoals: null, columnGoals: null, isRows: null });
        return pair(first.element, map.element, width);
      });
    } else shown.map.update(...latest);
  }
  return { element: fig.element, update: inSightFirst(fig.element, update) };
}

/** The table and its normalised form side by side, as one drawing. */
function pair(first, second, width) {
  const height = Number(first.getAttribute("height"));
  const arrow = svg("text", { class: "arrow", x: width / 2, y: height / 2 - 12, "text-anchor": "middle" }, "→");
  const title = "The table M, and the table after each normalisation";
  return drawing(width, height, title, "", first, arrow, second);
}

function stage(frame, rowGoal, binds, blocks) {
  if (frame === 0)
    return [h("b", {}, "The table M."), " Rows are data, columns hypotheses; the outlined column is the truth."];
  if (frame === LIMIT)
    return [
      h("b", {}, "The limit: SCBI."),
      binds && blocks.length > 1
        ? ` Because of zeros not all rows can sum to ${rowGoal}; each block has its own ratio of column to row sums.`
        : ` With n data, columns sum to n × belief and rows to ${rowGoal}${binds ? "; because of zeros some entries vanish" : ""}.`,
    ];
  const depth = Math.floor((frame - 1) / 2);
  if (frame % 2 === 1)
    return [
      h("b", {}, "Columns to n × belief."),
      ` The teacher of depth ${depth}${depth === 0 ? ", literal Bayes" : ""}: a column, divided by its sum, is the distribution over data for one hypothesis.`,
    ];
  return [h("b", {}, `Rows to ${rowGoal}.`), ` The learner of depth ${depth}: a row, divided by its sum, is the belief after one datum.`];
}

function caption(isLimit, binds, numLost, blocks, truth) {
  if (!isLimit)
    return "Columns and rows are normalised in turn; n is the number of data. Bars show their sums; marks show the target sums. Two normalisations are one step of depth; the end of the slider is the limit.";
  if (!binds)
    return `The teacher of “${truth}” draws from the outlined column; the learner’s next belief is the row of the datum, divided by its sum.`;
  const ratios = blocks.map((block) => digits(block.ratio)).join(", ");
  const lost = `${numLost} positive ${numLost === 1 ? "entry vanishes" : "entries vanish"} in the limit: a cooperative teacher never shows these data for these hypotheses.`;
  return `Blocks are outlined; their ratios of column to row sums are ${ratios}. ${numLost ? lost : ""}`;
}

/** The number of positive entries that vanish in the limit, among available data and hypotheses with a positive belief. */
function vanishing(matrix, scaled, prior, logBelief) {
  let count = 0;
  matrix.forEach((row, i) =>
    row.forEach((value, j) => {
      if (value > 0 && prior[i] > 0 && logBelief[j] > -Infinity && scaled.logLikelihood[i][j] === -Infinity) count++;
    }),
  );
  return count;
}
