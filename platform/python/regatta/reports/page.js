// SPDX-License-Identifier: Apache-2.0
// What all pages do: colours, the run that is shown, tables. Figures register with `page`.
"use strict";
const page = (() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const redraws = [];

  const announce = (text) => { $("#announce").textContent = text; };
  const read = (id) => JSON.parse($("#" + CSS.escape(id)).textContent);
  const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark";
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  function number(v) {
    if (v === null || v === undefined) return "-";
    if (typeof v !== "number") return String(v);
    if (Number.isInteger(v) || Math.abs(v) >= 1000) return v.toLocaleString("en-US", { maximumFractionDigits: 0 });
    return String(Number(v.toPrecision(4)));
  }

  // Figures that are drawn with the page's colours are drawn again when these change, and when the chosen run does.
  const redraw = () => redraws.forEach((f) => f());
  function theme() {
    const choice = $("#choose-theme");
    const set = (value) => { value ? document.documentElement.dataset.theme = value : delete document.documentElement.dataset.theme; };
    choice.addEventListener("change", () => { set(choice.value); redraw(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    // Paper is white.
    addEventListener("beforeprint", () => { set("light"); redraw(); });
    addEventListener("afterprint", () => { set(choice.value); redraw(); });
  }

  let run = 0;
  function chooseRun(index) {
    run = index;
    all(".of-run").forEach((part) => { part.hidden = Number(part.dataset.run) !== run; });
    const choice = $("#choose-run");
    if (choice) {
      choice.value = String(run);
      announce("Run " + choice.selectedOptions[0].textContent);
    }
    redraw();
  }

  // Boxes are stops of the tabulator only if they scroll.
  const stops = () => all(".scroll").forEach((box) => { box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; });

  // One table: its rows are those of the page, or are made of JSON when they are shown.
  class SortedTable {
    constructor(table) {
      this.table = table;
      this.body = $("tbody", table);
      this.most = Number(table.dataset.shown) || Infinity;
      this.shown = this.most;
      this.rows = table.dataset.rows
        ? read(table.dataset.rows).map((cells, i) => ({ cells, at: i }))
        : all("tr", this.body).map((element, i) => ({ element, at: i, cells: [...element.cells].map((c) =>
          c.dataset.v !== undefined ? Number(c.dataset.v) : c.textContent === "-" ? null : c.textContent) }));
      this.order = this.rows;
      this.words = [];
      this.head();
      const filter = $(`[data-filter="${CSS.escape(table.id)}"]`);
      if (filter) filter.addEventListener("input", () => this.filter(filter.value));
      this.count = $(`[data-count="${CSS.escape(table.id)}"]`);
      this.more = document.createElement("button");
      this.more.type = "button";
      this.more.className = "more";
      this.more.addEventListener("click", () => { this.shown += Math.max(this.most, 200); this.draw(); });
      table.parentElement.after(this.more);
      this.draw();
    }

    head() {
      this.heads = all("thead th", this.table);
      this.heads.forEach((th, i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = th.textContent;
        const numeric = this.rows.some((r) => typeof r.cells[i] === "number");
        if (numeric) th.classList.add("n");
        button.addEventListener("click", () => this.sort(i, numeric));
        th.replaceChildren(button);
      });
    }

    // Numbers begin with the largest, texts with the first of the alphabet; the second press turns it round.
    sort(column, numeric) {
      const th = this.heads[column];
      const now = th.getAttribute("aria-sort");
      const down = now ? now === "ascending" : numeric;
      this.heads.forEach((h) => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const empty = (v) => v === null || v === undefined || v === "";
      const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
      this.order = [...this.rows].sort((x, y) => {
        const a = x.cells[column], b = y.cells[column];
        if (empty(a) || empty(b)) return empty(a) - empty(b) || x.at - y.at;
        return (down ? compare(b, a) : compare(a, b)) || x.at - y.at;
      });
      this.draw();
      announce(`Sorted by ${th.textContent}, ${down ? "descending" : "ascending"}`);
    }

    filter(text) {
      this.words = text.toLowerCase().split(/\s+/).filter(Boolean);
      this.shown = this.most;
      this.draw();
    }

    kept(row) {
      if (!this.words.length) return true;
      row.text ??= (row.element ? row.element.textContent : row.cells.join(" ")).toLowerCase();
      return this.words.every((w) => row.text.includes(w));
    }

    made(row) {
      if (row.element) return row.element;
      const tr = document.createElement("tr");
      row.cells.forEach((v, i) => {
        const td = tr.insertCell();
        const decimals = this.heads[i].dataset.decimals;
        td.textContent = typeof v === "number" && decimals ? v.toFixed(Number(decimals)) : number(v);
        if (typeof v === "number" || v === null) td.className = "n";
      });
      row.element = tr;
      return tr;
    }

    draw() {
      const kept = this.order.filter((r) => this.kept(r));
      this.body.replaceChildren(...kept.slice(0, this.shown).map((r) => this.made(r)));
      const left = kept.length - this.shown;
      this.more.hidden = !(left > 0);
      if (left > 0) this.more.textContent = `Show more (${number(left)} further ${left === 1 ? "row" : "rows"})`;
      if (this.count) this.count.textContent = `${number(kept.length)} of ${number(this.rows.length)}`;
    }
  }

  function start() {
    theme();
    const choice = $("#choose-run");
    if (choice) choice.addEventListener("change", () => chooseRun(Number(choice.value)));
    all("table.sortable").forEach((t) => new SortedTable(t));
    stops();
    redraws.push(stops);
    addEventListener("resize", stops);
    all("details").forEach((d) => d.addEventListener("toggle", stops));
  }
  start();
  return { $, all, announce, read, color, isDark, number, chooseRun, run: () => run, onRedraw: (f) => redraws.push(f) };
})();
