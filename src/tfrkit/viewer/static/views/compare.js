// Owns the comparison of two data sets: what was added, removed and changed, and how far each feature has drifted.

import { startJob, stopJob, watchJob } from "../api.js";
import { overlaid } from "../charts.js";
import { button, el, later, notice, replace } from "../dom.js";
import { bytes, count, number, percent, plural, shortened } from "../format.js";
import { current, note } from "../state.js";

const FIRST = 60;
let result = null; // stays while other views are looked at
let job = null;

/** Show the comparison in `place`. */
export function compareView(place, context) {
  const status = el("span", { class: "status", role: "status" });
  const find = el("input", {
    type: "search",
    placeholder: "Find a feature",
    "aria-label": "Find a feature",
    value: current().find,
    id: "find",
  });
  const body = el("div", { class: "compare-body" });
  const box = el("div", { class: "scroll", tabindex: "-1" }, body);
  replace(
    place,
    el(
      "section",
      { class: "compare-view" },
      el("div", { class: "toolbar" }, find, el("span", { class: "grow" }), status),
      box,
    ),
  );
  let shown = FIRST;
  let stop = () => {};

  find.addEventListener(
    "input",
    later(120, () => {
      note({ find: find.value });
      draw();
    }),
  );

  async function start() {
    if (!context.session().sets.b) {
      replace(
        body,
        notice("empty", "One data set only", "Start the viewer with a second one: tfr view PATH --compare OTHER"),
      );
      return;
    }
    if (result?.state === "done") {
      draw();
      return;
    }
    try {
      job ??= await startJob("diff", "a", null);
      stop = watchJob(job, (event) => {
        result = event;
        if (event.state !== "running") job = null;
        draw();
      });
    } catch (error) {
      result = { state: "failed", error: error.message, hint: error.hint };
      draw();
    }
  }

  function again() {
    result = null;
    job = null;
    start();
  }

  function draw() {
    const { state } = result;
    if (state === "failed" || state === "cancelled") {
      replace(status);
      replace(
        body,
        notice(
          state === "failed" ? "error" : "empty",
          state === "failed" ? "The comparison failed" : "Stopped",
          result.error ?? null,
          button("Compare again", again),
        ),
      );
      return;
    }
    if (state !== "done") {
      replace(
        status,
        el("progress", { max: "1", value: result.share ?? null, "aria-label": "Compare" }),
        el("span", {}, percent(result.share ?? 0, 1)),
        button("Stop", () => stopJob(job), { class: "quiet" }),
      );
      if (!body.firstChild) replace(body, notice("loading", "Comparing the two data sets …"));
      return;
    }
    replace(
      status,
      el("span", { class: result.differs ? "bad" : "good" }, result.differs ? "they differ" : "✓ they are the same"),
      button("Compare again", again, { class: "quiet" }),
    );
    const drifts = (result.drifts ?? []).filter((drift) =>
      drift.name.toLowerCase().includes(current().find.toLowerCase()),
    );
    replace(
      body,
      legend(),
      records(),
      schema(),
      el(
        "div",
        { class: "cards", role: "list", "aria-label": "Drift of features" },
        drifts.slice(0, shown).map(card),
      ),
      drifts.length > shown &&
        button(`Show more of ${count(drifts.length)}`, () => {
          shown += 200;
          draw();
        }),
      result.drifts_left_out > 0 &&
        el("p", { class: "muted" }, `and ${plural(result.drifts_left_out, "more feature")}, which drifted less`),
    );
  }

  function legend() {
    const { a, b } = context.session().sets;
    const skipped = result.skipped ?? [0, 0];
    const side = (set, key, place) =>
      el(
        "span",
        { class: `side of-${key}` },
        el("span", { class: "swatch" }),
        el("strong", {}, set.title),
        set.records === null ? "" : ` ${plural(set.records, "record")}`,
        skipped[place] ? ` · ${plural(skipped[place], "damage")} passed over` : "",
      );
    return el("p", { class: "sides" }, side(a, "a", 0), side(b, "b", 1));
  }

  function records() {
    const of = result.records;
    if (!of) return null;
    const one = (title, amount, kind) =>
      el("div", { class: amount ? `fact ${kind}` : "fact" }, el("strong", {}, count(amount)), el("span", {}, title));
    const lists = [
      ["changed", of.changed_examples],
      ["added", of.added_examples],
      ["removed", of.removed_examples],
    ].filter(([, list]) => list?.length > 0);
    return el(
      "section",
      { class: "panel" },
      el("h2", {}, "Records"),
      el(
        "div",
        { class: "facts-row" },
        one("the same", of.same, "same"),
        one("changed", of.changed, "changed"),
        one("added", of.added, "added"),
        one("removed", of.removed, "removed"),
        one("moved", of.moved, "moved"),
      ),
      lists.map(([title, list]) =>
        el(
          "details",
          {},
          el("summary", {}, `The first ${title}`),
          el("ul", { class: "changes" }, list.slice(0, 20).map(change)),
        ),
      ),
    );
  }

  function change(of) {
    const at = (side) => side && `record ${count(side.record)} of ${side.file ?? side.path ?? "?"}`;
    return el(
      "li",
      {},
      [at(of.old), at(of.new)].filter(Boolean).join(" → "),
      (of.values ?? [])
        .slice(0, 8)
        .map((value) =>
          el(
            "div",
            { class: "changed-value" },
            el("code", {}, value.name),
            el("code", { class: "old" }, shortened(JSON.stringify(value.old ?? null), 120)),
            " → ",
            el("code", { class: "new" }, shortened(JSON.stringify(value.new ?? null), 120)),
          ),
        ),
    );
  }

  function schema() {
    const of = result.schema ?? [];
    if (of.length === 0) return null;
    return el(
      "section",
      { class: "panel" },
      el("h2", {}, "Schema"),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["Feature", "What", "Before", "Now"].map((title) => el("th", { scope: "col" }, title)),
          ),
        ),
        el(
          "tbody",
          {},
          of.map((one) =>
            el(
              "tr",
              {},
              el("td", {}, one.name || "(records)"),
              [one.what, one.old, one.new].map((text) => el("td", { class: "word" }, text)),
            ),
          ),
        ),
      ),
    );
  }

  function card(drift) {
    const high = drift.drift >= 0.3 ? "high" : drift.drift >= 0.1 ? "middle" : "low";
    const meter = el(
      "span",
      { class: `drift ${high}`, title: "0 is no drift, 1 is nothing in common" },
      `drift ${drift.drift.toFixed(drift.drift && drift.drift < 0.01 ? 4 : 2)}`,
      drift.by && el("span", { class: "muted" }, ` by ${drift.by}`),
    );
    const drawn = drift.overlay ?? {};
    const kind = drift.new?.kind ?? drift.old?.kind;
    const charts =
      drawn.values && !categories(drift)
        ? overlaid(drift.name, drawn.values)
        : categories(drift)
          ? tops(drift)
          : drawn.bytes
            ? [el("p", { class: "sub" }, "bytes of a value"), overlaid(`sizes of ${drift.name}`, drawn.bytes)]
            : null;
    const side = (of, key) =>
      el(
        "p",
        { class: `facts of-${key}` },
        el("span", { class: "swatch" }),
        of
          ? [
              `in ${percent(of.presence, 1)} of records`,
              typeof of.mean === "number" && !of.is_label ? ` · mean ${number(of.mean)} ± ${number(of.std)}` : "",
              of.bytes?.mean ? ` · ${bytes(Math.round(of.bytes.mean))} each` : "",
            ]
          : "not there",
      );
    return el(
      "article",
      { class: "card", role: "listitem", "aria-label": `${drift.name}, drift ${drift.drift.toFixed(2)}` },
      el(
        "header",
        {},
        el("h3", { title: drift.name }, drift.name),
        kind && el("span", { class: "badge" }, drift.is_list ? `steps of ${kind}` : kind),
        el("span", { class: "grow" }),
        meter,
      ),
      side(drift.old, "a"),
      side(drift.new, "b"),
      charts,
    );
  }

  function categories({ old, new: later }) {
    return Boolean(
      old &&
      later &&
      old.top.length > 0 &&
      !old.images &&
      (old.is_label || later.is_label || (old.kind === "bytes" && old.distinct <= 20)),
    );
  }

  function tops({ old, new: later }) {
    const shares = new Map();
    for (const [at, side] of [old, later].entries()) {
      for (const value of side.top) {
        const key = String(value.value);
        if (!shares.has(key)) shares.set(key, [0, 0]);
        shares.get(key)[at] = value.count / Math.max(1, side.count);
      }
    }
    const list = [...shares].sort((x, y) => Math.max(...y[1]) - Math.max(...x[1])).slice(0, 10);
    const scale = Math.max(...list.flatMap(([, both]) => both), 1e-9);
    const track = (share, key) =>
      el("span", { class: `fill of-${key}`, style: { width: `${(100 * share) / scale}%` } });
    return el(
      "ul",
      { class: "values both" },
      list.map(([text, [a, b]]) =>
        el(
          "li",
          { class: "value-bar", title: `${text}: ${percent(a, 1)} and ${percent(b, 1)}` },
          el("span", { class: "text" }, shortened(text, 60) || "(empty)"),
          el("span", { class: "track" }, track(a, "a"), track(b, "b")),
          el("span", { class: "amount" }, `${percent(a, 1)} → ${percent(b, 1)}`),
        ),
      ),
    );
  }

  start();
  return {
    update: () => {},
    refresh: () => {},
    keys: (key) => {
      if (!["ArrowDown", "ArrowUp", "j", "k"].includes(key)) return false;
      box.scrollBy(0, key === "ArrowDown" || key === "j" ? 80 : -80);
      return true;
    },
    close: () => stop(),
  };
}
