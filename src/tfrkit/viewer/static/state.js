// Owns the view's state, all of which is in the part of the URL after "#": #/record?set=a&n=5&where=label == 3
//
// A change that a person would undo with the back button goes to a new entry of the history; scrolling replaces the entry.

const VIEWS = ["grid", "features", "record", "files", "compare"];
const NUMBERS = new Set(["n", "i", "at", "step"]);
const DEFAULTS = {
  set: "a",
  where: "",
  layout: "", // "" is what suits the data
  size: "m",
  image: "", // which feature tiles show
  columns: "", // of the table, with commas
  find: "",
  sort: "",
  order: "", // of the grid: "value:score", "-brightness:image" from the greatest on; "" is that of the files
  at: 0, // first row of the grid
  n: null, // record shown
  i: null, // its place among the matches
  step: 0,
};
const OWN = {
  grid: ["at"],
  features: ["find", "sort"],
  record: ["n", "i", "step"],
  files: [],
  compare: ["find", "sort"],
};
const SHARED = ["set", "where", "order", "layout", "size", "image", "columns"];

const listeners = new Set();
const asked = new URLSearchParams(location.search).get("where"); // of the address that the command printed
if (asked && !location.hash) history.replaceState(null, "", `/#/grid?${new URLSearchParams({ where: asked })}`);
let state = read();

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const found = { ...DEFAULTS, view: VIEWS.includes(path) ? path : "grid" };
  for (const [name, text] of new URLSearchParams(query)) {
    if (!(name in DEFAULTS)) continue;
    if (!NUMBERS.has(name)) found[name] = text;
    else if (/^\d+$/.test(text)) found[name] = Number(text);
  }
  if (found.set !== "b") found.set = "a";
  return found;
}

function write(of) {
  const query = new URLSearchParams();
  for (const name of [...SHARED, ...OWN[of.view]]) {
    if (of[name] !== DEFAULTS[name] && of[name] !== null) query.set(name, of[name]);
  }
  const text = query.toString();
  return `#/${of.view}${text ? `?${text}` : ""}`;
}

function changed(changes) {
  const next = { ...state, ...changes };
  const other = ["where", "order", "set"].some((name) => name in changes && changes[name] !== state[name]);
  if (other) {
    next.at = changes.at ?? 0;
    next.i = changes.i ?? null;
  }
  if ("n" in changes && !("step" in changes)) next.step = 0;
  if ("n" in changes && !("i" in changes)) next.i = null;
  return next;
}

function tell() {
  for (const listener of [...listeners]) listener(state);
}

/** The state as it is now; not to be changed in place. */
export function current() {
  return state;
}

/** Whether a search finds the records, and in which order. */
export function isSearched(of) {
  return Boolean(of.where || of.order);
}

/** The link to a changed state. */
export function link(changes) {
  return write(changed(changes));
}

/** Go to a changed state: the back button returns. */
export function go(changes) {
  state = changed(changes);
  if (location.hash !== write(state)) history.pushState(null, "", write(state));
  tell();
}

/** Note a change for reloading and bookmarks, without telling anyone. */
export function note(changes) {
  state = { ...state, ...changes };
  history.replaceState(null, "", write(state));
}

/** Be told of every change. */
export function subscribe(listener) {
  listeners.add(listener);
}

addEventListener("popstate", () => {
  const { at } = state;
  state = read();
  if (state.view !== "grid") state.at = at; // the grid keeps its place while another view is looked at
  tell();
});
