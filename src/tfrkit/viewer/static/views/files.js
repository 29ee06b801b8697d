// Owns the view of files: sizes and counts of the shards, and a map of where they are damaged.

import { get, startJob, stopJob, watchJob } from "../api.js";
import { button, el, notice, replace, svg } from "../dom.js";
import { bytes, count, percent, plural } from "../format.js";
import { current, link } from "../state.js";

const FIRST = 200;
const checks = new Map(); // set: the latest event of its verification

/** Show the files in `place`. */
export function filesView(place, context) {
  const bar = el("div", { class: "toolbar" });
  const body = el("div", { class: "files-body" });
  const box = el("div", { class: "scroll", tabindex: "-1" }, body);
  replace(place, el("section", { class: "files-view" }, bar, box));
  let files = null;
  let stop = () => {};
  let id = null;
  let shown = FIRST;

  async function load() {
    replace(body, notice("loading", "Looking at the files …"));
    try {
      const answer = await get("/api/files", { set: current().set });
      files = Array.isArray(answer) ? answer : answer.files;
      draw();
    } catch (error) {
      replace(body, notice("error", error.message, error.hint, button("Try again", load)));
    }
    drawBar();
  }

  async function verify() {
    const { set } = current();
    try {
      id = await startJob("verify", set, null);
      stop = watchJob(id, (event) => {
        checks.set(set, event);
        drawBar();
        if (files) draw();
      });
    } catch (error) {
      checks.set(set, { state: "failed", error: error.message, damages: [] });
      drawBar();
    }
  }

  function drawBar() {
    const set = context.set();
    const check = checks.get(current().set);
    const running = check?.state === "running";
    const result = !check
      ? el("span", { class: "muted" }, "not verified yet")
      : check.state === "failed"
        ? el("span", { class: "bad" }, check.error)
        : running
          ? [
              el("progress", { max: "1", value: check.share ?? null, "aria-label": "Verify" }),
              el("span", {}, `${percent(check.share ?? 0, 1)} read · ${plural(check.damages_found ?? 0, "damage")}`),
            ]
          : check.state === "cancelled"
            ? el("span", {}, `stopped at ${percent(check.share ?? 0, 1)}`)
            : (check.damages_found ?? 0) === 0 && check.ok !== false
              ? el("span", { class: "good" }, "✓ no damage")
              : el("span", { class: "bad" }, `✗ ${plural(check.damages_found ?? 0, "damage")}`);
    replace(
      bar,
      el(
        "span",
        {},
        [
          plural(set.file_count, "file"),
          bytes(set.bytes),
          set.records === null ? "counting records …" : plural(set.records, "record"),
        ].join(" · "),
      ),
      el("span", { class: "grow" }),
      el("span", { class: "status", role: "status" }, result),
      running
        ? button("Stop", () => stopJob(id), { class: "quiet" })
        : button(check ? "Verify again" : "Verify", verify, { id: "verify" }),
    );
  }

  function damagesOf(number) {
    const check = checks.get(current().set);
    const found = check?.damages?.filter((damage) => damage.file === number) ?? [];
    return found.length > 0 || check ? found : (files[number]?.damages ?? []);
  }

  function draw() {
    const most = Math.max(...files.map((file) => file.bytes ?? 0), 1);
    const check = checks.get(current().set);
    const reports = new Map((check?.files ?? []).map((report) => [report.file, report]));
    const rows = files.slice(0, shown).map((file, place) => row(file, file.number ?? place, most, reports, check));
    const head = el(
      "tr",
      {},
      ["File", "Size", "Records", "Compression", "Index", "State"].map((title, at) =>
        el("th", { scope: "col", class: at === 1 || at === 2 ? "numeric" : null }, title),
      ),
    );
    const rest =
      files.length > shown &&
      button(`Show ${count(Math.min(1000, files.length - shown))} more of ${count(files.length)}`, () => {
        shown += 1000;
        draw();
      });
    const damages = files.flatMap((_, number) => damagesOf(number));
    const problems = check?.problems ?? [];
    replace(
      body,
      damages.length > 0 && damageList(damages, check),
      problems.length > 0 &&
        el(
          "section",
          { class: "panel" },
          el("h2", {}, "Problems"),
          el(
            "ul",
            {},
            problems.map((problem) => el("li", {}, typeof problem === "string" ? problem : problem.text)),
          ),
        ),
      el("table", { class: "files" }, el("thead", {}, head), el("tbody", {}, rows)),
      rest,
    );
  }

  function row(file, number, most, reports, check) {
    const damages = damagesOf(number);
    const report = reports.get(number);
    const state =
      damages.length > 0
        ? el("span", { class: "bad" }, `✗ ${plural(Math.max(damages.length, check ? 0 : file.damage_count), "damage")}`)
        : report && !report.ok
          ? el("span", { class: "bad" }, report.error ?? "✗ not intact")
          : report
            ? el("span", { class: "good" }, "✓ intact")
            : file.error
              ? el("span", { class: "bad" }, file.error)
              : el("span", { class: "muted" }, "not verified");
    const index = [file.indexed && "yes", file.zones && "zones"].filter(Boolean).join(", ");
    return el(
      "tr",
      { class: damages.length > 0 ? "damaged" : null },
      el(
        "td",
        { class: "path" },
        el("span", { class: "path-text", title: file.path }, file.path),
        map(file, damages, most),
      ),
      el("td", { class: "numeric" }, bytes(file.bytes)),
      el("td", { class: "numeric" }, count(file.records ?? report?.records)),
      el("td", { class: "short" }, file.compression || "none"),
      el("td", {}, index || "–"),
      el("td", {}, state),
    );
  }

  /** The file as a bar as long as its size, with damage where it is. */
  function map(file, damages, most) {
    const size = Math.max(1, file.bytes ?? 1);
    const share = Math.max(0.02, (file.bytes ?? 0) / most);
    const marks = damages.map((damage) =>
      svg("rect", {
        class: "damage",
        x: Math.min(998, (1000 * damage.offset) / size),
        y: 0,
        height: 10,
        width: Math.max(5, (1000 * (damage.length || 0)) / size),
      }),
    );
    const bar = svg(
      "svg",
      {
        viewBox: "0 0 1000 10",
        preserveAspectRatio: "none",
        class: "map",
        role: "img",
        "aria-label": `${plural(damages.length, "damage")} in ${file.path}`,
      },
      svg("rect", { class: "file-bar", width: 1000, height: 10 }),
      marks,
    );
    bar.style.setProperty("width", `${100 * share}%`);
    return bar;
  }

  function damageList(damages, check) {
    const to = (n, text) =>
      n === null || n === undefined
        ? el("span", { class: "muted" }, "–")
        : el("a", { href: link({ view: "record", n, i: null, where: "" }) }, `${text} ${count(n)}`);
    const rows = damages
      .slice(0, 200)
      .map((damage) =>
        el(
          "tr",
          {},
          el("td", { class: "short", title: files[damage.file]?.path }, files[damage.file]?.path.split("/").at(-1)),
          el("td", { class: "numeric" }, count(damage.offset)),
          el("td", { class: "numeric" }, bytes(damage.length)),
          el("td", {}, damage.reason),
          el("td", { class: "short" }, to(damage.before, "record")),
          el("td", { class: "short" }, to(damage.after, "record")),
        ),
      );
    const more = (check?.damages_found ?? damages.length) - rows.length;
    return el(
      "section",
      { class: "panel damages", "aria-label": "Damage" },
      el("h2", {}, "Damage"),
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            ["File", "At byte", "Length", "What", "Before it", "After it"].map((title, at) =>
              el("th", { scope: "col", class: at === 1 || at === 2 ? "numeric" : null }, title),
            ),
          ),
        ),
        el("tbody", {}, rows),
      ),
      more > 0 && el("p", { class: "muted" }, `and ${count(more)} more`),
    );
  }

  load();
  let set = current().set;
  return {
    update: () => {
      if (set === current().set) return;
      set = current().set;
      stop();
      load();
    },
    refresh: drawBar,
    keys: (key) => {
      if (key !== "ArrowDown" && key !== "ArrowUp" && key !== "j" && key !== "k") return false;
      box.scrollBy(0, key === "ArrowDown" || key === "j" ? 60 : -60);
      return true;
    },
    close: () => stop(),
  };
}
