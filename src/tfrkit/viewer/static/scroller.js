// Owns which lines of a long list are on the screen: places of lines, and elements for those in view and few others.
//
// A list may be taller than a browser can make an element. Then the scroll bar stands for shares of the list: small
// movements move by pixels all the same, large ones jump.

import { el } from "./dom.js";

const TALLEST = 8_000_000; // pixels; browsers end at 16 to 33 million

/** Lines of `perLine` items each. `options`: lineHeight, perLine, draw(item) -> element, moved(first, last). */
export class Scroller {
  constructor(box, options) {
    this.box = box;
    this.options = options;
    this.items = 0;
    this.elements = new Map();
    this._shift = 0;
    this._last = 0;
    this._layer = el("div", { class: "layer" });
    this._height = el("div", { class: "extent" }, this._layer);
    box.append(this._height);
    this._onScroll = () => this._scrolled();
    box.addEventListener("scroll", this._onScroll, { passive: true });
    this._observer = new ResizeObserver(() => this.options.resized());
    this._observer.observe(box);
  }

  close() {
    this._observer.disconnect();
    this.box.removeEventListener("scroll", this._onScroll);
    this._height.remove();
  }

  get lines() {
    return Math.ceil(this.items / this.options.perLine);
  }

  get _full() {
    return this.lines * this.options.lineHeight;
  }

  /** How far the top of the view is from the first line, in pixels of the whole list. */
  get top() {
    return this.box.scrollTop + this._shift;
  }

  get first() {
    return Math.floor(this.top / this.options.lineHeight) * this.options.perLine;
  }

  /** Set how many items there are, and draw. */
  setItems(items) {
    if (items !== this.items) {
      this.items = items;
      this._height.style.setProperty("height", `${Math.min(this._full, TALLEST)}px`);
    }
    this.draw();
  }

  /** Take new sizes, keeping an item at the top. */
  layOut(changes, keep) {
    Object.assign(this.options, changes);
    this._height.style.setProperty("height", `${Math.min(this._full, TALLEST)}px`);
    this.clear();
    this.scrollTo(keep);
  }

  /** Bring an item to the top of the view, or only into it. */
  scrollTo(item, only = false) {
    const { lineHeight, perLine } = this.options;
    const wanted = Math.floor(item / perLine) * lineHeight;
    const view = this.box.clientHeight;
    let top = wanted;
    if (only) {
      if (wanted < this.top) top = wanted;
      else if (wanted + lineHeight > this.top + view) top = wanted + lineHeight - view;
      else {
        this.draw();
        return;
      }
    }
    this._place(Math.max(0, Math.min(top, this._full - view)));
    this.draw();
  }

  _place(top) {
    const view = this.box.clientHeight;
    const range = Math.max(1, this._full - view);
    const scroll = this._full <= TALLEST ? top : Math.round((top / range) * (TALLEST - view));
    this.box.scrollTop = scroll;
    this._last = this.box.scrollTop;
    this._shift = this._full <= TALLEST ? 0 : top - this._last;
  }

  _scrolled() {
    const now = this.box.scrollTop;
    const view = this.box.clientHeight;
    if (this._full > TALLEST && now !== this._last) {
      const end = now <= 0 || now >= TALLEST - view - 1;
      if (end || Math.abs(now - this._last) > view)
        this._shift = (now / (TALLEST - view)) * (this._full - view) - now;
    }
    this._last = now;
    this.draw();
    this.options.moved();
  }

  /** Forget all elements, so that they are drawn anew. */
  clear() {
    for (const element of this.elements.values()) this.options.drop(element);
    this.elements.clear();
    this._layer.replaceChildren();
  }

  /** The range of items to have elements for: the view, and half of it before and after. */
  range() {
    const { lineHeight, perLine } = this.options;
    const view = Math.max(1, Math.ceil(this.box.clientHeight / lineHeight));
    const more = Math.min(8, Math.floor((view - 1) / 2));
    const first = Math.floor(this.top / lineHeight);
    const start = Math.max(0, first - more) * perLine;
    return [start, Math.min(this.items, (first + view + 1 + more) * perLine)];
  }

  draw() {
    const { lineHeight, perLine } = this.options;
    const [start, end] = this.range();
    for (const [item, element] of this.elements) {
      if (item >= start && item < end) continue;
      this.options.drop(element);
      element.remove();
      this.elements.delete(item);
    }
    const line = Math.floor(start / perLine);
    this._layer.style.setProperty("transform", `translateY(${line * lineHeight - this._shift}px)`);
    let next = this._layer.firstChild;
    for (let item = start; item < end; item += 1) {
      let element = this.elements.get(item);
      if (element === undefined) {
        element = this.options.draw(item);
        this.elements.set(item, element);
        this._layer.insertBefore(element, next);
      } else {
        next = element.nextSibling;
      }
    }
    this.options.wanted(start, end);
  }

  /** Draw one item again, if it is there. */
  redraw(item) {
    const old = this.elements.get(item);
    if (old === undefined) return;
    const element = this.options.draw(item);
    this.options.drop(old);
    old.replaceWith(element);
    this.elements.set(item, element);
  }
}
