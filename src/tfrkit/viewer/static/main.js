// Owns the page: it asks for the session, shows the view that the URL names, and gives keys to it.

import { get } from "./api.js";
import { compareView } from "./views/compare.js";
import { button, el, notice, replace } from "./dom.js";
import { features } from "./views/features.js";
import { filesView } from "./views/files.js";
import { bytes, plural } from "./format.js";
import { grid } from "./views/grid.js";
import { listen, toggleHelp } from "./keys.js";
import { recordView } from "./views/record.js";
import { searchFor } from "./search.js";
import { current, go, link, note, subscribe } from "./state.js";
import { whereBox } from "./wherebox.js";

const VIEWS = {
  grid: ["Grid", grid, "g"],
  features: ["Features", features, "f"],
  record: ["Record", recordView, "r"],
  files: ["Files", filesView, "d"],
  compare: ["Compare", compareView, "c"],
};
const THEMES = { "": "Auto", light: "Light", dark: "Dark" };

const main = document.getElementById("main");
const top = document.getElementById("top");
let session = null;
let view = null;
let shown = "";

const context = { session: () => session, set: () => session.sets[current().set] ?? session.sets.a };
const where = whereBox(context);
const title = el("div", { class: "title" });
const tabs = el("nav", { class: "tabs", "aria-label": "Views" });
const theme = button("", nextTheme, { class: "quiet", title: "Light, dark, or as the system" });

function readTheme() {
  try {
    return localStorage.getItem("tfr-theme") ?? "";
  } catch {
    return "";
  }
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  theme.textContent = THEMES[name] ?? "Auto";
  theme.setAttribute("aria-label", `Colours: ${theme.textContent}`);
}

function nextTheme() {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
  try {
    localStorage.setItem("tfr-theme", next);
  } catch {
    // a browser that keeps nothing: the choice holds for this page
  }
  setTheme(next);
}

function drawTop() {
  const set = context.set();
  const { a, b } = session.sets;
  const switcher =
    b &&
    el(
      "div",
      { class: "segments", role: "group", "aria-label": "Data set" },
      [
        ["a", a],
        ["b", b],
      ].map(([key, one]) =>
        button(key.toUpperCase(), () => go({ set: key }), {
          title: one.title,
          "aria-label": `Data set ${key}: ${one.title}`,
          "aria-pressed": String(current().set === key),
        }),
      ),
    );
  const records = set.records === null ? null : plural(set.records, "record");
  const facts = [records, plural(set.file_count, "file"), bytes(set.bytes)].filter(Boolean).join(" · ");
  replace(
    title,
    switcher,
    el("strong", { title: set.title }, set.title),
    el("span", { class: "muted facts" }, facts),
  );
  replace(
    tabs,
    Object.entries(VIEWS).map(
      ([name, [text, , key]]) =>
        (name !== "compare" || b) &&
        el(
          "a",
          {
            href: link({ view: name }),
            title: `${text} (${key})`,
            "aria-current": name === current().view ? "page" : null,
          },
          text,
        ),
    ),
  );
  document.title = `${set.title} – tfr view`;
}

function show(state) {
  if (session === null) return;
  if (state.set === "b" && !session.sets.b) note({ set: "a" });
  searchFor(current());
  drawTop();
  where.update();
  if (shown !== state.view) {
    view?.close();
    shown = state.view;
    document.body.dataset.view = shown;
    view = VIEWS[shown][1](main, context);
  } else view.update();
}

function back() {
  const { view: name, where: asked, order } = current();
  if (document.activeElement?.matches("input, select, textarea")) document.activeElement.blur();
  else if (name !== "grid") go({ view: "grid" });
  else if (asked) go({ where: "" });
  else if (order) go({ order: "" });
}

function handle(key) {
  const other = Object.entries(VIEWS).find(([, [, , letter]]) => letter === key);
  if (other && (other[0] !== "compare" || session?.sets.b)) go({ view: other[0] });
  else if (key === "/") where.focus();
  else if (key === "?") toggleHelp();
  else if (key === "Escape") back();
  else if (key === "s" && session?.sets.b) go({ set: current().set === "a" ? "b" : "a" });
  else if (key === "n") {
    if (current().view !== "record") go({ view: "record" });
    document.getElementById("jump")?.select();
  } else return view?.keys(key) ?? false;
  return true;
}

/** Ask again while something is still being counted or looked at, ever more rarely. */
async function follow(wait) {
  const open = Object.values(session.sets).some((set) => set && set.records === null);
  if (!open) return;
  await new Promise((done) => setTimeout(done, wait));
  try {
    if (!document.hidden) {
      const before = JSON.stringify(session);
      const next = await get("/api/session");
      if (JSON.stringify(next) !== before) {
        session = next;
        drawTop();
        view?.refresh();
      }
    }
  } catch {
    // the views say what does not answer
  }
  follow(Math.min(10_000, wait * 1.5));
}

async function start() {
  setTheme(readTheme());
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  try {
    session = await get("/api/session");
  } catch (error) {
    replace(main, notice("error", error.message, error.hint, button("Try again", start)));
    return;
  }
  replace(
    top,
    el(
      "div",
      { class: "top-line" },
      title,
      tabs,
      el(
        "div",
        { class: "tools" },
        theme,
        button("?", toggleHelp, { class: "quiet", "aria-label": "Keys", title: "Keys (?)" }),
      ),
    ),
    where.element,
  );
  show(current());
  follow(500);
}

subscribe(show);
listen(handle);
start();
