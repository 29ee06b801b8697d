// Owns small pictures of images in records: a few requests at once, the newest wish first, none for what has gone.

import { address, blob } from "./api.js";
import { el, replace, svg } from "./dom.js";

const AT_ONCE = 4;
const waiting = [];
let running = 0;

function next() {
  while (running < AT_ONCE && waiting.length > 0) {
    const task = waiting.pop();
    if (task.abort.signal.aborted) continue;
    running += 1;
    task.run().finally(() => {
      running -= 1;
      next();
    });
  }
}

/**
 * A picture that fits a square of `size` pixels, with boxes drawn over it. `element.drop()` ends its request.
 * `picture`: {set, n, feature, index, size, boxes, labels, alt}.
 */
export function thumb(picture) {
  const { set, n, feature, index = 0, step = null, size, boxes = null, alt } = picture;
  const frame = el("span", { class: "thumb" });
  const abort = new AbortController();
  const sharp = Math.min(640, Math.round(size * Math.min(2, window.devicePixelRatio || 1)));
  const url = address("/api/thumb", { set, n, feature, index, step, size: sharp });
  const run = async () => {
    try {
      const source = URL.createObjectURL(await blob(url, abort.signal));
      const image = el("img", { alt, src: source, draggable: "false" });
      await image.decode();
      URL.revokeObjectURL(source);
      show(frame, image, size, boxes);
    } catch (error) {
      if (abort.signal.aborted) return;
      frame.classList.add("broken");
      const why = error.message || "this browser does not show it";
      replace(frame, el("span", { class: "why", title: why }, why));
    }
  };
  const timer = setTimeout(() => {
    waiting.push({ run, abort });
    next();
  }, 40); // tiles that only pass by ask for nothing
  frame.drop = () => {
    clearTimeout(timer);
    abort.abort();
  };
  return frame;
}

function show(frame, image, size, boxes) {
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = size / Math.max(width, height, 1);
  if (scale > 2) image.classList.add("pixels");
  const shown = el("span", { class: "picture" }, image);
  shown.style.setProperty("width", `${Math.max(1, Math.round(width * scale))}px`);
  shown.style.setProperty("height", `${Math.max(1, Math.round(height * scale))}px`);
  if (boxes?.length) shown.append(overlay(boxes));
  replace(frame, shown);
}

/** Boxes [ymin, xmin, ymax, xmax] in shares of the picture that lies below. */
export function overlay(boxes, marked = -1) {
  const layer = svg("svg", {
    class: "boxes",
    viewBox: "0 0 1 1",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  boxes.slice(0, 200).forEach(([top, left, bottom, right], place) => {
    const at = { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
    if (![top, left, bottom, right].every(Number.isFinite)) return;
    layer.append(svg("rect", { ...at, class: "under" }));
    layer.append(svg("rect", { ...at, class: place === marked ? "box marked" : `box hue${place % 6}` }));
  });
  return layer;
}
