// Owns the view of features: a card for each with what its values are; clicks and brushes filter.

import { histogram, rebin, valueBars } from "../charts.js";
import { button, el, later, notice, replace } from "../dom.js";
import { about, setPresent, setRange, toggleValue } from "../expression.js";
import { count, number, passedOver, percent, plural, range, shortened } from "../format.js";
import { current, go, note } from "../state.js";
import { ask, askByName, onStatistics, statistics, stopStatistics } from "../statistics.js";

const FIRST = 60;
const PLAIN_ROLES = new Set(["number", "numbers", "bytes"]); // which the kind says too

/** Show the features in `place`. */
export function features(place, context) {
  const status = el("div", { class: "status", role: "status" });
  const find = el("input", {
    type: "search",
    placeholder: "Find a feature",
    "aria-label": "Find a feature",
    value: current().find,
    id: "find",
  });
  const sort = el(
    "select",
    { "aria-label": "Order" },
    [
      ["", "As in the records"],
      ["name", "By name"],
      ["rare", "Rarest first"],
    ].map(([value, text]) => el("option", { value, selected: value === current().sort }, text)),
  );
  const cards = el("div", { class: "cards", role: "list", "aria-label": "Features" });
  const box = el("div", { class: "scroll" }, cards);
  replace(
    place,
    el(
      "section",
      { class: "features-view" },
      el("div", { class: "toolbar" }, find, sort, el("span", { class: "grow" }), status),
      box,
    ),
  );
  let shown = FIRST;
  let drawn = new Map();

  find.addEventListener(
    "input",
    later(120, () => {
      note({ find: find.value });
      shown = FIRST;
      draw();
    }),
  );
  sort.addEventListener("change", () => {
    note({ sort: sort.value });
    draw();
  });

  function draw() {
    const state = current();
    const { all, matches } = statistics(state.set, state.where);
    replace(status, progress(all, matches, state));
    const known = new Map(all.features.map((one) => [`${one.list ?? "context"} ${one.name}`, one]));
    const part = new Map((matches?.features ?? []).map((one) => [`${one.list ?? "context"} ${one.name}`, one]));
    const others = context.set().names_left.map((name) => ({ name, list: "context", kind: "feature", role: "bytes" }));
    const session = [...context.set().features, ...others];
    const outline = new Map(session.map((one) => [`${one.list} ${one.name}`, one]));
    const keys = [...new Set([...outline.keys(), ...known.keys()])];
    let list = keys
      .map((key) => ({ key, outline: outline.get(key), all: known.get(key), part: part.get(key) }))
      .map((one) => ({ ...one, name: (one.outline ?? one.all).name }));
    if (state.find) list = list.filter((one) => one.name.toLowerCase().includes(state.find.toLowerCase()));
    if (state.sort === "name") list.sort((a, b) => a.name.localeCompare(b.name));
    if (state.sort === "rare") list.sort((a, b) => (a.all?.presence ?? 2) - (b.all?.presence ?? 2));
    if (all.state === "failed" && known.size === 0 && session.length === 0) {
      replace(cards, notice("error", "The statistics failed", all.error, all.hint && el("p", {}, all.hint)));
      return;
    }
    if (list.length === 0) {
      drawn = new Map();
      const none =
        context.set().kind === "bytes" ? "The records are bytes without features." : "The records have no features.";
      replace(
        cards,
        notice("empty", state.find ? "No feature has such a name" : "No features", state.find ? null : none),
      );
      return;
    }
    const next = new Map();
    const missing = list.slice(0, shown).filter((one) => !one.all);
    if (all.features_left_out > 0 && missing.length > 0)
      askByName(
        state.set,
        missing.map(({ name }) => name),
      );
    const nodes = list.slice(0, shown).map((one) => {
      const print = JSON.stringify([one, state.where, matches?.records, all.records, one.all ? null : all.state]);
      const old = drawn.get(one.key);
      const made = old?.print === print ? old : { print, node: card(one, all, matches, state) };
      next.set(one.key, made);
      return made.node;
    });
    const focused = document.activeElement?.closest?.(".card")?.dataset.key;
    const inside = document.activeElement?.dataset?.focus;
    const same = drawn.size === next.size && nodes.every((node, at) => cards.children[at] === node);
    drawn = next;
    if (!same) {
      const top = box.scrollTop;
      replace(
        cards,
        nodes,
        list.length > shown &&
          button(
            `Show ${count(Math.min(200, list.length - shown))} more of ${count(list.length)}`,
            () => {
              shown += 200;
              draw();
            },
            { class: "more-cards" },
          ),
      );
      box.scrollTop = top;
      const again = focused && [...cards.children].find((node) => node.dataset.key === focused);
      if (again)
        (
          [...again.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === inside) ??
          again.querySelector("button, [tabindex]")
        )?.focus({ preventScroll: true });
    }
  }

  const unsubscribe = onStatistics(draw);
  const start = () => {
    ask(current().set, current().where);
    draw();
  };
  start();
  return {
    update: () => {
      if (find.value !== current().find) find.value = current().find;
      start();
    },
    refresh: draw,
    keys: (key) => {
      const all = [...cards.querySelectorAll(".card")];
      const at = all.indexOf(document.activeElement?.closest(".card"));
      const step = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 }[key];
      if (step === undefined || all.length === 0) return false;
      all[Math.max(0, Math.min(all.length - 1, at + step))].querySelector("button")?.focus();
      return true;
    },
    close: unsubscribe,
  };
}

function progress(all, matches, state) {
  const now = matches && matches.state === "running" ? matches : all;
  if (matches?.state === "failed") return el("span", { class: "bad" }, matches.error);
  if (all.state === "failed") return el("span", { class: "bad" }, all.error);
  if (now.state === "running" || all.state === "stopped") {
    const share = fromShare(now);
    return [
      el("progress", { max: "1", value: now.share ?? null, "aria-label": "Statistics" }),
      el("span", {}, share),
      button("Stop", () => stopStatistics(state.set), { class: "quiet" }),
    ];
  }
  if (all.state === "cancelled") {
    return el("span", {}, `stopped: ${fromShare(all)}`);
  }
  if (all.state !== "done") return null;
  return el(
    "span",
    { class: "muted" },
    matches
      ? `${plural(matches.records, "match", "matches")} in colour, all ${count(all.records)} in grey`
      : `from all ${plural(all.records, "record")}${passedOver(all)}${all.all_followed === false ? " · not of all features" : ""}`,
  );
}

function fromShare(now) {
  const share = now.of && !now.where ? now.records / now.of : now.share; // the first ones come from all over the files
  return share ? `from ${percent(Math.min(share, 1), 1)} of records` : `from ${plural(now.records, "record")}`;
}

function filter(state, where) {
  go({ where });
}

function card(one, all, matches, state) {
  const { name, outline } = one;
  const found = one.all;
  const list = (outline?.list ?? found?.list) === "steps";
  const asked = list ? null : about(state.where, name);
  const kind = found?.kind ?? outline?.kind;
  const role = PLAIN_ROLES.has(outline?.role) ? null : outline?.role;
  const head = el(
    "header",
    {},
    el("h3", { title: name }, name || "(no name)"),
    el("span", { class: "badge" }, list ? `steps of ${kind}` : kind),
    role && el("span", { class: "badge role" }, role),
  );
  const body = found
    ? details(one, asked, all, matches, state)
    : el("div", { class: "placeholder" }, unknown(all));
  const active =
    asked && (asked.low !== null || asked.high !== null || asked.values.size > 0 || asked.present !== null);
  return el(
    "article",
    {
      class: active ? "card active" : "card",
      role: "listitem",
      "data-key": one.key,
      "aria-label": `${name}, ${kind}`,
    },
    head,
    body,
  );
}

/** What stands for a feature of which nothing is known. */
function unknown({ state, features_left_out: left }) {
  if (state === "failed") return "–";
  return state === "done" && !left ? "in no record that was read" : "…";
}

function details(one, asked, all, matches, state) {
  const { name, all: found, part } = one;
  const everywhere = found.present >= all.records;
  const share = everywhere ? "in all records" : `in ${percent(found.present, all.records)} of records`;
  const presence =
    asked && found.key !== null
      ? button(share, () => filter(state, setPresent(state.where, name, nextPresence(asked.present, everywhere))), {
          class: "link",
          "data-focus": "presence",
          title: "Filter: without it, with it, either",
          "aria-pressed": String(asked.present !== null),
        })
      : el("span", {}, share);
  const facts = [lengths(found.length)];
  const kinds = Object.entries(found.kinds ?? {});
  if (kinds.length > 1) facts.unshift(kinds.map(([kind, records]) => `${count(records)} ${kind}`).join(", "));
  if (found.steps) facts.push(`${range(found.steps.min, found.steps.max)} steps`);
  if (typeof found.mean === "number" && !found.is_label)
    facts.push(`mean ${number(found.mean)} ± ${number(found.std)}`);
  const odd = { NaN: found.nan, "∞": found.inf, "−∞": found.negative_inf };
  for (const [what, amount] of Object.entries(odd)) if (amount) facts.push(`${count(amount)} ${what}`);
  if (found.distinct && !found.images) facts.push(`${found.exact ? "" : "about "}${count(found.distinct)} distinct`);
  const parts = [
    el(
      "p",
      { class: "facts" },
      presence,
      facts.map((fact) => [" · ", fact]),
    ),
  ];
  const filters = asked !== null && found.key !== null;
  if (found.images) parts.push(imageFacts(found.images));
  else if (isCategory(found)) parts.push(topValues(one, asked, matches, state, filters));
  else if (found.histogram) parts.push(numbers(one, asked, matches, state, filters));
  if (found.bytes?.histogram && (found.images || !isCategory(found))) parts.push(sizes(one, matches));
  if (parts.length === 1) parts.push(single(found));
  const complete = matches && matches.state !== "running" && !matches.features_left_out;
  if (complete && !part) parts.push(el("p", { class: "muted" }, "in no match"));
  return parts;
}

/** With it everywhere: without and either in turn; else with, without, either. */
function nextPresence(now, everywhere) {
  if (now === null) return everywhere ? false : true;
  return now === true ? false : null;
}

/** Whether the frequent values say more than a histogram. */
function isCategory(found) {
  if (found.top.length === 0) return false;
  if (found.kind === "bytes") return !found.images && found.distinct < Math.max(2, 0.8 * found.count);
  return found.is_label || found.distinct <= 6;
}

function single(found) {
  const value = found.top[0]?.value ?? found.min;
  const often = found.distinct > 1 ? "such as" : "always";
  const none = found.nan || found.inf || found.negative_inf ? "no finite values" : "no values";
  const text = value === null || value === undefined ? none : `${often} ${shortened(number(value), 80)}`;
  return el("p", { class: "muted text" }, text);
}

function lengths(found) {
  if (!found || found.min === null) return "no values";
  return found.min === 1 && found.max === 1 ? "1 value" : `${range(found.min, found.max)} values`;
}

function imageFacts(images) {
  const formats = Object.entries(images.formats).map(([format, amount]) => `${count(amount)} ${format}`);
  const size = images.width && images.height ? `${range(...images.width)} × ${range(...images.height)} pixels` : "";
  return el("p", { class: "facts" }, [formats.join(", "), size].filter(Boolean).join(" · "));
}

/** The counts of the matches in the bins of all records; null without a filter. */
function partOf(histogram, matches, found) {
  if (matches === null) return null;
  return found ? rebin(found, histogram.edges) : histogram.counts.map(() => 0);
}

function numbers(one, asked, matches, state, filters) {
  const { histogram: drawn } = one.all;
  const chart = histogram({
    name: one.name,
    edges: drawn.edges,
    counts: drawn.counts,
    part: partOf(drawn, matches, one.part?.histogram),
    low: asked?.low ?? null,
    high: asked?.high ?? null,
    brush: filters && ((low, high, last) => filter(state, setRange(state.where, one.name, low, high, last))),
  });
  chart.dataset.focus = "histogram";
  return chart;
}

function sizes(one, matches) {
  const drawn = one.all.bytes.histogram;
  return el(
    "div",
    {},
    el("p", { class: "sub" }, "bytes of a value"),
    histogram({
      name: `sizes of ${one.name}`,
      edges: drawn.edges,
      counts: drawn.counts,
      part: partOf(drawn, matches, one.part?.bytes?.histogram),
      low: null,
      high: null,
      brush: null,
    }),
  );
}

function topValues(one, asked, matches, state, filters) {
  const listed = [...(one.part?.top ?? []), ...(one.part?.rarest ?? [])];
  const amounts = new Map(listed.map((value) => [String(value.value), value.count]));
  const others = (one.part?.distinct ?? 0) > amounts.size ? null : 0; // of values that are not among them
  const rarest = one.all.rarest ?? [];
  const values = [...one.all.top, ...rarest].map((value) => ({
    text: shortened(String(value.label ?? value.value), 80),
    count: value.count,
    of: one.all.count,
    parted: matches !== null,
    part: amounts.get(String(value.value)) ?? others,
    chosen: asked?.values.has(value.literal),
    click:
      filters && value.literal !== null
        ? () => filter(state, toggleValue(state.where, one.name, value.literal))
        : null,
  }));
  const shown = one.all.top.length;
  const rest = one.all.distinct - values.length;
  const box = el(
    "div",
    {},
    valueBars(values.slice(0, shown)),
    rest > 0 && el("p", { class: "muted" }, `and ${one.all.exact ? "" : "about "}${count(rest)} less frequent`),
    rarest.length > 0 && el("p", { class: "sub" }, "the rarest"),
    rarest.length > 0 && valueBars(values.slice(shown), Math.max(...values.map((value) => value.count))),
  );
  [...box.querySelectorAll("button")].forEach((each, at) => (each.dataset.focus = `value ${at}`));
  return box;
}
