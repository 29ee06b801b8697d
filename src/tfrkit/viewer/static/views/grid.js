// Owns the grid: all records, or those that the filter takes, as pictures, cards or a table.

import { button, el, later, notice, redraw, replace, shortName } from "../dom.js";
import { count, plural } from "../format.js";
import { Rows } from "../rows.js";
import { onSearch, search, searchFor } from "../search.js";
import { Scroller } from "../scroller.js";
import { orderChoice } from "../order.js";
import { current, go, isSearched, link, note } from "../state.js";
import { LAYOUTS, drawItem, dropItem, neededColumns, suitableLayout, tableColumns } from "../tiles.js";

/** Show the grid in `place`; the returned object answers keys and changes of the state, and closes. */
export function grid(place, context) {
  const bar = el("div", { class: "toolbar" });
  const head = el("div", { class: "table-head", "aria-hidden": "true" });
  const box = el("div", { class: "scroll", role: "list", tabindex: "0", "aria-label": "Records" });
  const message = el("div", { class: "over" });
  const counted = el("span", { class: "muted", id: "grid-count" });
  const view = el("section", { class: "grid-view" }, bar, el("div", { class: "grid-body" }, head, box, message));
  replace(place, view);

  let rows = null;
  let source = "";
  let looks = null;
  let selected = -1;
  const noteAt = later(200, () => current().view === "grid" && note({ at: Math.max(0, scroller.first) }));

  const scroller = new Scroller(box, {
    lineHeight: 100,
    perLine: 1,
    draw: (item) => {
      const row = rows?.row(item);
      const href = row && row.n !== null ? link({ view: "record", n: row.n, i: item, at: scroller.first }) : null;
      const element = drawItem(item, row, looks, href);
      if (item === selected) mark(element, true);
      return element;
    },
    drop: dropItem,
    moved: () => {
      head.scrollLeft = box.scrollLeft;
      noteAt();
    },
    resized,
    wanted: (start, end) => rows && rows.want(start, end),
  });

  function describe() {
    const state = current();
    const { features, features_left: left } = context.set();
    const layout = LAYOUTS[state.layout] ? state.layout : suitableLayout(features);
    const images = features.filter((feature) => feature.role === "image");
    const image = images.find((feature) => feature.name === state.image) ?? images[0];
    const labels = features.filter((feature) => feature.role === "label");
    const label = labels.find((feature) => feature.kind === "bytes") ?? labels[0]; // names say more than numbers
    const boxes = features.find((feature) => feature.boxes) ?? features.find((feature) => feature.role === "boxes");
    const asked = neededColumns({ layout: "cards", label: label?.name ?? null }, features).length;
    return {
      set: state.set,
      layout,
      size: ["s", "m", "l"].includes(state.size) ? state.size : "m",
      image: image?.name ?? null,
      step: image?.list === "steps" ? 0 : null,
      images,
      label: label?.name ?? null,
      boxes: boxes?.name ?? null,
      columns: tableColumns(features, state.columns),
      order: state.order,
      asked,
      left: Math.max(0, features.length + left - asked), // that records may have beside those asked for
      total: null,
    };
  }

  function itemsPerLine() {
    const width = LAYOUTS[looks.layout].width(looks.size);
    return width ? Math.max(1, Math.floor((box.clientWidth - 24) / width)) : 1;
  }

  function resized() {
    if (looks === null) return;
    if (itemsPerLine() === scroller.options.perLine) scroller.draw();
    else layOut(scroller.first);
  }

  function layOut(keep) {
    const kind = LAYOUTS[looks.layout];
    const perLine = itemsPerLine();
    box.style.setProperty("--per-line", perLine);
    box.style.setProperty("--line-height", `${kind.height(looks.size)}px`);
    view.dataset.layout = looks.layout;
    const table = looks.layout === "table";
    const columns = looks.columns.length + (looks.order ? 1 : 0);
    head.style.setProperty("padding-right", `${box.offsetWidth - box.clientWidth}px`); // the scroll bar of the rows
    box.style.setProperty("--columns", columns);
    head.style.setProperty("--columns", columns);
    head.hidden = !table;
    replace(
      head,
      table && [
        el("span", { class: "cell number" }, "record"),
        looks.order && el("span", { class: "cell numeric" }, "sorted by"),
        looks.columns.map((feature) =>
          el("span", { class: feature.kind === "bytes" ? "cell" : "cell numeric" }, shortName(feature.name)),
        ),
      ],
    );
    scroller.layOut({ lineHeight: kind.height(looks.size), perLine }, keep);
  }

  function openSource() {
    const state = current();
    const searched = isSearched(state);
    const job = searched ? search().id : null;
    const columns = context.set().features.length > 0 ? neededColumns(looks, context.set().features) : null;
    const wanted = JSON.stringify([state.set, state.where, state.order, job, columns, looks.layout === "cards"]);
    if (wanted === source) return;
    if (searched && job === null) {
      // the search starts, or has failed
      rows?.close();
      rows = null;
      source = "";
      scroller.clear();
      return;
    }
    source = wanted;
    rows?.close();
    selected = -1;
    scroller.clear();
    const mine = new Rows(
      {
        set: state.set,
        job,
        columns: columns && columns.map(encodeURIComponent).join(","),
        others: looks.layout === "cards" ? 1 : null,
      },
      () => mine === rows && arrived(),
    );
    rows = mine;
  }

  function known() {
    if (rows === null) return 0;
    const state = current();
    if (isSearched(state)) return search().kept ?? 0;
    return rows.total ?? context.set().records ?? Math.max(rows.seen + 100, state.at + 100);
  }

  function arrived() {
    scroller.setItems(known());
    for (const [item, element] of scroller.elements) {
      if (element.classList.contains("waiting") && rows.row(item) !== undefined) scroller.redraw(item);
    }
    if (document.activeElement === box) focusSelected();
    tellState();
  }

  function tellState() {
    const state = current();
    const found = search();
    const items = known();
    looks.total = items;
    const searched = isSearched(state);
    const stopped = ["done", "cancelled"].includes(found.state);
    box.classList.toggle("dim", searched && found.state === "failed");
    if (rows?.error) {
      replace(
        message,
        notice(
          "error",
          rows.error.message,
          rows.error.hint,
          button("Try again", () => {
            if (searched && rows.error.status === 404) return searchFor(state, true); // the server has forgotten it
            rows.retry();
            tellState();
            scroller.draw();
            return undefined;
          }),
        ),
      );
    } else if (rows?.waiting) replace(message, notice("loading", "Not reached yet", rows.waiting));
    else if (searched && found.state === "failed") {
      const order = found.order && found.error.startsWith("order:");
      const back = order && button("As in the files", () => go({ order: "" }));
      replace(message, notice("error", `This ${order ? "order" : "filter"} does not work`, found.error, back));
    } else if (state.where && items === 0 && found.state === "done") {
      replace(
        message,
        notice(
          "empty",
          "No record matches",
          `None of ${plural(found.of ?? found.scanned, "record")}.`,
          button("Remove the filter", () => go({ where: "" })),
        ),
      );
    } else if (searched && items === 0 && !stopped)
      replace(message, notice("loading", found.order ? "Sorting …" : "Searching …"));
    else if (items === 0 && rows?.total === 0)
      replace(message, notice("empty", "No records", found.file_errors[0]?.error ?? "The files are empty."));
    else replace(message);
    const counting = !searched && rows?.total === null && context.set().records === null;
    const left = searched && stopped && items < found.matches ? `the first ${count(items)} of ` : "";
    const all = left ? found.matches : items;
    const amount = state.where ? plural(all, "match", "matches") : plural(all, "record");
    counted.textContent = counting ? "counting records …" : `${left}${amount}`;
  }

  function toolbar() {
    const choose = (title, name, options, now) =>
      el(
        "label",
        { class: "choice" },
        title,
        el(
          "select",
          { on: { change: (event) => go({ [name]: event.target.value }) }, name },
          options.map(([value, text]) => el("option", { value, selected: value === now }, text)),
        ),
      );
    const layouts = el(
      "div",
      { class: "segments", role: "group", "aria-label": "Layout" },
      Object.entries(LAYOUTS).map(
        ([name, { title }]) =>
          (name !== "tiles" || looks.images.length > 0) &&
          button(title, () => go({ layout: name }), {
            name: `layout ${name}`,
            "aria-pressed": String(name === looks.layout),
            "data-layout": name,
          }),
      ),
    );
    const sizes = el(
      "div",
      { class: "segments", role: "group", "aria-label": "Size of pictures" },
      [
        ["s", "Small"],
        ["m", "Medium"],
        ["l", "Large"],
      ].map(([name, title]) =>
        button(name.toUpperCase(), () => go({ size: name }), {
          name: `size ${name}`,
          "aria-pressed": String(name === looks.size),
          title,
          "aria-label": title,
        }),
      ),
    );
    return [
      layouts,
      looks.layout === "tiles" && sizes,
      looks.layout === "tiles" &&
        looks.images.length > 1 &&
        choose(
          "Picture",
          "image",
          looks.images.map(({ name }) => [name, name]),
          looks.image,
        ),
      looks.layout === "table" && context.set().features.length > 0 && columnMenu(),
      orderChoice(context.set().features, looks.order),
      el("span", { class: "grow" }),
      counted,
    ];
  }

  function columnMenu() {
    const { features, features_left: left } = context.set();
    const now = looks.columns.map((feature) => feature.name);
    const boxes = features.slice(0, 500).map(({ name }) =>
      el(
        "label",
        {},
        el("input", {
          type: "checkbox",
          name: `column ${name}`,
          checked: now.includes(name),
          on: {
            change: () => {
              const names = now.includes(name) ? now.filter((one) => one !== name) : [...now, name];
              go({ columns: names.map(encodeURIComponent).join(",") });
            },
          },
        }),
        el("span", {}, name),
      ),
    );
    return el(
      "details",
      { class: "menu", open: bar.querySelector("details.menu")?.open },
      el("summary", {}, `Columns ${now.length} of ${count(features.length + left)}`),
      el("div", { class: "menu-body" }, boxes),
    );
  }

  function mark(element, on) {
    element.classList.toggle("selected", on);
  }

  function select(item) {
    const items = known();
    if (items === 0) return;
    const old = scroller.elements.get(selected);
    if (old) mark(old, false);
    selected = Math.max(0, Math.min(items - 1, item));
    scroller.scrollTo(selected, true);
    const element = scroller.elements.get(selected);
    if (!element) return;
    mark(element, true);
    focusSelected();
  }

  function focusSelected() {
    scroller.elements.get(selected)?.querySelector("a.open")?.focus({ preventScroll: true });
  }

  function keys(key) {
    const line = scroller.options.perLine;
    const page = Math.max(1, Math.floor(box.clientHeight / scroller.options.lineHeight)) * line;
    const from = selected >= 0 ? selected : scroller.first - (key === "Home" ? 0 : 1);
    const steps = {
      j: 1,
      k: -1,
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: selected < 0 ? 1 : line,
      ArrowUp: -line,
      PageDown: page,
      PageUp: -page,
    };
    if (key in steps) select(from + steps[key]);
    else if (key === "Home") select(0);
    else if (key === "End") select(known() - 1);
    else if (key === "Enter" && selected >= 0) scroller.elements.get(selected)?.querySelector("a.open")?.click();
    else if (key === "t") {
      const names = Object.keys(LAYOUTS).filter((name) => name !== "tiles" || looks.images.length > 0);
      go({ layout: names[(names.indexOf(looks.layout) + 1) % names.length] });
    } else if (key === "o") bar.querySelector("[name=order]").focus();
    else if (key === "O") bar.querySelector("[name=direction]")?.click();
    else return false;
    return true;
  }

  function update() {
    const state = current();
    const next = describe();
    const before = looks;
    looks = next;
    const same =
      before &&
      ["set", "layout", "size", "image", "boxes", "label", "order"].every((name) => before[name] === next[name]) &&
      String(before.columns.map((one) => one.name)) === String(next.columns.map((one) => one.name));
    openSource();
    scroller.items = known();
    if (!same) redraw(bar, toolbar());
    if (!same) layOut(before && before.set === next.set ? scroller.first : state.at);
    scroller.setItems(known());
    if (state.at !== scroller.first) scroller.scrollTo(state.at);
    tellState();
  }

  const unsubscribe = onSearch(() => {
    if (current().view !== "grid" || looks === null) return;
    openSource();
    rows?.grew();
    arrived();
  });

  update();
  box.focus({ preventScroll: true });
  const { n, i } = current();
  const before = i ?? (isSearched(current()) ? null : n); // the record that was looked at
  if (before !== null) select(before);
  return {
    update,
    keys,
    refresh: () => {
      rows?.grew();
      arrived();
    },
    close: () => {
      unsubscribe();
      noteAt.cancel();
      rows?.close();
      scroller.clear();
      scroller.close();
    },
  };
}
