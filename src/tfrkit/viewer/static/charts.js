// Owns the charts: histograms with a brush, bars of frequent values, lines of numbers. All SVG, drawn here.

import { el, svg } from "./dom.js";
import { count, number, percent } from "./format.js";

/** The counts of a histogram as if it had the bins of another: each bin's count is spread evenly. */
export function rebin(histogram, wanted) {
  const edges = wanted.map(Number);
  const counts = new Array(edges.length - 1).fill(0);
  histogram.counts.forEach((amount, bin) => {
    const low = Number(histogram.edges[bin]);
    const high = Number(histogram.edges[bin + 1]);
    if (amount === 0) return;
    counts.forEach((_, other) => {
      const left = Math.max(low, edges[other]);
      const right = Math.min(high, edges[other + 1]);
      if (high === low) {
        const last = other === counts.length - 1;
        if (low >= edges[other] && (low < edges[other + 1] || (last && low <= edges[other + 1])))
          counts[other] += amount;
      } else if (right > left) counts[other] += (amount * (right - left)) / (high - low);
    });
  });
  return counts;
}

function bars(counts, scale, kind, low = 0, high = counts.length) {
  const total = counts.length;
  return counts.map((amount, bin) => {
    if (amount <= 0) return null;
    const height = Math.max(1, 100 * (amount / scale));
    const out = bin < low || bin >= high ? " out" : "";
    return svg("rect", { class: kind + out, x: bin + 0.04, y: 100 - height, width: 0.92, height, "data-of": total });
  });
}

function frame(bins, ...children) {
  return svg(
    "svg",
    { class: "plot", viewBox: `0 0 ${Math.max(1, bins)} 100`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...children,
  );
}

/**
 * A histogram that filters: drag over bars, or focus it and use the arrows, Shift and Enter.
 * `chart`: {name, edges, counts, part: counts of the matches or null, low, high: what is asked, unit,
 * brush(low, high, last)}.
 */
export function histogram(chart) {
  const { name, counts, part, brush, unit = "values" } = chart;
  const edges = chart.edges.map(Number); // whole numbers beyond those of JavaScript come as text
  const scale = Math.max(...counts, 1);
  const partScale = part ? Math.max(...part, 1e-9) : 1; // each has its own scale: it is the shape that is compared
  const bins = counts.length;
  const asked = chart.low !== null || chart.high !== null;
  const from =
    chart.low === null
      ? 0
      : Math.max(
          0,
          edges.findIndex((edge) => edge >= chart.low),
        );
  const found = edges.findIndex((edge) => edge >= chart.high);
  const to = chart.high === null || found < 0 ? bins : Math.max(from + 1, found);
  const shade = svg("rect", { class: "brush", y: 0, height: 100, x: 0, width: 0 });
  const plot = frame(
    bins,
    bars(counts, scale, part ? "bar back" : "bar", part ? 0 : from, part ? bins : to),
    part && bars(part, partScale, "bar part", 0, bins),
    shade,
  );
  const least = el("span", {}, number(edges[0]));
  const middle = el(
    "span",
    { class: "at", "aria-live": "polite" },
    asked ? `${number(chart.low ?? edges[0])} to ${number(chart.high ?? edges.at(-1))}` : "",
  );
  const axis = el("span", { class: "axis" }, least, middle, el("span", {}, number(edges.at(-1))));
  const total = count(counts.reduce((a, b) => a + b, 0));
  const sentence = `Histogram of ${name}, ${number(edges[0])} to ${number(edges.at(-1))}, ${total} ${unit}.`;
  const box = el(
    "div",
    {
      class: "histogram",
      tabindex: "0",
      role: "group",
      "aria-label": `${sentence}${brush ? " Arrows choose a bar, Shift with arrows more, Enter filters." : ""}`,
    },
    plot,
    axis,
  );
  const idle = middle.textContent;
  let start = null;
  let end = 0;

  const tell = (first, last) => {
    const total = counts.slice(first, last + 1).reduce((a, b) => a + b, 0);
    middle.textContent = `${number(edges[first])} to ${number(edges[last + 1])}: ${count(total)}`;
    shade.setAttribute("x", first);
    shade.setAttribute("width", last + 1 - first);
  };
  const rest = () => {
    middle.textContent = idle;
    shade.setAttribute("width", 0);
    start = null;
  };
  const apply = () => {
    if (start === null || !brush) return;
    const [first, last] = [Math.min(start, end), Math.max(start, end)];
    rest();
    brush(chart.edges[first], chart.edges[last + 1], last === bins - 1);
  };
  const binAt = (event) => {
    const area = plot.getBoundingClientRect();
    return Math.max(0, Math.min(bins - 1, Math.floor(((event.clientX - area.left) / area.width) * bins)));
  };
  plot.addEventListener("pointerdown", (event) => {
    if (!brush || event.button !== 0) return;
    start = end = binAt(event);
    plot.setPointerCapture(event.pointerId);
    tell(start, end);
  });
  plot.addEventListener("pointermove", (event) => {
    const bin = binAt(event);
    if (plot.hasPointerCapture(event.pointerId)) end = bin;
    else start = null;
    tell(Math.min(start ?? bin, bin), Math.max(start ?? bin, bin));
  });
  plot.addEventListener("pointerup", apply);
  plot.addEventListener("pointercancel", rest);
  plot.addEventListener("pointerleave", (event) => !plot.hasPointerCapture(event.pointerId) && rest());
  box.addEventListener("blur", rest);
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step !== undefined) {
      end = start === null ? 0 : Math.max(0, Math.min(bins - 1, end + step));
      if (start === null || !event.shiftKey) start = end;
      tell(Math.min(start, end), Math.max(start, end));
    } else if (event.key === "Enter") apply();
    else if (event.key === "Escape" && start !== null) rest();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return box;
}

/** Bars of frequent values, each a button. `values`: [{text, count, part, of, chosen, click}]. */
export function valueBars(values, scale = Math.max(...values.map((one) => one.count), 1)) {
  return el(
    "ul",
    { class: "values" },
    values.map((one) => {
      const width = (amount) => ({ width: amount ? `${Math.max(0.5, (100 * amount) / scale)}%` : "0" });
      const inside = [
        el("span", { class: "text" }, one.text === "" ? "(empty)" : one.text),
        el(
          "span",
          { class: "track" },
          el("span", { class: one.parted ? "fill back" : "fill", style: width(one.count) }),
          one.parted && el("span", { class: "fill part", style: width(one.part) }),
        ),
        el("span", { class: "amount" }, count(one.parted ? one.part : one.count)),
      ];
      const share = one.of ? `, ${percent(one.count, one.of)}` : "";
      const title = `${one.text}: ${count(one.count)}${share}`;
      return el(
        "li",
        {},
        one.click
          ? el(
              "button",
              {
                type: "button",
                class: "value-bar",
                title,
                "aria-pressed": String(Boolean(one.chosen)),
                on: { click: one.click },
              },
              inside,
            )
          : el("span", { class: "value-bar", title }, inside),
      );
    }),
  );
}

/** Two histograms with the same edges over each other, each in shares of its own total. */
export function overlaid(name, { edges, old, new: later }) {
  const shares = [old, later].map((counts) => {
    const total = counts.reduce((a, b) => a + b, 0) || 1;
    return counts.map((amount) => amount / total);
  });
  const scale = Math.max(...shares.flat(), 1e-9);
  const plot = frame(old.length, bars(shares[0], scale, "bar of-a"), bars(shares[1], scale, "bar of-b"));
  return el(
    "div",
    { class: "histogram", role: "img", "aria-label": `Histograms of ${name} in both data sets` },
    plot,
    el(
      "span",
      { class: "axis" },
      el("span", {}, number(Number(edges[0]))),
      el("span", {}, number(Number(edges.at(-1)))),
    ),
  );
}

/** Numbers in their order as lines; `mark` is a place to point at. Not-a-numbers are gaps. */
export function lines(name, series, mark = null) {
  const flat = series.flat().filter(Number.isFinite);
  const low = Math.min(...flat);
  const high = Math.max(...flat);
  const length = Math.max(...series.map((one) => one.length));
  const y = (value) => 95 - 90 * (high === low ? 0.5 : (value - low) / (high - low));
  const middle = el("span", { class: "at", "aria-live": "off" });
  const cursor = svg("line", { class: "cursor", y1: 0, y2: 100, visibility: "hidden" });
  const drawn = series.map((one, place) => {
    let path = "";
    let pen = false;
    one.forEach((value, x) => {
      if (Number.isFinite(value)) path += pen ? `L${x} ${y(value).toFixed(2)}` : `M${x} ${y(value).toFixed(2)}h0`;
      pen = Number.isFinite(value);
    });
    return svg("path", { class: `curve hue${place % 6}`, d: length === 1 ? `M-0.5 50L0.5 50` : path });
  });
  const plot = svg(
    "svg",
    {
      class: "plot",
      viewBox: length > 1 ? `0 0 ${length - 1} 100` : "-0.5 0 1 100",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    drawn,
    cursor,
  );
  const point = (at) => {
    cursor.setAttribute("visibility", "visible");
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    const values = series
      .slice(0, 6)
      .map((one) => number(one[at]))
      .join("  ");
    middle.textContent = `[${at}]  ${values}`;
  };
  if (mark !== null) point(mark);
  plot.addEventListener("pointermove", (event) => {
    const area = plot.getBoundingClientRect();
    point(Math.max(0, Math.min(length - 1, Math.round(((event.clientX - area.left) / area.width) * (length - 1)))));
  });
  const box = el(
    "div",
    {
      class: "histogram curves",
      role: "img",
      "aria-label": `Plot of ${name}: ${count(length)} values, ${number(low)} to ${number(high)}`,
    },
    plot,
    el("span", { class: "axis" }, el("span", {}, `${number(low)} … ${number(high)}`), middle),
  );
  box.point = point;
  return box;
}
