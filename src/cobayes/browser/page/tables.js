/** Read a table that was typed or pasted; messages name the error and its place. */
import { positions } from "../twin/blocks.js";

const MAX_ROWS = 200,
  MAX_COLUMNS = 60,
  MAX_LABEL = 80,
  TOO_LARGE = `At most ${MAX_ROWS} data (rows) and ${MAX_COLUMNS} hypotheses (columns) are allowed here. Use Python for larger tables.`;

/** @typedef {{data: string[], hypotheses: string[], matrix: number[][]}} Table */

/**
 * Read text copied from a spreadsheet or a CSV file.
 *
 * Columns are separated by tabs, semicolons, commas or spaces; the first row may name the hypotheses and the first
 * column the data. Decimal commas are understood where columns are not separated by commas.
 * @param {string} text
 * @returns {{table: Table | null, message: string}} A table, or a message that names the error and its place.
 */
export function parseTable(text) {
  const all = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const filled = positions(all.length).filter((k) => all[k].trim() !== "");
  const lines = filled.map((k) => all[k]);
  if (!lines.length) return refuse("Nothing to read: paste a table with data as rows and hypotheses as columns.");
  if (lines.length > MAX_ROWS + 1)
    return refuse(TOO_LARGE);
  const separator = findSeparator(lines);
  const cells = lines.map((line) => splitLine(line, separator));
  const width = Math.max(...cells.map((row) => row.length));
  const isNumber = (cell) => Number.isFinite(readNumber(cell));
  const isHead =
    cells[0].some((cell, k) => k > 0 && !isNumber(cell)) ||
    (cells.length > 1 && cells[0].length === 1 && !isNumber(cells[0][0]));
  const body = isHead ? cells.slice(1) : cells;
  const isLabelled = body.some((row) => !isNumber(row[0])) || (isHead && cells[0][0] === "" && width > 1);
  const offset = isLabelled ? 1 : 0;
  if (!body.length) return refuse("There is a row of names but no row of numbers below it.");
  let names = isHead ? cells[0] : [];
  // The row of names may or may not have a cell above the names of the data.
  if (isHead && isLabelled && names.length >= width) names = names.slice(1);
  const columns = width - offset;
  if (columns < 1) return refuse("There is no column of numbers.");
  const matrix = [];
  for (let i = 0; i < body.length; i++) {
    const row = body[i].slice(offset);
    const line = filled[i + (isHead ? 1 : 0)] + 1;
    if (row.length !== columns) return refuse(`Line ${line}: found ${row.length} of ${columns} numbers.`);
    const bad = row.findIndex((cell) => !isNumber(cell));
    if (bad >= 0) return refuse(`“${shorten(row[bad])}” in line ${line}, column ${bad + 1 + offset} is not a number.`);
    matrix.push(row.map(readNumber));
  }
  const table = {
    data: labels(isLabelled ? body.map((row) => row[0]) : [], body.length, "d"),
    hypotheses: labels(names, columns, "h"),
    matrix,
  };
  const [problem] = problems(table);
  return problem ? refuse(problem.message) : { table, message: "" };
}

/**
 * The errors of a table.
 * @param {Table} table
 * @returns {{message: string, row?: number, column?: number}[]} `row`, `column`: the cell, row or column concerned, if any.
 */
export function problems({ data, hypotheses, matrix }) {
  if (matrix.length > MAX_ROWS || hypotheses.length > MAX_COLUMNS) return [{ message: TOO_LARGE }];
  const found = [];
  matrix.forEach((row, i) =>
    row.forEach((value, j) => {
      if (!Number.isFinite(value))
        found.push({ row: i, column: j, message: `“${data[i]}”, “${hypotheses[j]}”: the cell is empty or not a number.` });
      else if (value < 0)
        found.push({
          row: i,
          column: j,
          message: `“${data[i]}”, “${hypotheses[j]}”: ${value} is negative; entries are 0 or more.`,
        });
      else if (value > 1e100 || (value > 0 && value < 1e-100))
        found.push({
          row: i,
          column: j,
          message: `“${data[i]}”, “${hypotheses[j]}”: ${value} is out of range; entries are 0 or from 1e-100 to 1e100.`,
        });
    }),
  );
  if (found.length) return found;
  if (matrix.length < 2) found.push({ message: "A lesson needs at least two data (rows)." });
  if (hypotheses.length < 2) found.push({ message: "A lesson needs at least two hypotheses (columns)." });
  matrix.forEach((row, i) => {
    if (row.every((value) => value === 0))
      found.push({ row: i, message: `Datum “${data[i]}” is all zeros: it is impossible under every hypothesis. Remove the row.` });
  });
  hypotheses.forEach((name, j) => {
    if (matrix.every((row) => row[j] === 0))
      found.push({ column: j, message: `Hypothesis “${name}” is all zeros: every datum is impossible under it. Remove the column.` });
  });
  for (const [names, what, place] of [
    [data, "data", "row"],
    [hypotheses, "hypotheses", "column"],
  ])
    names.forEach((name, k) => {
      if (name.trim() === "") found.push({ [place]: k, message: `A name is missing.` });
      else if (names.indexOf(name) !== k)
        found.push({ [place]: k, message: `Two ${what} are called “${name}”; names must differ.` });
    });
  return found;
}

/** The positions of two proportional columns, whose hypotheses no data can tell apart; null if there are none. */
export function proportionalColumns({ hypotheses, matrix }) {
  for (let j = 0; j < hypotheses.length; j++)
    for (let k = j + 1; k < hypotheses.length; k++) {
      const i = matrix.findIndex((row) => row[j] > 0);
      const factor = matrix[i][k] / matrix[i][j];
      if (
        factor > 0 &&
        matrix.every((row) => Math.abs(row[k] - factor * row[j]) <= 1e-12 * Math.max(row[k], factor * row[j]))
      )
        return [j, k];
    }
  return null;
}

/** A number as people write it: 0,5 or 1/3 or 40 %. NaN for 1,200, which may mean 1200 or 1.2. */
export function readNumber(cell) {
  let text = String(cell).trim();
  const share = text.endsWith("%") ? 0.01 : 1;
  text = text.replace(/\s*%$/, "");
  if (/^[-+]?\d*,\d+(e[-+]?\d+)?$/i.test(text) && !/^[-+]?[1-9]\d{0,2},\d{3}$/.test(text)) text = text.replace(",", ".");
  const parts = text.split("/").map((part) => part.trim());
  // Number() also reads "0x10" and "", which are no numbers in a table.
  if (parts.length > 2 || !parts.every((part) => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(part))) return NaN;
  return (Number(parts[0]) / Number(parts[1] ?? 1)) * share;
}

function findSeparator(lines) {
  for (const separator of ["\t", ";"]) if (lines.some((line) => line.includes(separator))) return separator;
  if (lines.some((line) => line.includes(","))) return ",";
  return /\S\s+\S/.test(lines[lines.length - 1]) ? " " : "\t";
}

/** Split a line at separators outside of quotation marks, or at all white space. */
function splitLine(line, separator) {
  if (separator === " ") return line.trim().split(/\s+/);
  const cells = [];
  let cell = "",
    isQuoted = false;
  for (let k = 0; k < line.length; k++) {
    const sign = line[k];
    if (sign === '"' && isQuoted && line[k + 1] === '"') {
      cell += '"';
      k++;
    } else if (sign === '"' && (isQuoted || cell.trim() === "")) isQuoted = !isQuoted;
    else if (sign === separator && !isQuoted) {
      cells.push(unguarded(cell));
      cell = "";
    } else cell += sign;
  }
  cells.push(unguarded(cell));
  return cells;
}

/** A cell without the apostrophe that `toCsv` sets before what looks like a formula. */
const unguarded = (cell) => cell.trim().replace(/^'(?='*[=+\-@\t\r])/, "");

/** Names of at most MAX_LABEL letters; a letter and a number replace a missing name. */
function labels(names, count, letter) {
  return Array.from({ length: count }, (_, k) => (names[k] ?? "").slice(0, MAX_LABEL) || `${letter}${k + 1}`);
}

const shorten = (text) => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
const refuse = (message) => ({ table: null, message });

/** A table as CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function toCsv(rows) {
  const cell = (value) => {
    let text = String(value ?? "");
    if (/^'*[=+\-@\t\r]/.test(text) && !Number.isFinite(readNumber(text))) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
