// Owns the text of a filter: its tokens, its parts that are joined by `and`, and how a click changes it.
//
// The language is that of `tfr select --where`; whether an expression is right, and what it means, the server says.

const TOKEN = new RegExp(
  [
    /(?<number>[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_.]))/u,
    /(?<text>[bB]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))/su,
    /(?<quoted>`[^`]+`)/u,
    /(?<operator>==|!=|<=|>=|<|>)/u,
    /(?<mark>[(),[\]])/u,
    /(?<name>[\p{L}_][\p{L}\p{N}_/.:-]*)/u,
  ]
    .map((part) => part.source)
    .join("|"),
  "suy",
);
const WORDS = new Set(["and", "or", "not", "in"]);

/** Split a text into [{kind, text, start, end}]; what is no token has the kind "none" and reaches to the end. */
function tokens(text) {
  const found = [];
  let at = 0;
  for (;;) {
    while (at < text.length && /\s/u.test(text[at])) at += 1;
    if (at >= text.length) return found;
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) {
      found.push({ kind: "none", text: text.slice(at), start: at, end: text.length });
      return found;
    }
    const [kind] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    const word = kind === "name" && WORDS.has(match[0]);
    found.push({ kind: word ? "word" : kind, text: match[0], start: at, end: TOKEN.lastIndex });
    at = TOKEN.lastIndex;
  }
}

/** A feature's name as it stands in an expression. */
export function quoteName(name) {
  const plain = /^[\p{L}_][\p{L}\p{N}_/.:-]*$/u.test(name) && !WORDS.has(name);
  return plain ? name : `\`${name}\``;
}

/** Split an expression where `and` joins it at the outermost level: [{text, start, end}]. With an `or` there it is one. */
export function parts(text) {
  const all = tokens(text);
  if (all.length === 0) return [];
  let depth = 0;
  const ands = [];
  for (const token of all) {
    if (token.text === "(" || token.text === "[") depth += 1;
    else if (token.text === ")" || token.text === "]") depth -= 1;
    else if (depth === 0 && token.kind === "word" && token.text === "or") return [whole(text)];
    else if (depth === 0 && token.kind === "word" && token.text === "and") ands.push(token);
  }
  const found = [];
  let start = 0;
  for (const end of [...ands, { start: text.length, end: text.length }]) {
    const part = text.slice(start, end.start).trim();
    if (part === "") return [whole(text)];
    found.push({ text: part });
    start = end.end;
  }
  return found;
}

function whole(text) {
  return { text: text.trim(), or: true };
}

/** Join parts by `and`; an expression with `or` gets parentheses beside others. */
export function join(texts) {
  const kept = texts.filter((text) => text !== "");
  if (kept.length < 2) return kept.join("");
  return kept.map((text) => (parts(text)[0]?.or ? `(${text})` : text)).join(" and ");
}

/** What is asked of one feature by an expression: {low, high, values: Set of texts of literals, present}. */
export function about(text, name) {
  const asked = { low: null, high: null, values: new Set(), present: null };
  for (const part of parts(text)) {
    const found = readPart(part.text);
    if (found === null || found.name !== name) continue;
    if (found.what === "present") asked.present = true;
    else if (found.what === "absent") asked.present = false;
    else if (found.what === "values") found.values.forEach((value) => asked.values.add(value));
    else if (found.what[0] === ">") asked.low = found.value;
    else asked.high = found.value;
  }
  return asked;
}

/** Read a part that a click can have made; null if it is another. */
function readPart(text) {
  let all = tokens(text);
  const negated = all.length === 2 && all[0].text === "not" && all[0].kind === "word";
  if (negated) all = all.slice(1);
  const [first, second, ...rest] = all;
  if (first === undefined || !["name", "quoted"].includes(first.kind)) return null;
  const name = first.kind === "quoted" ? first.text.slice(1, -1) : first.text;
  if (second === undefined) return { name, what: negated ? "absent" : "present" };
  if (second.kind === "operator" && rest.length === 1) {
    if (second.text === "==") return { name, what: "values", values: [rest[0].text] };
    if (second.text !== "!=" && rest[0].kind === "number") {
      return { name, what: second.text, value: Number(rest[0].text) };
    }
  }
  if (second.text === "in" && second.kind === "word") {
    const literals = rest.filter((token) => token.kind === "number" || token.kind === "text");
    return { name, what: "values", values: literals.map((token) => token.text) };
  }
  return null;
}

function without(text, name, kinds) {
  return parts(text)
    .map((part) => part.text)
    .filter((part) => {
      const found = readPart(part);
      return found === null || found.name !== name || !kinds(found.what);
    });
}

/** Ask for a value of a feature, as a literal, or no longer if that was asked; values of one feature are alternatives. */
export function toggleValue(text, name, literal) {
  const { values } = about(text, name);
  if (!values.delete(literal)) values.add(literal);
  const kept = without(text, name, (what) => what === "values");
  const list = [...values];
  const asked =
    list.length < 2
      ? list.map((one) => `${quoteName(name)} == ${one}`)
      : [`${quoteName(name)} in (${list.join(", ")})`];
  return join([...kept, ...asked]);
}

/** Ask for numbers from `low` to below `high`, or to `high` itself if `last`; the same range again takes it back. */
export function setRange(text, name, low, high, last) {
  const now = about(text, name);
  const kept = without(text, name, (what) => what[0] === "<" || what[0] === ">");
  if (now.low === Number(low) && now.high === Number(high)) return join(kept);
  const shown = quoteName(name);
  if (low === high) return join([...kept, `${shown} >= ${low}`, `${shown} <= ${low}`]);
  return join([...kept, `${shown} >= ${low}`, `${shown} ${last ? "<=" : "<"} ${high}`]);
}

/** Ask whether records have a feature: true, false, or null for either. */
export function setPresent(text, name, present) {
  const kept = without(text, name, (what) => what === "present" || what === "absent");
  const shown = quoteName(name);
  return join([...kept, present === null ? "" : present ? shown : `not ${shown}`]);
}

/** The chips of an expression: the two ends of a range are one. [{text, rest: expression without it}] */
export function chips(text) {
  const all = parts(text).map((part) => ({ text: part.text, read: readPart(part.text) }));
  const found = [];
  const used = new Set();
  all.forEach((part, place) => {
    if (used.has(place)) return;
    const taken = [place];
    if (part.read?.what[0] === ">") {
      const end = all.findIndex((other) => other.read?.name === part.read.name && other.read.what[0] === "<");
      if (end >= 0 && !used.has(end)) taken.push(end);
    }
    taken.forEach((one) => used.add(one));
    const [low, high] = taken.map((one) => all[one]);
    const shown = high
      ? `${low.text} and ${high.read.what} ${high.text
          .split(/[<>]=?/)
          .at(-1)
          .trim()}`
      : low.text;
    const rest = join(all.filter((_, other) => !taken.includes(other)).map((other) => other.text));
    found.push({ text: shown, rest });
  });
  return found;
}

/** What a name could be completed to at a place in the text: {start, end, names}, or null where no name can stand. */
export function completion(text, at, names) {
  const all = tokens(text);
  const open = text.slice(0, at).match(/`[^`]*$/u); // a name in backticks that is being typed
  const inside = open && (text.slice(0, at).split("`").length - 1) % 2 === 1;
  const token = inside ? null : all.find((one) => one.start < at && at <= one.end);
  if (token && !["name", "quoted", "word"].includes(token.kind)) return null;
  const start = inside ? at - open[0].length : token ? token.start : at;
  const before = all.filter((one) => one.end <= start).at(-1);
  const expected = before === undefined || before.text === "(" || (before.kind === "word" && before.text !== "in");
  if (!inside && !expected) return null;
  const typed = text.slice(start, at).replaceAll("`", "").toLowerCase();
  const fits = names.filter((name) => name.toLowerCase().includes(typed));
  fits.sort((a, b) => Number(b.toLowerCase().startsWith(typed)) - Number(a.toLowerCase().startsWith(typed)));
  return { start, end: Math.max(at, token?.end ?? at), names: fits.slice(0, 50) };
}
