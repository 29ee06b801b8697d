// Owns the view of one record: its features above, and below the truth: where it lies, its checksums, its bytes.

import { address, get } from "../api.js";
import { button, el, notice, replace, shortName } from "../dom.js";
import { baseName, bytes, checksum, count, plural } from "../format.js";
import { renderValues, textOf } from "../renderers.js";
import { search } from "../search.js";
import { current, go, isSearched, link, note } from "../state.js";
import { stepsView } from "../steps.js";
import { bytesView } from "../wire.js";

/** Show the record of the state in `place`. */
export function recordView(place, context) {
  const bar = el("div", { class: "toolbar" });
  const body = el("div", { class: "record-body" });
  const box = el("div", { class: "scroll", tabindex: "-1" }, body);
  replace(place, el("section", { class: "record-view" }, bar, box));
  let record = null;
  let truth = null;
  let abort = new AbortController();
  let shown = "";

  function dropAll() {
    for (const view of body.querySelectorAll(".image-view, .steps")) view.drop?.();
    for (const sound of body.querySelectorAll("audio")) sound.pause();
  }

  async function load() {
    const state = current();
    const n = state.n ?? 0;
    const wanted = `${state.set} ${n}`;
    if (wanted === shown) {
      drawBar();
      return;
    }
    shown = wanted;
    abort.abort();
    abort = new AbortController();
    const slow = setTimeout(() => {
      dropAll();
      replace(body, notice("loading", `Reading record ${count(n)} …`));
    }, 150);
    try {
      const found = await get("/api/record", { set: state.set, n }, abort.signal);
      clearTimeout(slow);
      record = found;
      dropAll();
      draw(state.set);
    } catch (error) {
      clearTimeout(slow);
      if (error.name === "AbortError") return;
      record = null;
      shown = "";
      dropAll();
      replace(body, notice("error", error.message, error.hint, button("Try again", load)));
    }
    drawBar();
  }

  function drawBar() {
    const state = current();
    const n = state.n ?? 0;
    const total = context.set().records;
    const found = search();
    const places =
      isSearched(state) && state.i !== null
        ? [state.where ? "match " : "sorted ", count(state.i + 1), found.matches ? ` of ${count(found.matches)}` : ""]
        : ["record ", el("strong", {}, count(n)), total === null ? "" : ` of ${count(total)} (from 0)`];
    const jump = el("input", {
      id: "jump",
      type: "text",
      inputmode: "numeric",
      value: String(n),
      "aria-label": "Go to record number",
      size: "9",
    });
    jump.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !/^\s*[\d, _]+\s*$/.test(jump.value)) return;
      go({ view: "record", n: Number(jump.value.replace(/\D/g, "")), i: null });
      box.focus();
    });
    replace(
      bar,
      button("←", () => step(-1), { "aria-label": "Previous record", title: "Previous (k)" }),
      button("→", () => step(1), { "aria-label": "Next record", title: "Next (j)" }),
      jump,
      el("span", { class: "muted" }, places),
      el("span", { class: "grow" }),
      record?.python && button("Copy as Python", copyPython, { id: "copy-python", title: "Copy as Python (y)" }),
      record &&
        !record.error &&
        el(
          "a",
          { class: "button", href: address("/api/download", { set: state.set, n }), download: true },
          "Download",
        ),
      record &&
        el(
          "a",
          {
            class: "button",
            href: address("/api/download", { set: state.set, n, frame: 1 }),
            download: true,
            title: "With length and checksums, as it lies in the file",
          },
          "Download frame",
        ),
    );
  }

  async function copyPython() {
    const target = bar.querySelector("#copy-python");
    try {
      await navigator.clipboard.writeText(record.python);
      target.textContent = "Copied";
    } catch {
      target.textContent = "Not allowed: see below";
    }
    setTimeout(() => (target.textContent = "Copy as Python"), 1500);
  }

  function draw(set) {
    const parts = [];
    const read = record.offset >= 0;
    if (record.error)
      parts.push(notice("error", read ? "This record is damaged" : "This record cannot be read", record.error));
    const plain = record.features.filter((feature) => feature.list !== "steps");
    const boxes = boxesOf(record, context.set().features);
    const order = { image: 0, audio: 1 };
    const sorted = [...plain].sort((a, b) => (order[a.role] ?? 2) - (order[b.role] ?? 2));
    truth = bytesView(set, record.n, record.length ?? 0, record.wire);
    const large = sorted.filter((feature) => !isShort(feature)).map((feature) => featureCard(set, feature, boxes));
    const short = sorted.filter(isShort).map((feature) => featureRow(feature));
    const table = short.length > 0 && el("section", { class: "feature short" }, el("dl", {}, short));
    if (large.length > 0 || short.length > 0) {
      const kind = large.length > 0 && short.length > 0 ? "record-features two" : "record-features";
      parts.push(el("div", { class: kind }, large.length > 0 && el("div", { class: "large" }, large), table));
    }
    if (record.steps !== null && record.steps !== undefined) parts.push(stepsView(set, record));
    if (plain.length === 0 && record.steps === null && !record.error) parts.push(contentOf(record));
    if (record.features_left > 0)
      parts.push(el("p", { class: "muted" }, `and ${plural(record.features_left, "more feature")}`));
    parts.push(truthView(set));
    replace(body, parts);
    box.scrollTop = 0;
  }

  function featureCard(set, feature, boxes) {
    const shownBytes = feature.bytes ?? null;
    const of = {
      set,
      n: record.n,
      feature,
      boxes: feature.role === "image" || feature.role === "boxes" ? boxes : null,
      step: null,
      values: feature.values ?? [],
      sizes: shownBytes,
    };
    const role = ["number", "numbers", "bytes"].includes(feature.role) ? null : feature.role;
    const size = shownBytes?.length === 1 ? ` · ${bytes(shownBytes[0])}` : "";
    return el(
      "section",
      { class: `feature role-${feature.role}`, "data-feature": feature.name, "aria-label": feature.name },
      el(
        "header",
        {},
        el("h3", {}, shortName(feature.name)),
        el("span", { class: "badge" }, feature.kind ?? "no kind"),
        role && el("span", { class: "badge role" }, role),
        el(
          "span",
          { class: "muted" },
          feature.count === 1 ? size.slice(3) : `${plural(feature.count, "value")}${size}`,
        ),
        el("span", { class: "grow" }),
        button("bytes", () => truth.show(feature.name), { class: "link", "aria-label": `Bytes of ${feature.name}` }),
      ),
      renderValues(of),
    );
  }

  /** A feature that takes one line: name, value, and the way to its bytes. */
  function featureRow(feature) {
    const values = (feature.values ?? []).map((value) => el("code", { class: "literal" }, textOf(value)));
    const empty = feature.count === 0 ? "no values" : "";
    return [
      el(
        "dt",
        { "data-feature": feature.name },
        button(feature.name || "(no name)", () => truth.show(feature.name), {
          class: "link",
          title: `${feature.name}: its bytes`,
        }),
      ),
      el(
        "dd",
        {},
        el("span", { class: "badge" }, feature.kind ?? "no kind"),
        el("span", { class: "short-values" }, values.length > 0 ? values : el("span", { class: "muted" }, empty)),
      ),
    ];
  }

  function truthView(set) {
    const { neighbours = {} } = record;
    const read = record.offset >= 0;
    const around = (n, text) =>
      n === null || n === undefined
        ? el("span", { class: "muted" }, "none")
        : el("a", { href: link({ view: "record", n, i: null }) }, `${text} ${count(n)}`);
    const row = (name, ...value) => [el("dt", {}, name), el("dd", {}, value)];
    const facts = el(
      "dl",
      { class: "pairs truth-facts" },
      row("File", el("span", { title: record.path }, record.path ?? "–")),
      row("Record in the file", count(record.record)),
      row("Offset", read ? `${count(record.offset)} B` : "–", read && hexOf(record.offset)),
      row(
        "Length",
        read ? `${count(record.length)} B` : "–",
        record.length >= 1000 ? el("span", { class: "muted" }, ` ${bytes(record.length)}`) : null,
      ),
      row("Checksum of the length", sum(record.length_crc)),
      row("Checksum of the data", sum(record.data_crc)),
      row("Neighbours", around(neighbours.before, "← record"), " ", around(neighbours.after, "→ record")),
    );
    const python =
      record.python &&
      el("details", { class: "python" }, el("summary", {}, "As Python"), el("pre", { class: "text" }, record.python));
    return el(
      "section",
      { class: "truth", "aria-label": `Bytes of record ${record.n} of ${baseName(record.path ?? "")}`, id: "bytes" },
      el("h2", {}, "Where it lies"),
      facts,
      python,
      read && [el("h2", {}, "Bytes"), truth],
    );
  }

  async function step(by) {
    const state = current();
    const n = state.n ?? 0;
    if (isSearched(state) && state.i !== null) {
      const i = state.i + by;
      const { id } = search();
      if (i < 0 || id === null) return;
      try {
        const { rows } = await get("/api/rows", { set: state.set, job: id, start: i, count: 1 });
        if (rows.length > 0) go({ n: rows[0].n, i, step: 0 });
      } catch (error) {
        replace(body, notice("error", error.message, error.hint));
      }
      return;
    }
    const total = context.set().records;
    const next = n + by;
    if (next >= 0 && (total === null || next < total)) go({ n: next, i: null });
  }

  function keys(key) {
    const by = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 }[key];
    if (by !== undefined) step(by);
    else if (key === "ArrowDown" || key === "ArrowUp") box.scrollBy(0, key === "ArrowDown" ? 60 : -60);
    else if (key === "y" && record?.python) copyPython();
    else if (key === "x") {
      body.querySelector("#bytes")?.scrollIntoView();
      body.querySelector(".hex-rows")?.focus({ preventScroll: true });
    } else if (["+", "=", "-", "0"].includes(key))
      body.querySelector(".image-view")?.zoom({ "+": 1.25, "=": 1.25, "-": 0.8, 0: 0 }[key]);
    else return false;
    return true;
  }

  if (current().n === null) note({ n: 0 });
  load();
  box.focus({ preventScroll: true });
  return {
    update: load,
    refresh: drawBar,
    keys,
    close: () => {
      abort.abort();
      dropAll();
    },
  };
}

/** A record that is no Example: its text, or what it looks like. */
function contentOf({ content, length }) {
  if (length === 0) return notice("empty", "An empty record", "It has no bytes.");
  const text = textOf(content);
  const isText = typeof content === "string" || content?.first !== undefined;
  return el(
    "section",
    { class: "feature" },
    el("header", {}, el("h3", {}, "Not an Example"), el("span", { class: "badge" }, isText ? "text" : text)),
    isText ? el("pre", { class: "text" }, text) : el("p", { class: "muted" }, "Its bytes are below."),
  );
}

/** Whether a feature is shown in one line. */
function isShort(feature) {
  if (["image", "audio", "json"].includes(feature.role) || feature.count > 6) return false;
  const sizes = feature.bytes ?? [];
  return feature.kind !== "bytes" || sizes.reduce((sum, size) => sum + size, 0) <= 64;
}

function hexOf(value) {
  return typeof value === "number" ? el("span", { class: "muted" }, ` 0x${value.toString(16)}`) : null;
}

function sum(crc) {
  if (!crc) return "–";
  const stored = el("code", {}, checksum(crc.stored));
  if (crc.ok) return [stored, " ", el("span", { class: "good" }, "✓ holds")];
  if (crc.ok === null || crc.ok === undefined) return [stored, " ", el("span", { class: "muted" }, "not checked")];
  return [
    stored,
    " stored, ",
    el("code", {}, checksum(crc.computed)),
    " computed ",
    el("span", { class: "bad" }, "✗ differs"),
  ];
}

/** The boxes of a record: as the server says them, or from the four lists of its features. */
function boxesOf(record, features) {
  const said = record.features.find((feature) => feature.boxes?.length && Array.isArray(feature.boxes));
  if (said) return said.boxes;
  const outline = features.find((feature) => feature.boxes);
  if (!outline) return null;
  const values = (name) => record.features.find((feature) => feature.name === name)?.values ?? [];
  if (outline.boxes.packed) {
    const flat = values(outline.boxes.packed);
    const xy = outline.boxes.order === "xyxy";
    return Array.from({ length: Math.floor(flat.length / 4) }, (_, at) => {
      const [a, b, c, d] = flat.slice(4 * at, 4 * at + 4);
      return xy ? [b, a, d, c] : [a, b, c, d];
    });
  }
  const sides = ["ymin", "xmin", "ymax", "xmax"].map((side) => values(outline.boxes[side]));
  return sides[0].map((_, at) => sides.map((side) => side[at]));
}
