/** The page: settings, one of five views, and an address that holds the state. */
import { announce, h, prefersCalm, put } from "./dom.js";
import { download, redrawFigures } from "./figures.js";
import { serveSimulations } from "./jobs.js";
import { pythonFor } from "./python_text.js";
import { settingsPanel } from "./settings.js";
import { Store } from "./state.js";
import { toCsv } from "./tables.js";
import { compareView } from "./view_compare.js";
import { gridView } from "./view_grid.js";
import { lessonView } from "./view_lesson.js";
import { playView } from "./view_play.js";
import { tableView } from "./view_table.js";

const find = (selector) => document.querySelector(selector);
const onClick = (selector, act) => find(selector).addEventListener("click", act);

function startPage() {
  const { examples, start } = JSON.parse(find("#content").textContent);
  const store = new Store(examples, start);
  const wasShared = location.hash.length > 1 && store.decode(location.hash.slice(1));
  const views = {
    lesson: lessonView(store),
    table: tableView(store),
    compare: compareView(store),
    play: playView(store),
    grid: gridView(store),
  };
  const settings = settingsPanel(store);
  find("#settings").replaceWith(settings.element);
  settings.element.open = innerWidth >= 1000 && !start.embed;
  find("#app").hidden = false;
  if (start.embed) {
    document.body.classList.add("embedded");
    document.body.dataset.embed = start.embed;
    growFrame();
  }
  listenToHead(store, views);

  let current = null;
  const show = (state) => {
    if (current !== state.view) {
      views[current]?.stop?.();
      current = state.view;
      put(find(".view-holder"), views[current].element);
      document.body.dataset.view = current;
      const tab = find(`nav [data-view=${current}]`);
      find("nav [aria-current]")?.removeAttribute("aria-current");
      tab.setAttribute("aria-current", "page");
      tab.scrollIntoView?.({ block: "nearest", inline: "nearest" });
      put(find("h1"), tab.dataset.title);
      put(find(".hero p"), tab.dataset.text);
      find("#csv").setAttribute("aria-label", `download the ${tab.dataset.numbers} as CSV`);
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
  // A lesson plays when the page opens, unless the address is a shared link.
  const isOpening = !wasShared && store.state.view === "lesson" && store.state.round === 0 && !prefersCalm();
  if (isOpening && start.embed !== "round") views.lesson.play();
  if (isOpening && start.embed === "round") find(".stages button").click();
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
}

/** Connect the buttons of the head: tabs, link, code and CSV. */
function listenToHead(store, views) {
  const [dialog, code] = [find("dialog"), find("dialog pre")];
  onClick("nav", ({ target }) => target.dataset.view && store.set({ view: target.dataset.view }));
  onClick(".skip", (event) => {
    event.preventDefault();
    find(".view-holder").querySelector("button, input")?.focus();
  });
  const address = () => `${location.href.split("#")[0]}#${store.encode()}`;
  onClick("#copy-link", () => copy("#copy-link", address(), "The link is in the clipboard: it opens the page in the same state."));
  onClick("#copy-python", () => {
    code.textContent = pythonFor(store.state, store.examples);
    dialog.showModal();
  });
  onClick("#copy-code", () => copy("#copy-code", code.textContent, "The code is in the clipboard."));
  onClick("#close-code", () => dialog.close());
  onClick("#csv", () => {
    const rows = views[store.state.view].csv();
    if (rows) download(`${store.state.view}.csv`, "text/csv", toCsv(rows));
    else announce("There are no numbers yet.");
  });
}

/** Make the frame of an embedded page as high as its content. The frame never shrinks, so that the text below it does not jump. */
function growFrame() {
  const app = find("#app");
  new ResizeObserver(() => {
    const wanted = app.offsetHeight + 8;
    // In a page of another origin, frameElement is null, and the frame keeps the height set by that page.
    if (frameElement && wanted > frameElement.clientHeight) frameElement.style.setProperty("height", `${wanted}px`);
  }).observe(app);
}

let writing = null;

/** Write the state into the address, a moment after the last change. */
function remember(store) {
  clearTimeout(writing);
  writing = setTimeout(() => {
    try {
      history.replaceState(null, "", `#${store.encode()}`);
    } catch {
      // An embedded page may have no address of its own.
    }
  }, 300);
}

/** Copy a text, announce it, and mark the pressed button for two seconds. */
function copy(selector, text, message) {
  const done = () => {
    announce(message);
    find(selector).classList.add("copied");
    setTimeout(() => find(selector).classList.remove("copied"), 2000);
  };
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

if (typeof document === "undefined") serveSimulations();
else startPage();
