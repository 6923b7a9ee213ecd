/** Elements, numbers as text, and small controls. Text is always a text node, never HTML. */

/**
 * Make an element.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] `on`: listeners by event. `style`: style properties. All others become
 *   attributes; values false, null and undefined are left out.
 * @param {...(Node | string | number | null | undefined)} children
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** @returns {SVGElement} A drawing; sizes are in pixels, `title` is for screen readers, `kind` adds a class. */
export function drawing(width, height, title, kind = "", ...children) {
  const box = { viewBox: `0 0 ${width} ${height}`, width, height };
  return svg("svg", { ...box, role: "img", "aria-label": title, class: `chart ${kind}`.trim() }, ...children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [event, listen] of Object.entries(value)) element.addEventListener(event, listen);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...content(children));
  return element;
}

/** The children of an element, without null, undefined and false; names in texts get subscripts. */
const content = (children) =>
  children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "string" ? withSubscripts(child) : child));

/** Write the paper's names with subscripts: h_1 as h₁, M'_2 as M′₂. */
const withSubscripts = (text) =>
  text.replace(/\b([A-Za-z])('?)_(\d)\b/g, (_, letter, prime, digit) => letter + (prime && "′") + "₀₁₂₃₄₅₆₇₈₉"[digit]);

/** Replace the children of an element. The keyboard focus stays at its place. */
export function put(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement : element;
  const place = focused === element ? -1 : [...element.querySelectorAll(FOCUSABLE)].indexOf(focused);
  element.replaceChildren(...content(children));
  if (place >= 0 && document.activeElement !== focused)
    element.querySelectorAll(FOCUSABLE)[place]?.focus({ preventScroll: true });
  return element;
}

/** Set a text only if it has changed: setting it makes the browser compute the layout again. */
export function setText(element, text) {
  if (element.lastText === text) return;
  element.lastText = text;
  element.textContent = withSubscripts(text);
}

/**
 * Wrap `update` for a part of the page whose style is `content-visibility: auto`. The part is updated at once while it is
 * visible, otherwise after the visible parts. Of several delayed updates only the last is done.
 */
export function inSightFirst(element, update) {
  let isInSight = true,
    timer = null;
  element.addEventListener("contentvisibilityautostatechange", ({ skipped }) => (isInSight = !skipped));
  return (...values) => {
    clearTimeout(timer);
    if (isInSight) update(...values);
    else timer = setTimeout(() => update(...values));
  };
}

const FOCUSABLE = "button, input, select, [tabindex]";

/** A number with at most `count` significant digits: 0.0123, 12.3, 1.23e−7. */
export function digits(value, count = 3) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size < 1e-4 || size >= 1e6 ? value.toExponential(count - 1) : String(Number(value.toPrecision(count)));
  return text.replace("-", "−");
}

/** A probability as a percentage; only 0 and 1 are shown as 0.0 % and 100.0 %. */
export function percent(value) {
  if (!Number.isFinite(value)) return "–";
  const hundred = 100 * value;
  if (value > 0 && hundred < 0.05) return "< 0.1 %";
  if (value < 1 && hundred >= 99.95) return "> 99.9 %";
  return `${hundred.toFixed(1)} %`;
}

export const prefersCalm = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? true;

let controlCount = 0;
const newId = (name) => `${name}-${++controlCount}`;

/** A labelled slider with its value beside it. Returns the element with `.set(value)`. */
export function slider({ label, min, max, step, value = min, show = digits, onInput, id = newId("slider") }) {
  const output = h("output", { for: id }, show(value));
  const input = h("input", { id, type: "range", min, max, step, value });
  input.addEventListener("input", () => {
    output.textContent = show(Number(input.value));
    onInput(Number(input.value));
  });
  const element = h("div", { class: "field" }, h("label", { for: id }, label), output, input);
  element.set = (next) => {
    if (document.activeElement !== input) input.value = String(next);
    output.textContent = show(next);
  };
  return element;
}

/** A slider for a share; the share can also be typed. */
export function shareSlider({ label, value, onInput, id = newId("share") }) {
  const typed = h("input", {
    type: "number",
    class: "typed",
    min: 0,
    max: 1,
    step: "any",
    "aria-label": `${label}, typed`,
  });
  const input = h("input", { id, type: "range", min: 0, max: 1, step: 0.005 });
  input.addEventListener("input", () => onInput(Number(input.value)));
  typed.addEventListener("change", () => {
    const next = Number(typed.value);
    if (typed.value.trim() !== "" && next >= 0 && next <= 1) onInput(next);
    else typed.value = String(Number(input.value));
  });
  const element = h("div", { class: "field" }, h("label", { for: id }, label), typed, input);
  element.set = (next) => {
    if (document.activeElement !== input) input.value = String(next);
    if (document.activeElement !== typed) typed.value = String(Number(next.toPrecision(4)));
  };
  element.set(value);
  return element;
}

/** A labelled list to choose from; `options` are [value, text] pairs. */
export function choice({ label, options = [], value = "", onChange, id = newId("choice") }) {
  const select = h("select", { id, on: { change: () => onChange(select.value) } });
  const element = h("div", { class: "field" }, h("label", { for: id }, label), select);
  element.setOptions = (pairs, chosen) => {
    put(select, ...pairs.map(([key, text]) => h("option", { value: key }, text)));
    select.value = chosen;
  };
  element.set = (next) => (select.value = next);
  element.setOptions(options, value);
  element.input = select;
  return element;
}

/** A choice of one option, as a row of buttons. */
export function segments({ label, options, value, onChange }) {
  const buttons = options.map(([key, text, title]) =>
    h("button", { type: "button", title, on: { click: () => onChange(key) } }, text),
  );
  const element = h("div", { class: "segments", role: "group", "aria-label": label }, ...buttons);
  element.set = (next) => options.forEach(([key], k) => buttons[k].setAttribute("aria-pressed", String(key === next)));
  element.set(value);
  return element;
}

/** A labelled number to type. */
export function numberField({ label, min, max, value = min, step = "any", onChange, id = newId("number") }) {
  const input = h("input", { id, type: "number", min, max, step, value, inputmode: "decimal" });
  input.addEventListener("change", () => {
    const next = Number(input.value);
    const inRange = input.value.trim() !== "" && Number.isFinite(next);
    const used = inRange ? Math.min(Math.max(next, min ?? -Infinity), max ?? Infinity) : value;
    input.value = String(used);
    onChange(used);
  });
  const element = h("div", { class: "field" }, h("label", { for: id }, label), input);
  element.set = (next) => {
    value = next;
    if (document.activeElement !== input) input.value = String(next);
  };
  return element;
}

/** A labelled checkbox. */
export function toggle({ label, value = false, onChange, id = newId("toggle") }) {
  const input = h("input", { id, type: "checkbox", on: { change: () => onChange(input.checked) } });
  input.checked = value;
  const element = h("label", { class: "toggle", for: id }, input, h("span", {}, label));
  element.set = (next) => (input.checked = next);
  return element;
}

export function button(text, onClick, attributes = {}) {
  return h("button", { type: "button", ...attributes, on: { click: onClick } }, text);
}

/** A button that takes one step after another until `isDone`; pressed again it pauses. */
export function player({ text, name, pause, isDone, rewind, step }) {
  let timer = null;
  const element = button(text, () => (timer ? stop() : start()), { class: "primary", "aria-label": name });
  function stop() {
    clearInterval(timer);
    timer = null;
    show();
  }
  function start() {
    if (isDone()) rewind();
    timer = setInterval(() => (isDone() ? stop() : step()), prefersCalm() ? 1.6 * pause : pause);
    show();
  }
  function show() {
    put(element, timer ? "❙❙ Pause" : text);
    element.setAttribute("aria-label", timer ? "pause" : name);
  }
  return { element, start, stop, isPlaying: () => timer !== null };
}

/** A table with a head; `body` is its tbody element. */
export const headedTable = (heads, body, attributes = {}) =>
  h("table", attributes, h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))), body);

/** Send a message to screen readers. */
export function announce(text) {
  const place = document.getElementById("announcer");
  if (place) place.textContent = text;
}
