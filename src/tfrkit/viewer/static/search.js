// Owns the search for the records that the filter takes: one job at a time for the set that is shown.

import { cancelJob, startJob, stopJob, watchJob } from "./api.js";

const NONE = { state: "none", id: null, set: "a", where: "", matches: null, scanned: 0, of: null, error: null };

const listeners = new Set();
let now = NONE;
let round = 0;
let stop = () => {};

function set(changes) {
  now = { ...now, ...changes };
  for (const listener of [...listeners]) listener(now);
}

/** The search as it stands: {state: none|starting|running|done|failed|cancelled, id, matches, scanned, of, error, hint}. */
export function search() {
  return now;
}

/** Be told of every change of the search. The returned function ends that. */
export function onSearch(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Make the search one for this filter; one that is already there stays. */
export async function searchFor(of, where, again = false) {
  if (!again && now.set === of && now.where === where) return;
  round += 1;
  const mine = round;
  stop();
  if (now.id !== null) cancelJob(now.id);
  set({ ...NONE, set: of, where, state: where ? "starting" : "none" });
  if (!where) return;
  try {
    const id = await startJob("search", of, where);
    if (mine !== round) {
      cancelJob(id);
      return;
    }
    set({ id, state: "running" });
    stop = watchJob(id, (event) => {
      if (mine === round) set(event);
    });
  } catch (error) {
    if (mine === round) set({ state: "failed", error: error.message, hint: error.hint, at: error.at });
  }
}

/** Stop counting. What was found stays shown. */
export function stopSearch() {
  if (now.id !== null) stopJob(now.id);
}
