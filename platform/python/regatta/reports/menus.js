// SPDX-License-Identifier: Apache-2.0
// Figures that the reader changes by menus: makes a figure's specification of the chosen options, as menus.py says. The data
// are tables that figures share.
"use strict";
(() => {
  const NO_FACETS = "(each program)";
  const tables = new Map();

  // Anew for each drawing: Vega writes into the rows.
  function rows(id, name) {
    if (!tables.has(id)) tables.set(id, page.read(id));
    const { columns, rows: all } = tables.get(id)[name];
    return all.map((row) => Object.fromEntries(columns.map((c, i) => [c, row[i]])));
  }

  function set(spec, pointer, value) {
    const path = pointer.slice(1).split("/");
    const last = path.pop();
    const node = path.reduce((n, key) => n[key], spec);
    if (value === null && last !== "value" && !Array.isArray(node)) delete node[last];
    else node[last] = structuredClone(value);
  }

  class MenuFigure {
    constructor(figure) {
      this.figure = figure;
      const { spec, menus, dimensions } = JSON.parse(page.$(".spec", figure).textContent);
      Object.assign(this, { base: spec, menus, dimensions, selects: new Map() });
      const [controls, fixes] = [page.$(".menus", figure), page.$(".fixes", figure)];
      menus.filter((m) => m.options.length > 1).forEach((m) => this.menu(m, m.dimension ? fixes : controls));
      const details = page.$("details", figure);
      details.hidden = !fixes.childElementCount;
      if (innerWidth < 600) details.open = false;
      Object.assign(figure, { chosen: () => this.chosen(), spec: (width) => this.spec(width) });
      this.say();
    }

    menu(menu, parent) {
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.dataset.menu = menu.name;
      let group = select;
      menu.options.forEach((o, i) => {
        if (o.group && group.label !== o.group) {
          group = document.createElement("optgroup");
          group.label = o.group;
          select.append(group);
        }
        group.append(new Option(o.label, String(i), false, i === menu.chosen));
      });
      label.append(menu.label + " ", select);
      parent.append(label, " ");
      select.addEventListener("change", () => { this.say(); this.figure.redraw(); });
      this.selects.set(menu.name, select);
    }

    option(menu) {
      return menu.options[this.selects.has(menu.name) ? Number(this.selects.get(menu.name).value) : menu.chosen];
    }

    // What of the points' dimensions the figure shows, which are fixed, and what becomes of the others.
    say() {
      const used = new Set(this.menus.filter((m) => m.uses.length).map((m) => m.uses[m.options.indexOf(this.option(m))]));
      const fixed = new Map();
      let best = "";
      this.menus.forEach((m) => {
        if (m.dimension) {
          const select = this.selects.get(m.name);
          if (select) select.parentElement.hidden = used.has(m.dimension);
          if (!used.has(m.dimension) && m.options.indexOf(this.option(m)) > 0) fixed.set(m.dimension, this.option(m).label);
        }
        if (this.option(m).best) best = this.option(m).best;
      });
      const cloud = this.menus.some((m) => this.option(m).best === "");
      const free = this.dimensions.filter((d) => d && !used.has(d) && !fixed.has(d));
      const said = this.menus.map((m) => this.option(m).note).filter(Boolean);
      if (fixed.size) said.unshift(`Fixed: ${[...fixed].map(([d, v]) => `${d} = ${v}`).join(", ")}.`);
      if (cloud) said.unshift("Each mark is one point, and lines are their trend; other knobs differ as well.");
      else if (free.length && best) said.unshift(`Each mark is ${best} over all values of ${free.join(", ")}.`);
      page.$(".said", this.figure).textContent = said.join(" ");
    }

    // Whether anything is there to draw: a geometric mean needs values above 0 of all programs.
    empty(spec) {
      const p = Object.fromEntries(spec.params.map((q) => [q.name, q.value]));
      const keys = [p.y, p.a, p.b].filter(Boolean);
      return !rows(this.figure.dataset.tables, "values").some((r) =>
        (p.program === NO_FACETS || r.g === p.program) && keys.every((k) => r[k] !== null));
    }

    chosen() {
      const spec = structuredClone(this.base);
      this.menus.forEach((m) => Object.entries(this.option(m).set).forEach(([pointer, value]) => set(spec, pointer, value)));
      return spec;
    }

    spec(width) {
      const spec = this.chosen();
      if (this.empty(spec)) return { text: "No values: a mean of all programs needs a value above 0 of each. Choose one program." };
      spec.datasets = Object.fromEntries(["values", "references", "points", "fronts"].map((n) =>
        [n, rows(this.figure.dataset.tables, n)]));
      return this.fitted(spec, width);
    }

    // To the width of the page, with one figure of each program beside the other.
    fitted(spec, width) {
      const parts = [spec, spec.spec, ...(spec.spec ?? spec).layer];
      const legends = parts.map((part) => part?.encoding?.color?.legend).filter((legend) => legend?.columns);
      legends.forEach((legend) => { legend.columns = Math.max(2, Math.floor(width / 110)); });
      if (!spec.facet) return spec;
      if (spec.params.find((p) => p.name === "program").value !== NO_FACETS) {
        const { facet, columns, spec: inner, resolve, ...rest } = spec;
        return { ...rest, ...inner, width: "container" };
      }
      spec.autosize = "pad"; // several views cannot be fitted
      // As many rows as needed, and columns that fill them.
      const most = Math.max(1, Math.min(4, Math.floor(width / 260)));
      const count = spec.facet.sort.length - 1;
      spec.columns = Math.ceil(count / Math.ceil(count / most));
      const axes = spec.resolve.scale.y === "shared" ? 60 / spec.columns + 24 : 75;
      spec.spec.width = Math.floor(width / spec.columns - axes);
      spec.spec.height = 170;
      return spec;
    }
  }
  page.all("figure[data-menus]").forEach((f) => new MenuFigure(f));
})();
