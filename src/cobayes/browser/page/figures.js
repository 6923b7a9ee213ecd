/** Figures with captions, which can be saved as SVG or PNG, and the download of files. */
import { button, h, put } from "./dom.js";

/** Style properties that are copied into a saved drawing. */
const KEPT = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity"],
  ...["fill-opacity", "font-family", "font-size", "font-weight", "paint-order"],
];

const all = new Set();

/**
 * A figure that is drawn for the available width.
 * @returns {{element: HTMLElement, caption: HTMLElement, draw: (make: (width: number) => SVGElement) => void}}
 */
export function figure(title, text, extra = null) {
  const place = h("div", { class: "drawing" });
  const caption = h("span", {}, text);
  const name = title.toLowerCase().replace(/[^a-z]+/g, "-");
  const tools = h(
    "span",
    { class: "tools" },
    button("SVG", () => saveSvg(place.querySelector("svg"), name), { "aria-label": `download ${title} as SVG` }),
    button("PNG", () => savePng(place.querySelector("svg"), name), { "aria-label": `download ${title} as PNG` }),
  );
  const element = h(
    "figure",
    {},
    h("div", { class: "figure-head" }, h("h3", {}, title), tools),
    extra,
    place,
    h("figcaption", {}, caption),
  );
  let make = null,
    width = 0;
  const self = {
    element,
    caption,
    draw(next) {
      make = next;
      // Reading the width makes the browser lay out the page, so it is read once.
      width ||= place.clientWidth;
      put(place, make(Math.max(260, Math.floor(width || 480))));
    },
    redraw() {
      width = 0;
      if (make && element.isConnected) self.draw(make);
    },
  };
  all.add(self);
  return self;
}

/** Draw every figure again, for a new width. */
export function redrawFigures() {
  for (const one of all) one.redraw();
}

/** A drawing as SVG text that needs no style sheet. */
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")],
    copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, k) => {
    const computed = getComputedStyle(original);
    copies[k].removeAttribute("style");
    copies[k].removeAttribute("class");
    for (const name of KEPT) {
      const value = computed.getPropertyValue(name);
      if (value) copies[k].setAttribute(name, value);
    }
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

const saveSvg = (drawing, name) => drawing && download(`${name}.svg`, "image/svg+xml", standalone(drawing));

function savePng(drawing, name) {
  if (!drawing) return;
  const address = URL.createObjectURL(new Blob([standalone(drawing)], { type: "image/svg+xml" }));
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => download(`${name}.png`, "image/png", blob));
  };
  image.src = address;
}

export function download(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: address, download: `cobayes-${name}` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
