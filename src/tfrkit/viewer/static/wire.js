// Owns the bytes of a record: hex and text side by side, the fields of the wire format in colours.

import { get } from "./api.js";
import { button, el, replace } from "./dom.js";
import { bytes, count } from "./format.js";

const PAGE = 2048;
const ROW = 16;

/** The bytes of a record; `first` are the wire fields that came with it. `element.show(path)` goes to a field. */
export function bytesView(set, n, size, first) {
  const rows = el("div", {
    class: "hex-rows",
    role: "group",
    tabindex: "0",
    "aria-label": "Bytes: left and right go from field to field",
  });
  const told = el("p", { class: "wire-told", "aria-live": "polite" }, "Point at a byte: the field it belongs to.");
  const more = el("div", {});
  const legend = el("p", { class: "legend" });
  const box = el("div", { class: "hex" }, told, rows, more, legend);
  let shown = 0;
  let fields = first ?? [];
  let pointed = null;
  const kinds = new Set();

  async function load() {
    replace(more, el("p", { class: "muted" }, "Loading …"));
    try {
      const [part, wire] = await Promise.all([
        get("/api/bytes", { set, n, start: shown, count: PAGE }),
        shown === 0 && fields.length > 0
          ? { spans: fields }
          : get("/api/wire", { set, n, start: shown, count: PAGE }),
      ]);
      const list = Array.isArray(wire) ? wire : (wire.spans ?? wire.wire ?? []);
      fields = list;
      draw(part, list);
    } catch (error) {
      replace(more, el("p", { class: "bad" }, error.message), button("Try again", load));
    }
  }

  function draw(part, list) {
    const values = part.hex.match(/../g) ?? [];
    const at = part.start;
    const owner = new Array(values.length).fill(-1);
    list.forEach((field, place) => {
      for (let byte = Math.max(0, field.start - at); byte < Math.min(values.length, field.end - at); byte += 1)
        owner[byte] = place;
    });
    for (let start = 0; start < values.length; start += ROW) {
      rows.append(line(at + start, values.slice(start, start + ROW), owner.slice(start, start + ROW), list));
    }
    shown = at + values.length;
    const total = part.size ?? size;
    replace(
      more,
      shown < total && button(`Show ${bytes(Math.min(PAGE, total - shown))} more of ${bytes(total)}`, load),
    );
    const order = ["tag", "length", "value", "data", "number", "text"];
    const seen = [...kinds].sort((a, b) => order.indexOf(a) - order.indexOf(b));
    replace(
      legend,
      seen.map((kind) => el("span", { class: `key wire-${kind}` }, kind)),
    );
  }

  function line(offset, values, owner, list) {
    const hex = el("span", { class: "hex-bytes" });
    const text = el("span", { class: "hex-text", "aria-hidden": "true" });
    for (let at = 0; at < values.length;) {
      let end = at + 1;
      while (end < values.length && owner[end] === owner[at]) end += 1;
      const field = list[owner[at]];
      const kind = field ? plainKind(field.kind) : "none";
      if (field) kinds.add(kind);
      const run = values.slice(at, end);
      const marks = {
        class: `run wire-${kind}${owner[at] % 2 ? " odd" : ""}`,
        "data-field": field ? owner[at] : null,
      };
      const letters = run.map((byte) => {
        const code = parseInt(byte, 16);
        return code >= 32 && code < 127 ? String.fromCharCode(code) : "·";
      });
      const first = el("span", marks, run.join(" "));
      const second = el("span", marks, letters.join(""));
      for (const one of [first, second]) one.wireField = field;
      hex.append(first, end < values.length ? " " : "");
      text.append(second);
      at = end;
    }
    return el(
      "div",
      { class: "hex-row" },
      el("span", { class: "offset" }, offset.toString(16).padStart(6, "0")),
      hex,
      text,
    );
  }

  rows.addEventListener("pointerover", (event) => {
    const field = event.target.wireField;
    if (!field) return;
    point(field);
  });

  rows.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation(); // else to the next record
    const all = [...new Set([...rows.querySelectorAll(".hex-bytes .run")].map((run) => run.wireField))].filter(Boolean);
    const next = all[Math.max(0, Math.min(all.length - 1, all.indexOf(pointed) + step))];
    if (next) point(next, true);
  });

  function point(field, into = false) {
    pointed = field;
    const where = `bytes ${count(field.start)} to ${count(field.end)}`;
    told.textContent = [where, field.path, field.label].filter(Boolean).join(" · ");
    for (const old of rows.querySelectorAll(".pointed")) old.classList.remove("pointed");
    for (const run of rows.querySelectorAll(".run")) if (run.wireField === field) run.classList.add("pointed");
    if (into) rows.querySelector(".pointed")?.scrollIntoView({ block: "nearest" });
  }

  box.show = (name) => {
    const run = [...rows.querySelectorAll(".run")].find(
      (one) => one.wireField && (one.wireField.label ?? "").includes(name),
    );
    const target =
      run ?? [...rows.querySelectorAll(".run")].find((one) => (one.wireField?.path ?? "").includes(name));
    if (!target) return false;
    target.scrollIntoView({ block: "center" });
    point(target.wireField);
    return true;
  };
  if (size > 0) load();
  else replace(rows, el("p", { class: "muted" }, "The record is empty."));
  return box;
}

/** The kind of a field as a name of a class. */
function plainKind(kind) {
  return String(kind).replace(/[^a-z]/g, "") || "data";
}
