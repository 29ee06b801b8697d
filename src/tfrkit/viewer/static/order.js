// Owns the choice of the order of the grid: what records can be sorted by, and from which end.

import { button, el } from "./dom.js";
import { go } from "./state.js";

const MOST = 500; // features that are offered
const MEASURES = { image: ["brightness", "width", "height", "bytes"], text: ["value", "bytes"], label: ["value"] };

/** What a feature can be sorted by. */
function measures({ list, kind, role }) {
  if (list !== "context" || !["bytes", "float", "int64"].includes(kind)) return [];
  return kind === "bytes" ? (MEASURES[role] ?? ["bytes"]) : ["value"];
}

/** A choice, and a button that turns it round; `order` is that of the state. */
export function orderChoice(features, order) {
  const chosen = order.replace(/^-/, "");
  const down = order.startsWith("-");
  const offered = features.slice(0, MOST).flatMap((feature) =>
    measures(feature).map((measure) => {
      const text = measure === "value" ? feature.name : `${feature.name}: ${measure}`;
      return [`${measure}:${feature.name}`, text];
    }),
  );
  const options = [["", "As in the files"], ...offered, ["bytes:", "Bytes of the record"]];
  if (!options.some(([value]) => value === chosen)) options.push([chosen, chosen.replace(":", " of ")]);
  const turn = () => go({ order: down ? chosen : `-${chosen}` });
  const select = el(
    "select",
    {
      name: "order",
      title: "Order (o)",
      on: { change: ({ target }) => go({ order: target.value && down ? `-${target.value}` : target.value }) },
    },
    options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
  );
  return [
    el("label", { class: "choice" }, "Order", select),
    order &&
      button(down ? "↓ Greatest first" : "↑ Least first", turn, { name: "direction", title: "Turn it round (O)" }),
  ];
}
