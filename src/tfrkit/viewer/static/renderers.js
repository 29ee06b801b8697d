// Owns how the values of one feature are shown, by the role it has: pictures, sound, text, JSON, numbers, boxes, bytes.

import { address } from "./api.js";
import { lines } from "./charts.js";
import { button, el } from "./dom.js";
import { bytes, count, number, plural } from "./format.js";
import { imageView } from "./imageview.js";

const FIRST_TEXT = 2000;
const FIRST_NUMBERS = 24;
const FIRST_VALUES = 12;
const PLOTTED = 8;

/** The values of a feature. `of`: {set, n, feature, boxes, step, values, sizes}; step null for a feature of no list. */
export function renderValues(of) {
  const { feature, values } = of;
  if (values.length === 0) return el("p", { class: "muted" }, feature.count === 0 ? "no values" : "not shown");
  const render = {
    image: images,
    audio: sounds,
    text: texts,
    json: texts,
    label: plain,
    bytes: texts,
    boxes: boxRows,
  }[feature.role];
  if (feature.kind !== "bytes") return feature.role === "boxes" ? boxRows(of) : numbers(of);
  return (render ?? texts)(of);
}

/** A value of bytes as the server writes it: text, or an object that says what it looks like. */
export function textOf(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value);
  return value.text ?? value.t ?? value.first ?? value.looks_like ?? "";
}

function place(of, index) {
  const { set, n, feature, step } = of;
  return { set, n, feature: feature.name, index, step };
}

function downloads(of, index) {
  const size = of.sizes?.[index];
  return el(
    "a",
    { class: "quiet", href: address("/api/value", { ...place(of, index), download: 1 }), download: true },
    `Download${size === undefined ? "" : ` ${bytes(size)}`}`,
  );
}

function some(of, each, first = FIRST_VALUES) {
  const parts = of.values.slice(0, first).map((value, index) => each(value, index));
  const left = of.feature.count - Math.min(of.values.length, first);
  return [
    parts,
    left > 0 && of.step === null ? el("p", { class: "muted" }, `and ${plural(left, "more value")}`) : null,
  ];
}

function images(of) {
  const { set, n, feature, boxes, step } = of;
  return el(
    "div",
    { class: "values-images" },
    some(
      of,
      (_, index) =>
        imageView({
          set,
          n,
          feature: feature.name,
          index,
          step,
          size: of.sizes?.[index],
          boxes: index === 0 ? boxes : null,
        }),
      6,
    ),
  );
}

function sounds(of) {
  return el(
    "div",
    {},
    some(of, (_, index) =>
      el(
        "div",
        { class: "sound" },
        el("audio", {
          controls: true,
          preload: "metadata",
          src: address("/api/value", place(of, index)),
          "aria-label": of.feature.name,
        }),
        downloads(of, index),
      ),
    ),
  );
}

function texts(of) {
  return el(
    "div",
    { class: "texts" },
    some(of, (value, index) => oneText(of, value, index)),
  );
}

function oneText(of, value, index) {
  const text = textOf(value);
  const size = of.sizes?.[index];
  const json = of.feature.role === "json" ? tree(text) : null;
  if (json !== null) return el("div", { class: "json" }, json, size > 1000 && downloads(of, index));
  const body = el("pre", { class: of.feature.role === "bytes" ? "text raw" : "text" }, text.slice(0, FIRST_TEXT));
  const more =
    text.length > FIRST_TEXT &&
    button(
      `Show all ${count(text.length)} characters`,
      (event) => {
        body.textContent = text;
        event.target.remove();
      },
      { class: "link" },
    );
  const binary = of.feature.role === "bytes" || (size !== undefined && size > 200);
  return el("div", { class: "value-text" }, body, more, more && " ", binary && downloads(of, index));
}

/** JSON as a tree that opens and closes; null if it is none, or was cut. */
function tree(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return branch(null, value, 0);
}

function branch(name, value, depth) {
  const key = name === null ? null : [el("span", { class: "key" }, name), ": "];
  if (value === null || typeof value !== "object") {
    const kind = value === null ? "null" : typeof value;
    return el("div", { class: "leaf" }, key, el("span", { class: `json-${kind}` }, JSON.stringify(value)));
  }
  const entries = Object.entries(value);
  const shown = Array.isArray(value) ? `[ ${entries.length} ]` : `{ ${entries.length} }`;
  if (entries.length === 0 || depth > 40) return el("div", { class: "leaf" }, key, shown);
  const children = entries.slice(0, 200).map(([inner, item]) => branch(inner, item, depth + 1));
  if (entries.length > 200)
    children.push(el("div", { class: "leaf muted" }, `and ${count(entries.length - 200)} more`));
  return el("details", { open: depth < 2 }, el("summary", {}, key, el("span", { class: "muted" }, shown)), children);
}

function plain(of) {
  return el(
    "p",
    { class: "plain" },
    of.values.slice(0, 50).map((value) => el("code", { class: "literal" }, textOf(value))),
  );
}

function numbers(of) {
  const { feature, values } = of;
  const texts = feature.texts ?? values; // with the names of classes, where they are known
  if (values.length === 1)
    return el("p", { class: "plain" }, el("code", { class: "literal big" }, String(texts[0])));
  const list = el("code", { class: "numbers" }, shownNumbers(texts, FIRST_NUMBERS));
  const known =
    values.length < feature.count && of.step === null
      ? `the first ${count(values.length)} of ${plural(feature.count, "value")}`
      : null;
  const more =
    values.length > FIRST_NUMBERS &&
    button(
      `Show ${count(values.length)}`,
      (event) => {
        list.textContent = shownNumbers(texts, texts.length);
        event.target.remove();
      },
      { class: "link" },
    );
  const plot = values.length >= PLOTTED ? lines(feature.name, [values.map(Number)]) : null;
  return el("div", { class: "number-values" }, plot, list, more, known && el("p", { class: "muted" }, known));
}

function shownNumbers(values, most) {
  const text = values
    .slice(0, most)
    .map((value) => (Number.isInteger(value) || typeof value === "string" ? String(value) : number(value)))
    .join("  ");
  return values.length > most ? `${text}  …` : text;
}

function boxRows(of) {
  if (!of.boxes?.length) return of.feature.kind === "bytes" ? texts(of) : numbers(of);
  return el(
    "div",
    { class: "number-values" },
    numbers(of),
    el("p", { class: "muted" }, `${plural(of.boxes.length, "box", "boxes")} on the picture`),
  );
}
