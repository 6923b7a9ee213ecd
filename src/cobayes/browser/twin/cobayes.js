/**
 * cobayes.js: the rules of cobayes in the browser, without dependencies.
 *
 * A table of non-negative numbers, data by hypotheses, is shared by a teacher and a learner. A rule
 * turns the learner's belief into a likelihood matrix; the teacher draws a datum from the column of
 * the true hypothesis, the learner multiplies its belief by the row of the datum. `BI` is plain Bayes,
 * `Pragmatic` a recursion of finite depth, `SCBI` its limit. Tables may have zeros.
 *
 * This module does not read files, check labels, or handle large tables. Beyond about 100 rows and 50 columns use the Python
 * package `cobayes`, which is compiled and also has exact distributions, stability, planning and fits to
 * people's choices. Numbers agree with Python's to 1e-10, and the same seed gives the same draws:
 * `new Random(6)` is NumPy's `np.random.SFC64(6)`. Only `simulate` draws other lessons than Python's.
 */
export { scalingBlocks } from "./blocks.js";
export { alternate, scaleToBelief } from "./scaling.js";
export { BI, Pragmatic, SCBI, makeRule, normalize, rate, toLogs } from "./rules.js";
export { Random } from "./random.js";
export { Learner, Teacher, runLesson } from "./lessons.js";
export { simulate } from "./ensembles.js";
export { GridWorld } from "./grid.js";
