// Owns rows of the data set or of a search's matches as they come from the server: pages, kept while they are near.

import { get } from "./api.js";

const PAGE = 100;
const KEPT = 40;
const RETRY = 1000; // milliseconds

/** Rows by their place. `changed` is called when some have come, or a request failed. */
export class Rows {
  constructor(source, changed) {
    this.source = source; // {set, job, columns, others}
    this.total = null; // as the server last said
    this.seen = 0; // rows that are known to be there
    this.error = null;
    this.waiting = null; // what has to be read before the rows that are wanted
    this._changed = changed;
    this._age = 0; // grows with the rows there are
    this._pages = new Map(); // by number: {rows, abort, age, state: "loading" | "here" | "failed"}
  }

  /** A row that is here, else undefined. */
  row(place) {
    return this._pages.get(Math.floor(place / PAGE))?.rows[place % PAGE];
  }

  /** Ask for the rows of a range, and no longer for others. */
  want(start, end) {
    const first = Math.max(0, Math.floor(start / PAGE));
    const last = Math.max(first, Math.floor(Math.max(start, end - 1) / PAGE));
    for (const [number, page] of this._pages) {
      if (page.state === "loading" && (number < first || number > last)) {
        page.abort.abort();
        this._pages.delete(number);
      }
    }
    for (let number = first; number <= last; number += 1) {
      const page = this._pages.get(number);
      if (page === undefined || this._isStale(page)) this._load(number);
    }
  }

  /** More is known than before: pages that were not full, or not numbered, are asked for again when they are wanted. */
  grew() {
    this._age += 1;
  }

  _isStale(page) {
    if (page.state !== "here" || page.age === this._age) return false;
    return page.rows.length < PAGE || page.rows.some((row) => row.n === null);
  }

  /** Ask again for what failed. */
  retry() {
    this.error = null;
    for (const [number, page] of this._pages) if (page.state === "failed") this._pages.delete(number);
  }

  /** Stop all requests. */
  close() {
    this._changed = () => {};
    for (const page of this._pages.values()) page.abort.abort();
  }

  async _load(number) {
    const page = {
      rows: this._pages.get(number)?.rows ?? [],
      abort: new AbortController(),
      age: this._age,
      state: "loading",
    };
    this._pages.delete(number);
    this._pages.set(number, page); // the newest come last
    try {
      const fresh = [];
      let full = false;
      while (!full) {
        // an answer of large rows is cut: the rest is asked for
        const asked = { ...this.source, start: number * PAGE + fresh.length, count: PAGE - fresh.length };
        const { rows, total } = await get("/api/rows", asked, page.abort.signal);
        fresh.push(...rows);
        if (total !== null) this.total = total;
        full = rows.length === 0 || fresh.length >= PAGE || (total !== null && number * PAGE + fresh.length >= total);
      }
      this.waiting = null;
      page.rows = fresh;
      page.state = "here";
      this.seen = Math.max(this.seen, number * PAGE + fresh.length);
      this._forget();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error.status === 503) {
        this.waiting = error.message;
        this._pages.delete(number);
        setTimeout(() => this._changed(), RETRY);
      } else {
        page.state = "failed";
        this.error = error;
      }
    }
    this._changed();
  }

  _forget() {
    for (const [number, page] of this._pages) {
      if (this._pages.size <= KEPT) return;
      if (page.state === "here") this._pages.delete(number);
    }
  }
}
