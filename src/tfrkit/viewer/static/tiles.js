// Owns what one record looks like in the grid: a picture, a card of text, or a line of the table.

import { el, shortName } from "./dom.js";
import { bytes, count, number, plural } from "./format.js";
import { thumb } from "./thumbs.js";

const SIZES = { s: 96, m: 160, l: 256 };
const CARD_LINES = 6;
const PAYLOAD = { name: "record", list: "context", kind: "bytes", role: "bytes" }; // of records without features
const SHORT_FIRST = { label: 0, text: 1, json: 2, number: 3, numbers: 4, boxes: 5, image: 6, audio: 6, bytes: 7 };

/** The layouts: how wide and high an item is, and how it is drawn from its row. */
export const LAYOUTS = {
  tiles: {
    title: "Pictures",
    width: (size) => SIZES[size] + 20,
    height: (size) => SIZES[size] + 44,
    draw: drawTile,
  },
  cards: { title: "Cards", width: () => 300, height: () => 172, draw: drawCard },
  table: { title: "Table", width: () => 0, height: () => 32, draw: drawLine },
};

/** The layout that suits the features of a set. */
export function suitableLayout(features) {
  if (features.some((feature) => feature.role === "image")) return "tiles";
  const long = features.some((feature) => feature.role === "text" || feature.role === "json");
  return long || features.length === 0 || features.some((feature) => feature.list === "steps") ? "cards" : "table";
}

/** The features in the order in which a table shows them. */
export function tableColumns(features, chosen) {
  if (features.length === 0) return [PAYLOAD];
  const asked = chosen ? chosen.split(",").map(decodeURIComponent) : null;
  if (asked) return asked.map((name) => features.find((feature) => feature.name === name)).filter(Boolean);
  const order = [...features].sort((a, b) => (SHORT_FIRST[a.role] ?? 9) - (SHORT_FIRST[b.role] ?? 9));
  return order.slice(0, 8);
}

/** The features whose cells a layout needs: no others are asked for. */
export function neededColumns(looks, features) {
  const names = looks.layout === "table" ? looks.columns.map((feature) => feature.name) : [looks.label];
  if (looks.layout === "tiles") names.push(looks.image, looks.boxes);
  if (looks.layout === "cards") names.push(...tableColumns(features, "").map((feature) => feature.name));
  return [...new Set(names.filter((name) => name !== null))];
}

/** One value in words: the text of a cell, which may be missing. */
function cellText(cell) {
  if (cell === undefined || cell === null) return "";
  return cell.t || "(empty)";
}

/** The key by which a record stands where it does; "" without one. */
function keyText(row, context) {
  if (row.key === undefined || row.key === null) return "";
  return context.order.includes("bytes:") ? bytes(row.key) : number(row.key);
}

/** The number of a record, and its key if there is an order. */
function numberText(row, context) {
  return [count(row.n), keyText(row, context)].filter(Boolean).join(" · ");
}

/** What a screen reader says of a record. */
function title(row, context) {
  const label = context.label && cellText(row.cells[context.label]);
  const damage = row.error && `damaged: ${row.error}`;
  return [row.n === null ? "Record" : `Record ${count(row.n)}`, label, keyText(row, context), damage].filter(Boolean).join(", ");
}

function drawTile(row, context) {
  const size = SIZES[context.size];
  const name = context.image;
  const cell = row.cells[name];
  const boxes = context.boxes ? row.cells[context.boxes]?.boxes : cell?.boxes;
  let face;
  if (row.error)
    face = el("span", { class: "thumb broken" }, el("span", { class: "why", title: row.error }, row.error));
  else if (cell)
    face = thumb({
      set: context.set,
      n: row.n,
      feature: name,
      step: context.step,
      size,
      boxes,
      alt: title(row, context),
    });
  else face = el("span", { class: "thumb none" }, el("span", { class: "why" }, `no ${name}`));
  const label = context.label ? cellText(row.cells[context.label]) : "";
  const more = cell?.n > 1 ? ` · ${context.step === null ? plural(cell.n, "image") : plural(cell.n, "step")}` : "";
  const caption = el(
    "span",
    { class: "caption" },
    el("span", { class: "label", title: label }, label),
    el("span", { class: "number" }, `${numberText(row, context)}${more}`),
  );
  return [face, caption];
}

function drawCard(row, context) {
  const head = el(
    "span",
    { class: "caption" },
    el("span", { class: "label" }, context.label ? cellText(row.cells[context.label]) : ""),
    el("span", { class: "number" }, numberText(row, context)),
  );
  if (row.error) return [head, el("span", { class: "why" }, row.error)];
  const names = Object.keys(row.cells).filter((name) => name !== context.label);
  names.sort((a, b) => (SHORT_FIRST[row.cells[a].role] ?? 9) - (SHORT_FIRST[row.cells[b].role] ?? 9));
  const lines = names
    .slice(0, CARD_LINES)
    .map((name) =>
      el(
        "span",
        { class: "line" },
        el("span", { class: "name" }, shortName(name)),
        el("span", { class: "value" }, cellText(row.cells[name])),
      ),
    );
  if (Object.keys(row.cells).length === 0) lines.push(el("span", { class: "more" }, "no features"));
  const rest = names.length - lines.length + (Object.keys(row.cells).length < context.asked ? 0 : context.left);
  return [
    head,
    el(
      "span",
      { class: "lines" },
      lines,
      rest > 0 && el("span", { class: "more" }, `and ${plural(rest, "more feature", "more features")}`),
    ),
  ];
}

function drawLine(row, context) {
  const place = el("span", { class: "cell number" }, count(row.n));
  const key = context.order ? el("span", { class: "cell numeric" }, keyText(row, context) || "–") : [];
  if (row.error) return [place, key, el("span", { class: "cell why wide" }, row.error)];
  const payload = row.kind === "bytes" && cellText(row.cells[PAYLOAD.name]);
  if (payload) return [place, key, el("span", { class: "cell wide", title: payload }, payload)];
  const cells = context.columns.map((feature) => {
    const cell = row.cells[feature.name];
    const numeric = cell && feature.kind !== "bytes" && cell.n === 1;
    return el(
      "span",
      { class: numeric ? "cell numeric" : "cell", title: cellText(cell) },
      cell ? cellText(cell) : "–",
    );
  });
  return [place, key, cells];
}

/** The element of an item: a link to its record, or a grey place while the row is on its way. */
export function drawItem(place, row, context, href) {
  const kind = `item ${context.layout}`;
  const position = { "aria-posinset": place + 1, "aria-setsize": context.total ?? -1, "data-place": place };
  if (row === undefined)
    return el("a", { class: `${kind} waiting`, role: "listitem", "aria-label": "Loading", ...position });
  const parts = LAYOUTS[context.layout].draw(row, context);
  const state = row.error ? " damaged" : "";
  return el(
    "span",
    { role: "listitem", class: `${kind}${state}`, ...position },
    el("a", { class: "open", href, tabindex: "-1", "aria-label": title(row, context) }, parts),
  );
}

/** End the requests of an item's pictures. */
export function dropItem(element) {
  for (const frame of element.querySelectorAll(".thumb")) frame.drop?.();
}
