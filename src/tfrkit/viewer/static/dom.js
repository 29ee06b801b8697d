// Owns how elements are made. Text always goes in as text nodes, so nothing that comes from data is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";
const HIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]|\p{Surrogate}/gu;
const READ = new Set(["title", "aria-label", "alt"]); // attributes that people read

/** Text with what cannot be seen as escapes: control characters, changes of direction, lone surrogates. */
function visible(text) {
  return text.replace(HIDDEN, (one) => {
    const code = one.codePointAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code}`;
  });
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) node.style.setProperty(property, text);
    } else {
      const text = value === true ? "" : String(value);
      node.setAttribute(name, READ.has(name) ? visible(text) : text);
    }
  }
  append(node, children);
  return node;
}

/** Add children: nodes, texts, and lists of them; null and false are left out. */
export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
  return node;
}

/** Make an HTML element: el("button", {class: "quiet", on: {click: f}}, "Text"). */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Make an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Put other children into a node. */
export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/** Put other children into a node; the control that has the focus gets it again, by its name. */
export function redraw(node, ...children) {
  const focused = node.contains(document.activeElement) ? document.activeElement.name : "";
  replace(node, ...children);
  if (focused) node.querySelector(`[name="${CSS.escape(focused)}"]`)?.focus();
}

/** Make a button with a text. */
export function button(text, click, attributes = {}) {
  return el("button", { type: "button", ...attributes, on: { click } }, text);
}

/** The name of a feature where there is little room: of "image/object/bbox/xmin" the end is what tells it from others. */
export function shortName(name, attributes = {}) {
  const cut = name.length < 2 ? 0 : 1 + Math.max(...[..."/._"].map((sign) => name.lastIndexOf(sign, name.length - 2)));
  return el(
    "span",
    { ...attributes, class: "short-name", title: name },
    cut > 0 && el("span", { class: "stem" }, name.slice(0, cut)),
    el("span", { class: "leaf" }, name.slice(cut) || "(no name)"),
  );
}

/** Make a message that fills an empty, loading or failed place. */
export function notice(kind, title, text = null, ...more) {
  const role = kind === "error" ? "alert" : "status";
  return el("div", { class: `notice ${kind}`, role }, el("strong", {}, title), text && el("p", {}, text), more);
}

/** Call a function once nothing has asked for it again for so many milliseconds. */
export function later(wait, call) {
  let timer = 0;
  const start = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(call, wait, ...args);
  };
  start.cancel = () => clearTimeout(timer);
  return start;
}
