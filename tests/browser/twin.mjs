// Answer requests to the browser twin, a list on each line: `node twin.mjs cobayes.mjs`.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const cb = await import(pathToFileURL(process.argv[2]).href);

// JSON has no infinities; the twin's numbers are sent as text where they are not finite.
const plain = (value) =>
  Array.isArray(value)
    ? value.map(plain)
    : typeof value === "number" && !Number.isFinite(value)
      ? String(value)
      : value && typeof value === "object"
        ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]))
        : value;
const number = (value) => (value === "-Infinity" ? -Infinity : value);

const answer = {
  respond({ matrix, rule, belief, logBelief, dataPrior }) {
    const made = cb.makeRule(matrix, rule, dataPrior);
    const logs = logBelief ? logBelief.map(number) : cb.toLogs(belief);
    return {
      likelihood: made.respond(logs).map((row) => row.map(Math.exp)),
      logPosteriors: matrix.map((_, datum) => made.logUpdate(logs, datum)),
    };
  },
  follow({ matrix, rule, prior, dataPrior, data, noRepeats }) {
    const learner = new cb.Learner(cb.makeRule(matrix, rule, dataPrior), prior, { noRepeats });
    const logBeliefs = [learner.logBelief];
    for (const datum of data) {
      learner.observe(datum);
      logBeliefs.push(learner.logBelief);
    }
    return logBeliefs;
  },
  blocks({ matrix, rowSums, columnSums }) {
    return cb.scalingBlocks(matrix, rowSums, columnSums);
  },
  rate({ matrix, rule, hypothesis, dataPrior }) {
    return cb.rate(cb.makeRule(matrix, rule, dataPrior), hypothesis);
  },
  alternate({ matrix, belief, dataPrior, count }) {
    return cb.alternate(matrix, belief, dataPrior, count);
  },
  simulate(settings) {
    return cb.simulate(settings);
  },
  grid({ board, square }) {
    return new cb.GridWorld(board).matrixAt(square);
  },
  lesson({ matrix, rule, hypothesis, prior, numRounds, seed, choice, ...task }) {
    const made = cb.makeRule(matrix, rule);
    const rng = new cb.Random(seed);
    const teacher = new cb.Teacher(made, hypothesis, prior, { rng, choice, ...task });
    return cb.runLesson(teacher, new cb.Learner(made, prior, task), numRounds);
  },
  uniforms({ seed, count }) {
    const rng = new cb.Random(seed);
    return Array.from({ length: count }, () => rng.uniform());
  },
};

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(JSON.parse(line).map(({ ask, ...request }) => plain(answer[ask](request)))));
