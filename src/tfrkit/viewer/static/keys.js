// Owns the keyboard: which key does what, and the page that says so.

import { button, el, replace } from "./dom.js";

const KEYS = [
  [
    "Everywhere",
    [
      ["/", "filter"],
      ["g", "grid"],
      ["f", "features"],
      ["r", "record"],
      ["d", "files and damage"],
      ["c", "compare"],
      ["n", "go to a record by its number"],
      ["s", "the other data set"],
      ["?", "these keys"],
      ["Esc", "back, close, leave a box"],
    ],
  ],
  [
    "Grid",
    [
      ["j k", "next, previous"],
      ["← → ↑ ↓", "move"],
      ["Page Up, Page Down", "a page"],
      ["Home End", "first, last"],
      ["Enter", "open the record"],
      ["t", "pictures, cards, table"],
      ["o", "order"],
      ["O", "the other way round"],
    ],
  ],
  [
    "Features",
    [
      ["j k", "next, previous feature"],
      ["← →", "a bar of a histogram"],
      ["Shift ← →", "more bars"],
      ["Enter", "filter by them"],
    ],
  ],
  [
    "Record",
    [
      ["j k", "next, previous record"],
      ["← →", "next, previous; on the slider steps, in the bytes fields"],
      ["+ −  0", "zoom of a picture"],
      ["y", "copy as Python"],
      ["x", "into the bytes"],
    ],
  ],
];

const box = el("dialog", { class: "help", "aria-labelledby": "help-title" });

/** Show the page of keys, or close it. */
export function toggleHelp() {
  if (!box.isConnected) document.body.append(box);
  if (box.open) {
    box.close();
    return;
  }
  replace(
    box,
    el(
      "header",
      {},
      el("h2", { id: "help-title" }, "Keys"),
      button("Close", () => box.close(), { class: "quiet" }),
    ),
    el(
      "div",
      { class: "help-body" },
      KEYS.map(([title, rows]) =>
        el(
          "section",
          {},
          el("h3", {}, title),
          el(
            "dl",
            {},
            rows.map(([keys, what]) => [
              el(
                "dt",
                {},
                keys
                  .split(/ (?!Up|Down)/)
                  .filter(Boolean)
                  .map((key) => el("kbd", {}, key.replace(",", ""))),
              ),
              el("dd", {}, what),
            ]),
          ),
        ),
      ),
    ),
  );
  box.showModal();
}

/** Listen to keys. `handle(key, event)` returns whether it used one; keys in boxes of text and with Ctrl are left alone. */
export function listen(handle) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || box.open) return;
    const { target } = event;
    const types =
      target instanceof HTMLInputElement && !["checkbox", "radio", "range", "button"].includes(target.type);
    if (types || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) {
      if (event.key === "Escape") {
        target.blur();
        document.querySelector("main").focus();
      }
      return;
    }
    if (target instanceof HTMLInputElement && target.type === "range" && event.key.startsWith("Arrow")) return;
    if (event.key === "Enter" && (target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement)) return;
    if (handle(event.key, event)) event.preventDefault();
  });
}
