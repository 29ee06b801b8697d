// Owns the box where a filter is typed: names are completed, errors are pointed at, and below are chips and the count.

import { get } from "./api.js";
import { button, el, later, replace } from "./dom.js";
import { chips, completion, quoteName } from "./expression.js";
import { count, passedOver, percent, plural } from "./format.js";
import { onSearch, search, searchFor, stopSearch } from "./search.js";
import { current, go } from "./state.js";

/** Make the filter bar. `context.set()` is the set that is shown. */
export function whereBox(context) {
  const input = el("input", {
    id: "where",
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    role: "combobox",
    "aria-label": "Filter",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": "where-names",
    "aria-describedby": "where-error",
    placeholder: "Filter, as label == 3 and score > 0.5",
  });
  const names = el("ul", {
    id: "where-names",
    class: "names",
    role: "listbox",
    "aria-label": "Names of features",
    hidden: true,
  });
  const error = el("div", { id: "where-error", class: "where-error", role: "status" });
  const clear = button("×", () => go({ where: "" }), {
    class: "quiet clear",
    "aria-label": "Remove the filter",
    hidden: true,
  });
  const list = el("div", { class: "chips", role: "group", "aria-label": "Parts of the filter" });
  const found = el("div", { class: "found", role: "status" });
  const bar = el(
    "div",
    { class: "filter-bar" },
    el(
      "div",
      { class: "where" },
      el("label", { class: "slash", for: "where", "aria-hidden": "true" }, "/"),
      input,
      clear,
      names,
      error,
    ),
    list,
    found,
  );
  let chosen = -1;
  let offered = null;

  const check = later(120, async () => {
    const text = input.value;
    if (text.trim() === "") return showError(null);
    try {
      const answer = await get("/api/where", { set: current().set, text });
      if (input.value === text) showError(answer.ok ? null : answer);
    } catch (problem) {
      showError({ error: problem.message, at: problem.at });
    }
    return undefined;
  });

  function showError(answer) {
    input.setAttribute("aria-invalid", String(answer !== null));
    if (answer === null) {
      replace(error);
      return;
    }
    const at = answer.at === null || answer.at === undefined ? null : Math.min(answer.at, input.value.length);
    const [before, rest] =
      at === null ? [null, null] : [input.value.slice(Math.max(0, at - 24), at), input.value.slice(at, at + 24)];
    const [sentence] = answer.error.split(" An expression looks like");
    const message = sentence.replace(/ at character \d+ of .* but got /s, " but got "); // the place is shown beside it
    replace(error, at !== null && el("code", {}, before, el("mark", {}, rest || " ")), el("span", {}, message));
  }

  function offer() {
    const { features, names_left: others } = context.set();
    const all = [...features.filter(({ list }) => list === "context").map(({ name }) => name), ...others];
    offered = completion(input.value, input.selectionStart, all);
    const typed = offered && input.value.slice(offered.start, offered.end).replaceAll("`", "");
    if (offered && (offered.names.length === 0 || (offered.names.length === 1 && offered.names[0] === typed)))
      offered = null;
    if (offered && input.value.trim() === "" && document.activeElement !== input) offered = null;
    chosen = -1;
    drawNames();
  }

  function drawNames() {
    names.hidden = offered === null;
    input.setAttribute("aria-expanded", String(offered !== null));
    input.removeAttribute("aria-activedescendant");
    replace(
      names,
      offered?.names.map((name, place) => {
        const option = el(
          "li",
          { role: "option", id: `where-name-${place}`, "aria-selected": String(place === chosen) },
          name,
        );
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          take(place);
        });
        return option;
      }),
    );
    if (chosen >= 0) {
      input.setAttribute("aria-activedescendant", `where-name-${chosen}`);
      names.children[chosen]?.scrollIntoView({ block: "nearest" });
    }
  }

  function take(place) {
    const name = quoteName(offered.names[place]);
    const { start, end } = offered;
    input.setRangeText(`${name} `, start, end, "end");
    offered = null;
    drawNames();
    check();
  }

  function apply() {
    const where = input.value.trim();
    offered = null;
    drawNames();
    if (where === current().where) searchFor(current(), search().state === "failed");
    else go({ where });
  }

  input.addEventListener("input", () => {
    offer();
    check();
  });
  input.addEventListener("blur", () => {
    offered = null;
    drawNames();
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      if (offered === null) offer();
      else {
        chosen = (chosen + step + offered.names.length) % offered.names.length;
        drawNames();
      }
    } else if (event.key === "Tab" && offered !== null && input.value.trim() !== "" && !event.shiftKey)
      take(Math.max(0, chosen));
    else if (event.key === "Enter" && chosen >= 0) take(chosen);
    else if (event.key === "Enter") apply();
    else if (event.key === "Escape") {
      if (offered !== null) {
        offered = null;
        drawNames();
      } else {
        input.value = current().where;
        showError(null);
        input.blur();
        document.querySelector("main")?.focus();
      }
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  /** A way to records that come last, as an order does not know them. */
  function last(what, amount, fromEnd) {
    const at = Math.max(0, search().kept - fromEnd);
    return button(`${count(amount)} ${what}`, () => go({ view: "grid", at }), { class: "link" });
  }

  function drawFound() {
    const now = search();
    if (now.state === "none") {
      replace(found);
      return;
    }
    if (now.state === "failed") {
      if (now.where && !now.error.startsWith("order:") && (document.activeElement !== input || input.value.trim() === now.where))
        showError({ error: now.error, at: now.at });
      replace(found, el("span", { class: "bad" }, now.order ? "not sorted" : "not searched"));
      return;
    }
    const running = now.state === "running" || now.state === "starting";
    const share = now.of ? now.scanned / now.of : now.share;
    const all = now.where ? ` of ${count(now.scanned)}` : "";
    const part = running || now.state === "cancelled" ? ` in ${percent(share ?? 0, 1)}` : all;
    const bad = now.unreadable ? ` · ${plural(now.unreadable, "record")} unreadable` : "";
    const what = !now.where ? "sorted" : now.matches === 1 ? "match" : "matches";
    replace(
      found,
      running && el("progress", { max: "1", value: share ?? null, "aria-label": "Search" }),
      el(
        "span",
        {},
        el("strong", {}, count(now.matches ?? 0)),
        ` ${what}${part}${bad}${passedOver(now)}`,
      ),
      now.missing > 0 && now.kept > 0 && last("without a value", now.missing, now.missing + now.undecodable),
      now.undecodable > 0 && now.kept > 0 && last("not decoded", now.undecodable, now.undecodable),
      running && button("Stop", stopSearch, { class: "quiet" }),
      now.state === "cancelled" && button("Continue", () => searchFor(now, true), { class: "quiet" }),
    );
  }

  function update() {
    const { where } = current();
    if (input.value !== where) {
      input.value = where;
      showError(null);
    }
    clear.hidden = where === "";
    replace(
      list,
      chips(where).map(({ text, rest }) =>
        el(
          "span",
          { class: "chip" },
          el("code", { title: text }, text),
          button("×", () => go({ where: rest }), { "aria-label": `Remove ${text}` }),
        ),
      ),
    );
    list.hidden = where === "";
    drawFound();
  }

  onSearch(drawFound);
  return {
    element: bar,
    update,
    focus: () => {
      input.focus();
      input.select();
    },
  };
}
