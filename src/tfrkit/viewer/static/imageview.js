// Owns how a picture of a record is looked at: fitted, zoomed, moved, with boxes over it and the values under the pointer.

import { address, blob, get } from "./api.js";
import { button, el, later, replace } from "./dom.js";
import { bytes } from "./format.js";
import { overlay } from "./thumbs.js";

const MOST_ZOOM = 64;

/** A picture of {set, n, feature, index, step, size, boxes}. `element.zoom(factor)`, 0 fits it. */
export function imageView(of) {
  const { set, n, feature, index = 0, step = null, boxes = null } = of;
  const where = { set, n, feature, index, step };
  const area = el("div", {
    class: "image-area",
    tabindex: "0",
    role: "group",
    "aria-label": `Picture of ${feature}: plus and minus zoom, arrows move`,
  });
  const facts = el("span", { class: "muted" });
  const values = el("span", { class: "pixel", "aria-live": "off" });
  const abort = new AbortController();
  let picture = null;
  let image = null;
  let scale = 1; // 1 is fitted

  const pixels = later(60, async (x, y) => {
    const asked = { ...where, x, y, w: 1, h: 1 };
    try {
      const answer = await get("/api/pixels", asked, abort.signal);
      values.textContent = `(${x}, ${y})  ${answer.values.flat(Infinity).join(" ")}`;
    } catch (error) {
      if (error.name !== "AbortError") values.textContent = "";
    }
  });

  function fitted() {
    const width = Math.min(1, area.clientWidth / image.naturalWidth, 420 / image.naturalHeight);
    const small = Math.min(area.clientWidth / image.naturalWidth, 240 / image.naturalHeight);
    return small > 1 ? Math.min(16, Math.max(1, Math.floor(small))) : width;
  }

  function draw() {
    const factor = fitted() * scale;
    picture.style.setProperty("width", `${Math.max(1, Math.round(image.naturalWidth * factor))}px`);
    picture.style.setProperty("height", `${Math.max(1, Math.round(image.naturalHeight * factor))}px`);
    image.classList.toggle("pixels", factor >= 2);
    const size = of.size ? ` · ${bytes(of.size)}` : "";
    facts.textContent = `${image.naturalWidth} × ${image.naturalHeight}${size} · ${Math.round(100 * factor)} %`;
  }

  function zoom(factor, at = null) {
    if (image === null) return;
    const box = area.getBoundingClientRect();
    const [x, y] = at ?? [box.width / 2, box.height / 2];
    const [left, top] = [(area.scrollLeft + x) / scale, (area.scrollTop + y) / scale];
    scale = factor === 0 ? 1 : Math.max(1 / 8, Math.min(MOST_ZOOM, scale * factor));
    draw();
    area.scrollLeft = left * scale - x;
    area.scrollTop = top * scale - y;
  }

  area.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.altKey) return;
      event.preventDefault();
      const box = area.getBoundingClientRect();
      zoom(event.deltaY < 0 ? 1.25 : 0.8, [event.clientX - box.left, event.clientY - box.top]);
    },
    { passive: false },
  );
  area.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [-40, 0], ArrowRight: [40, 0], ArrowUp: [0, -40], ArrowDown: [0, 40] }[event.key];
    if (move === undefined || scale <= 1) return;
    area.scrollBy(...move);
    event.preventDefault();
    event.stopPropagation();
  });
  area.addEventListener("pointermove", (event) => {
    if (image === null) return;
    if (event.buttons === 1) {
      area.scrollBy(-event.movementX, -event.movementY);
      return;
    }
    const box = image.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * image.naturalWidth);
    const y = Math.floor(((event.clientY - box.top) / box.height) * image.naturalHeight);
    if (x >= 0 && y >= 0 && x < image.naturalWidth && y < image.naturalHeight) pixels(x, y);
  });
  area.addEventListener("pointerleave", () => {
    pixels.cancel();
    values.textContent = "";
  });

  const tools = el(
    "div",
    { class: "image-tools" },
    button("−", () => zoom(0.8), { "aria-label": "Smaller" }),
    button("+", () => zoom(1.25), { "aria-label": "Larger" }),
    button("Fit", () => zoom(0)),
    facts,
    values,
  );
  const view = el("figure", { class: "image-view" }, area, tools);
  view.zoom = zoom;
  view.drop = () => {
    abort.abort();
    pixels.cancel();
  };
  (async () => {
    try {
      const source = URL.createObjectURL(await blob(address("/api/value", where), abort.signal));
      const loaded = el("img", { src: source, alt: `${feature} of record ${n}`, draggable: "false" });
      await loaded.decode();
      image = loaded;
      picture = el("span", { class: "picture" }, image, boxes?.length ? overlay(boxes) : null);
      replace(area, picture);
      requestAnimationFrame(draw);
    } catch (error) {
      if (abort.signal.aborted) return;
      const reason = await why(where, error);
      area.classList.add("broken");
      replace(area, el("span", { class: "why" }, reason));
      facts.textContent = of.size ? bytes(of.size) : "";
    }
  })();
  return view;
}

/** Why a picture is not shown, as the decoder of the server says it. */
async function why(where, error) {
  try {
    await blob(address("/api/thumb", { ...where, size: 64 }));
    return "This browser does not show this picture.";
  } catch (told) {
    return told.message ?? error.message;
  }
}
