// Owns how numbers, sizes and shares are written for people.

const WHOLE = new Intl.NumberFormat("en-US");

/** 12,345; a dash for what is not known. */
export function count(number) {
  return number === null || number === undefined ? "–" : WHOLE.format(number);
}

/** "1 record", "2 records". */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** 37.4 kB, in powers of ten as the command line says them. */
export function bytes(size) {
  if (size === null || size === undefined) return "–";
  if (size < 1000) return `${size} B`;
  const units = ["kB", "MB", "GB", "TB", "PB"];
  let value = size;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}

/** What a job could not read, as the end of a sentence; "" if it read everything. */
export function passedOver({ skipped = 0, file_errors: errors = [] }) {
  const parts = [skipped > 0 && `${plural(skipped, "damage")} passed over`];
  parts.push(errors.length > 0 && `${plural(errors.length, "file")} not read`);
  return parts
    .filter(Boolean)
    .map((part) => ` · ${part}`)
    .join("");
}

/** A number with so many digits that it can be told from others, and no more. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return WHOLE.format(value);
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/** 3 %, 0.4 %, 100 % only if it is all. */
export function percent(part, of) {
  if (!of) return "0 %";
  const share = (100 * part) / of;
  if (part > 0 && share < 0.1) return "< 0.1 %";
  if (part < of && share > 99.9) return "99.9 %";
  return `${share < 10 ? Number(share.toFixed(1)) : Math.round(share)} %`;
}

/** The least and the greatest of a length: "1", "0 to 12". */
export function range(least, greatest) {
  return least === greatest ? number(least) : `${number(least)} to ${number(greatest)}`;
}

/** A checksum as eight hexadecimal digits; texts are shown as they are. */
export function checksum(value) {
  return typeof value === "number" ? `0x${value.toString(16).padStart(8, "0")}` : (value ?? "–");
}

/** A text cut to a length, with three dots. */
export function shortened(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** The last part of a path or URL. */
export function baseName(path) {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}
