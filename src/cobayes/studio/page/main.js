/** The page: a head, settings, one of six views, and the address that remembers it all. */
import { announce, button, h, prefersCalm, put } from "./dom.js";
import { download, redrawFigures } from "./figures.js";
import { serveJobs } from "./jobs.js";
import { pythonFor } from "./python_text.js";
import { settingsPanel } from "./settings.js";
import { Store } from "./state.js";
import { toCsv } from "./tables.js";
import { compareView } from "./view_compare.js";
import { gridView } from "./view_grid.js";
import { lessonView } from "./view_lesson.js";
import { misjudgeView } from "./view_misjudge.js";
import { playView } from "./view_play.js";
import { tableView } from "./view_table.js";

/** The views: name, tab, title, what one sees there, and what its numbers are called. */
const TABS = [
  [
    "lesson",
    "Lesson",
    "Watch a belief being taught",
    "A teacher who knows the truth shows one datum after another, and three learners who start from the same belief read them in three ways. The literal one takes data at face value, the pragmatic one asks why this datum and not another, and the cooperative one follows that thought to its end.",
    "lesson",
  ],
  [
    "table",
    "Table",
    "The table that both share",
    "Each row is a datum that a teacher can show, each column a hypothesis. An entry says how strongly they go together; zero rules the datum out, and columns need not sum to one.",
    "table",
  ],
  [
    "compare",
    "Compare",
    "One lesson is luck",
    "Here every rule teaches the same truth many times, each learner taught by a teacher of its own kind.",
    "comparison",
  ],
  [
    "misjudge",
    "Misjudge",
    "The teacher is wrong about the learner",
    "Both follow SCBI, but the learner starts from another belief than the teacher thinks. The lesson is meant for somebody else, and sometimes the learner ends at a wrong hypothesis.",
    "success rate",
  ],
  [
    "play",
    "Play",
    "Can you read the teacher?",
    "A teacher has one hypothesis in mind and shows you data, one at a time. Ask for as few as you can, then guess, and see what each rule would have believed.",
    "game",
  ],
  [
    "grid",
    "Grid",
    "Walking so that others understand",
    "A walker knows which goal is its own; those who watch do not. A cooperative walker goes out of its way, early, to make its goal clear.",
    "walk",
  ],
];

function startPage() {
  const { examples, start } = JSON.parse(document.getElementById("content").textContent);
  const store = new Store(examples, start);
  const wasShared = location.hash.length > 1 && store.decode(location.hash.slice(1));
  const views = {
    lesson: lessonView(store),
    table: tableView(store),
    compare: compareView(store),
    misjudge: misjudgeView(store),
    play: playView(store),
    grid: gridView(store),
  };
  const settings = settingsPanel(store);
  const holder = h("div", { class: "view-holder" });
  const tabs = TABS.map(([name, text]) =>
    h("button", { type: "button", "data-view": name, on: { click: () => store.set({ view: name }) } }, text),
  );
  const toast = h("p", { class: "toast", role: "status", id: "announcer" });
  const dialog = pythonDialog();
  const isExample = () => {
    const example = examples.find(({ name }) => name === store.state.example);
    return Boolean(example?.isPython);
  };
  const csvButton = button("CSV", () => {
    const rows = views[store.state.view].csv();
    if (rows) download(`${store.state.view}.csv`, "text/csv", toCsv(rows));
    else announce("There are no numbers yet.");
  });
  const title = h("h1"),
    lead = h("p");
  const tools = h(
    "div",
    { class: "tools" },
    button("Copy link", () =>
      copy(shareAddress(store), "The link is in the clipboard: it opens the same numbers."),
    ),
    button("Copy as Python", () => dialog.show(pythonFor(store.state, isExample()))),
    csvButton,
  );
  put(
    document.getElementById("app"),
    h(
      "a",
      {
        class: "skip",
        href: "#main",
        on: { click: (event) => (event.preventDefault(), holder.querySelector("button, input")?.focus()) },
      },
      "Skip to the content",
    ),
    h(
      "header",
      { class: "top" },
      h("p", { class: "brand" }, h("b", {}, "cobayes"), h("span", {}, " studio")),
      h("nav", { "aria-label": "views" }, ...tabs),
      tools,
    ),
    h(
      "main",
      { id: "main" },
      h("div", { class: "hero" }, title, lead),
      h("div", { class: "layout" }, settings.element, holder),
    ),
    h(
      "footer",
      {},
      h(
        "p",
        {},
        `Made with cobayes ${start.version ?? ""}: Sequential Cooperative Bayesian Inference, after Wang, Wang and Shafto (ICML 2020). Nothing on this page is sent anywhere.`,
      ),
    ),
    toast,
    dialog.element,
  );
  document.body.classList.toggle("embedded", Boolean(start.embed));
  if (start.embed) document.body.dataset.embed = start.embed;
  if (start.embed) growFrame();
  settings.element.open = innerWidth >= 1000 && !start.embed;

  let current = null;
  const show = (state) => {
    if (current !== state.view) {
      views[current]?.stop?.();
      current = state.view;
      put(holder, views[current].element);
      tabs.forEach((tab) =>
        tab.dataset.view === current
          ? tab.setAttribute("aria-current", "page")
          : tab.removeAttribute("aria-current"),
      );
      document.body.dataset.view = current;
      tabs.find((tab) => tab.dataset.view === current).scrollIntoView?.({ block: "nearest", inline: "nearest" });
      const [, , headline, text, numbers] = TABS.find(([name]) => name === current);
      put(title, headline);
      put(lead, text);
      csvButton.setAttribute("aria-label", `download the ${numbers} as CSV`);
      requestAnimationFrame(redrawFigures);
    }
    settings.update(state);
    views[current].update(state);
  };
  store.watch(show);
  store.watch(() => remember(store));
  show(store.state);
  addEventListener("hashchange", () => store.decode(location.hash.slice(1)));
  settings.element.addEventListener("toggle", redrawFigures);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    redrawFigures();
  });
  // The page is moving when it is first seen, unless it shows what somebody shared.
  const isOpening = !wasShared && store.state.view === "lesson" && store.state.round === 0 && !prefersCalm();
  if (isOpening && start.embed !== "round") views.lesson.play();
  if (isOpening && start.embed === "round") document.querySelector(".stages button").click();
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
}

/** Make the frame that holds the page as high as its content; never lower, so that text around it rests. */
function growFrame() {
  const app = document.getElementById("app");
  new ResizeObserver(() => {
    try {
      const wanted = app.offsetHeight + 8;
      if (frameElement && wanted > frameElement.clientHeight)
        frameElement.style.setProperty("height", `${wanted}px`);
    } catch {
      // A frame from another origin keeps the height that its page gave it.
    }
  }).observe(app);
}

const shareAddress = (store) => `${location.href.split("#")[0]}#${store.encode()}`;

let writing = null;

/** Write the state into the address, a moment after the last change. */
function remember(store) {
  clearTimeout(writing);
  writing = setTimeout(() => {
    try {
      history.replaceState(null, "", `#${store.encode()}`);
    } catch {
      // A page inside another one may have no address of its own; then there is nothing to remember.
    }
  }, 300);
}

function copy(text, message) {
  const done = () => announce(message);
  const byHand = () => {
    const area = h("textarea", { class: "hidden-copy" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    done();
  };
  if (navigator.clipboard?.writeText) navigator.clipboard.writeText(text).then(done, byHand);
  else byHand();
}

function pythonDialog() {
  const code = h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "Python code" });
  const element = h(
    "dialog",
    { "aria-label": "This screen as Python" },
    h("h2", {}, "This screen as Python"),
    code,
    h(
      "div",
      { class: "row" },
      button("Copy", () => copy(code.textContent, "The code is in the clipboard."), { class: "primary" }),
      button("Close", () => element.close()),
    ),
  );
  return {
    element,
    show(text) {
      code.textContent = text;
      element.showModal();
    },
  };
}

if (typeof document === "undefined") serveJobs();
else startPage();
