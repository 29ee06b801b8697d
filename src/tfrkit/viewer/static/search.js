// Owns the search for the records that the filter takes, or all, in an order: one job at a time for the set that is shown.

import { cancelJob, startJob, stopJob, watchJob } from "./api.js";

const NONE = {
  state: "none",
  id: null,
  set: "a",
  where: "",
  order: "",
  matches: null, // found
  kept: null, // that can be shown
  missing: 0, // last in the order, as they have no value
  undecodable: 0, // after those, as their picture does not decode
  scanned: 0,
  of: null,
  file_errors: [], // of files that cannot be read
  error: null,
};

const listeners = new Set();
let now = NONE;
let round = 0;
let stop = () => {};

function set(changes) {
  now = { ...now, ...changes };
  for (const listener of [...listeners]) listener(now);
}

/** The search as it stands: NONE, where the state may be starting, running, done, failed or cancelled. */
export function search() {
  return now;
}

/** Be told of every change of the search. The returned function ends that. */
export function onSearch(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Make the search one for this filter and order; one that is already there stays. */
export async function searchFor({ set: of, where, order }, again = false) {
  if (!again && now.set === of && now.where === where && now.order === order) return;
  round += 1;
  const mine = round;
  stop();
  if (now.id !== null) cancelJob(now.id);
  const wanted = Boolean(where || order);
  set({ ...NONE, set: of, where, order, state: wanted ? "starting" : "none" });
  if (!wanted) return;
  try {
    const id = await startJob("search", of, where, { order });
    if (mine !== round) {
      cancelJob(id);
      return;
    }
    set({ id, state: "running" });
    stop = watchJob(id, (event) => {
      if (mine === round) set({ ...event, where, order });
    });
  } catch (error) {
    if (mine === round) set({ state: "failed", error: error.message, hint: error.hint, at: error.at });
  }
}

/** Stop counting. What was found stays shown. */
export function stopSearch() {
  if (now.id !== null) stopJob(now.id);
}
