// Owns the steps of a SequenceExample: one slider, and every feature list at the step where it stands.

import { get } from "./api.js";
import { lines } from "./charts.js";
import { button, el, later, replace, shortName } from "./dom.js";
import { count } from "./format.js";
import { renderValues } from "./renderers.js";
import { current, note } from "./state.js";

const PLOTTED = 6; // numbers of a step that are drawn as lines

/** The steps of `record`, which has `steps` of them. `keys(key)` moves the slider. */
export function stepsView(set, record) {
  const isPicture = (feature) => Number(feature.role === "image");
  const lists = record.features.filter((feature) => feature.list === "steps");
  lists.sort((a, b) => isPicture(b) - isPicture(a)); // beside the slider
  const last = Math.max(0, record.steps - 1);
  let step = Math.min(current().step, last);
  let timer = 0;
  const slider = el("input", {
    type: "range",
    min: "0",
    max: String(last),
    value: String(step),
    "aria-label": "Step",
  });
  const told = el("output", { class: "step-number" });
  const play = button("Play", () => (timer ? stop() : start()), { "aria-pressed": "false" });
  const rows = lists.map((feature) => makeRow(feature));
  const noteStep = later(150, () => current().view === "record" && note({ step }));

  function makeRow(feature) {
    const plain = feature.kind !== "bytes" && Array.isArray(feature.values[0]) ? feature.values : null;
    const width = plain ? Math.max(0, ...plain.slice(0, 200).map((one) => one.length)) : 0;
    const drawn = width > 0 && width <= PLOTTED && plain.length > 1;
    const series = drawn
      ? Array.from({ length: width }, (_, place) =>
          plain.map((one) => (typeof one[place] === "number" ? one[place] : NaN)),
        )
      : null;
    const plot = series && lines(feature.name, series, step);
    plot?.querySelector("svg").addEventListener("pointerdown", (event) => {
      const area = event.currentTarget.getBoundingClientRect();
      move(Math.round(((event.clientX - area.left) / area.width) * (plain.length - 1)));
    });
    const body = el("div", { class: "step-value" });
    const node = el(
      "section",
      { class: "feature", "data-feature": feature.name },
      el("header", {}, el("h3", {}, shortName(feature.name)), el("span", { class: "badge" }, `steps of ${feature.kind}`)),
      plot,
      body,
    );
    return { feature, plot, body, node };
  }

  function valuesAt(feature) {
    const values = feature.values[step];
    const sizes = feature.bytes?.[step];
    return {
      values: Array.isArray(values) ? values : values === undefined ? [] : [values],
      sizes: Array.isArray(sizes) ? sizes : [sizes],
    };
  }

  let round = 0;
  async function draw() {
    round += 1;
    const mine = round;
    told.textContent = `step ${count(step)} of ${count(record.steps)}`;
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", told.textContent);
    const missing = rows.some(({ feature }) => feature.values[step] === undefined && step < feature.count);
    if (missing) {
      const more = await get("/api/record", { set, n: record.n, step }).catch(() => null);
      if (mine !== round) return;
      for (const row of rows) {
        const found = more?.features.find((one) => one.list === "steps" && one.name === row.feature.name);
        if (found?.at === undefined) continue;
        row.feature.values[step] = found.at;
        row.feature.bytes[step] = found.at_bytes;
      }
    }
    for (const { feature, plot, body } of rows) {
      plot?.point(step);
      for (const old of body.querySelectorAll(".image-view")) old.drop?.();
      const shown = { ...feature, count: valuesAt(feature).values.length };
      replace(body, renderValues({ set, n: record.n, feature: shown, step, boxes: null, ...valuesAt(feature) }));
    }
    noteStep();
  }

  function move(to) {
    const next = Math.max(0, Math.min(last, to));
    if (next === step) return;
    step = next;
    draw();
  }

  function start() {
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => (step >= last ? stop() : move(step + 1)), 200);
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  }

  slider.addEventListener("input", () => move(Number(slider.value)));
  draw();
  const node = el(
    "section",
    { class: "steps", "aria-label": "Steps" },
    el("div", { class: "step-bar" }, play, slider, told),
    rows.map((row) => row.node),
  );
  node.drop = () => {
    stop();
    noteStep.cancel();
  };
  return node;
}
