// Owns the statistics of the set: those of all records, and those of the filter's matches, one job after the other.

import { cancelJob, startJob, watchJob } from "./api.js";

const listeners = new Set();
const BY_NAME = 300; // features asked for at a time
const EMPTY = { state: "none", records: 0, of: null, features: [], error: null };
let sets = new Map(); // set: what is known of all its records
let matched = { ...EMPTY, set: "", where: "" };
let job = null; // {id, stop, whole}
let round = 0;

function tell() {
  for (const listener of [...listeners]) listener();
}

/** What is known: {all, matches}, matches null without a filter. */
export function statistics(set, where) {
  const fits = where && matched.set === set && matched.where === where;
  return { all: sets.get(set) ?? EMPTY, matches: fits ? matched : null };
}

/** Be told when more is known. The returned function ends that. */
export function onStatistics(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function drop() {
  round += 1;
  if (job === null) return;
  job.stop();
  if (job.id !== null) cancelJob(job.id);
  if (job.whole !== null && sets.get(job.whole).state === "running") sets.get(job.whole).state = "stopped";
  job = null;
}

async function run(set, where, note, options = {}) {
  round += 1;
  const mine = round;
  job = { id: null, stop: () => {}, whole: where ? null : set };
  note({ state: "running" });
  try {
    const id = await startJob("stats", set, where, options);
    if (mine !== round) {
      cancelJob(id);
      return;
    }
    job.id = id;
    job.stop = watchJob(id, (event) => {
      if (mine !== round) return;
      if (event.state !== "running") job = null;
      note(event);
      if (event.state !== "running" && where) ask(set, where); // then those of all records, if they are not complete
    });
  } catch (error) {
    if (mine !== round) return;
    job = null;
    note({ state: "failed", error: error.message, hint: error.hint });
  }
}

/** Make what is missing: of the matches first, then of all records. What was stopped by a person stays stopped. */
export function ask(set, where) {
  if (where && (matched.set !== set || matched.where !== where)) {
    drop();
    matched = { ...EMPTY, set, where };
    run(set, where, (event) => {
      matched = { ...matched, ...event };
      tell();
    });
    return;
  }
  if (!where && matched.where) {
    if (job?.whole === null) drop();
    matched = { ...EMPTY, set: "", where: "" };
  }
  const all = sets.get(set);
  if (job === null && (all === undefined || all.state === "stopped")) {
    if (all === undefined) sets.set(set, { ...EMPTY });
    run(set, "", (event) => {
      const before = sets.get(set);
      const fewer = event.state === "running" && (event.records ?? 0) < before.records; // begun again
      sets.set(set, fewer ? { ...before, state: "running" } : { ...before, ...event });
      tell();
    });
  }
}

/** Make those of features that the others had no room for, a number at a time. */
export function askByName(set, names) {
  const all = sets.get(set);
  const columns = names.filter((name) => !all.asked?.has(name)).slice(0, BY_NAME);
  if (job !== null || all.state !== "done" || columns.length === 0) return;
  sets.set(set, { ...all, asked: new Set([...(all.asked ?? []), ...columns]) });
  const note = ({ state, features = [] }) => {
    if (state !== "done") return;
    sets.set(set, { ...sets.get(set), features: [...sets.get(set).features, ...features] });
    tell();
  };
  run(set, "", note, { columns });
}

/** Stop what runs, and keep what it found. */
export function stopStatistics(set) {
  drop();
  if (matched.state === "running") matched = { ...matched, state: "cancelled" };
  const all = sets.get(set);
  if (all && all.state !== "done") sets.set(set, { ...all, state: "cancelled" });
  tell();
}
