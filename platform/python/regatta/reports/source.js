// SPDX-License-Identifier: Apache-2.0
// Source lines and instructions beside each other, each with its share of the scheduler-cycles.
"use strict";
(() => {
  const data = page.read("source-data");
  const files = page.$("#source-file"), kernels = page.$("#source-kernel"), detail = page.$("#source-detail");
  const panes = { source: page.$("#source-lines"), code: page.$("#source-code") };
  let shownRun = null, costs = null;
  const current = { source: null, code: null };  // the row on which the arrow keys are

  const run = () => data.runs[page.run()];
  const share = (cycles) => run().cycles ? 100 * cycles / run().cycles : 0;
  const percent = (cycles) => cycles ? share(cycles).toFixed(1) : "";

  function element(kind, number, cycles, heat, text) {
    const row = document.createElement("div");
    row.className = kind;
    const cell = (name, content) => {
      const span = document.createElement("span");
      span.className = name;
      span.textContent = content;
      row.append(span);
    };
    cell("number", number);
    cell("cost", percent(cycles));
    cell("text", text);
    if (cycles) row.style.setProperty("--heat", heat.toFixed(3));
    return row;
  }

  function select(row, pane) {
    if (!row) return;
    if (current[pane]) current[pane].classList.remove("current");
    current[pane] = row;
    row.classList.add("current");
    panes[pane].setAttribute("aria-activedescendant", row.id);
  }

  // Scrolls the pane alone, never the page.
  function reveal(row, pane) {
    const box = panes[pane], top = row.offsetTop;
    if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 3;
    }
  }

  // Chooses the rows that pass the test, and returns the costliest.
  function mark(pane, test) {
    let best = null;
    const heat = (row) => Number(row.style.getPropertyValue("--heat"));
    page.all(".row", panes[pane]).forEach((row) => {
      const chosen = test(row);
      row.classList.toggle("chosen", chosen);
      row.setAttribute("aria-selected", String(chosen));
      if (chosen && (!best || heat(row) > heat(best))) best = row;
    });
    return best;
  }

  function tell(name, cycles, reasons) {
    const parts = [];
    for (let i = 0; i < reasons.length; i += 2) parts.push([reasons[i + 1], data.reasonNames[reasons[i]]]);
    parts.sort((a, b) => b[0] - a[0]);
    detail.textContent = `${name}: ${cycles ? `${page.number(cycles)} scheduler-cycles, ${percent(cycles)} %` : "no cycles"}` +
      (parts.length ? ` (${parts.map(([c, n]) => `${n} ${percent(c)} %`).join(", ")})` : "");
  }

  const key = (file, line) => `${file}:${line}`;

  function chooseLine(where) {
    const [file, line] = where.split(":").map(Number);
    if (Number(files.value) !== file) { files.value = String(file); drawSource(); }
    const kernel = run().kernels.findIndex((k) => k.code.some((c) => c[0] >= 0 && c[2] === file && c[3] === line));
    if (kernel >= 0 && !run().kernels[kernels.value]?.code.some((c) => c[0] >= 0 && c[2] === file && c[3] === line)) {
      kernels.value = String(kernel);
      drawCode();
    }
    const row = mark("source", (r) => r.dataset.where === where);
    if (row) { select(row, "source"); reveal(row, "source"); }
    const code = mark("code", (r) => r.dataset.where === where);
    if (code) { select(code, "code"); reveal(code, "code"); }
    const cost = costs.get(where);
    tell(`${data.files[file].name}:${line}`, cost ? cost[2] : 0, cost ? cost[3] : []);
  }

  function chooseInstruction(row) {
    const where = row.dataset.where;
    mark("code", (r) => r === row);
    select(row, "code");
    if (where) {
      const [file] = where.split(":").map(Number);
      if (Number(files.value) !== file) { files.value = String(file); drawSource(); }
      const source = mark("source", (r) => r.dataset.where === where);
      if (source) { select(source, "source"); reveal(source, "source"); }
    }
    const code = run().kernels[kernels.value].code[Number(row.dataset.at)];
    tell(`instruction ${code[0]}`, code[4], code[5]);
  }

  function drawSource() {
    const index = Number(files.value), file = data.files[index], most = run().lines.length ? run().lines[0][2] : 0;
    const lines = file.lines ?? run().lines.filter((l) => l[0] === index).sort((a, b) => a[1] - b[1]).map((l) => [l[1], ""]);
    current.source = null;
    panes.source.replaceChildren(...lines.map((line) => {
      if (line === null) return Object.assign(document.createElement("div"), { className: "gap", textContent: "..." });
      const where = key(index, line[0]), cost = costs.get(where);
      const row = element("row", line[0], cost ? cost[2] : 0, cost && most ? cost[2] / most : 0, line[1]);
      row.id = `source-line-${line[0]}`;
      row.dataset.where = where;
      row.setAttribute("role", "option");
      return row;
    }));
  }

  function drawCode() {
    const kernel = run().kernels[Number(kernels.value)];
    current.code = null;
    if (!kernel) return panes.code.replaceChildren();
    const most = Math.max(1, ...kernel.code.map((c) => c[4] ?? 0));
    panes.code.replaceChildren(...kernel.code.map((c, at) => {
      const text = data.strings[c[1]];
      if (c[0] < 0) return Object.assign(document.createElement("div"), { className: "between", textContent: text });
      const row = element("row", c[0], c[4], c[4] / most, text);
      row.id = `source-instruction-${at}`;
      row.dataset.at = at;
      if (c[2] >= 0) row.dataset.where = key(c[2], c[3]);
      row.setAttribute("role", "option");
      return row;
    }));
  }

  function options(select, names) {
    select.replaceChildren(...names.map(([value, text]) => new Option(text, value)));
    select.parentElement.parentElement.hidden = names.length < 2;
  }

  function show() {
    if (shownRun === page.run()) return;
    shownRun = page.run();
    costs = new Map(run().lines.map((l) => [key(l[0], l[1]), l]));
    page.$("#source-panes").hidden = !run().lines.length;
    if (!run().lines.length) return;
    const used = new Set(run().lines.map((l) => l[0]));
    options(files, data.files.map((f, i) => [i, f.name]).filter(([i]) => used.has(i)));
    options(kernels, run().kernels.map((k, i) => [i, k.name]));
    files.value = String(run().lines[0][0]);
    drawSource();
    drawCode();
    chooseLine(key(run().lines[0][0], run().lines[0][1]));
  }

  function keys(event, pane) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e9, End: 1e9 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const rows = page.all(".row", panes[pane]);
    const at = Math.max(0, rows.indexOf(current[pane])) + steps[event.key];
    choose(rows[Math.min(rows.length - 1, Math.max(0, at))], pane);
  }
  function choose(row, pane) {
    if (pane === "source") chooseLine(row.dataset.where); else chooseInstruction(row);
    reveal(row, pane);
  }
  Object.entries(panes).forEach(([pane, box]) => {
    box.addEventListener("keydown", (event) => keys(event, pane));
    box.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) choose(row, pane);
    });
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-line]");
    if (!link) return;
    event.preventDefault();
    chooseLine(link.dataset.line);
    page.$("#source-panes").scrollIntoView({ block: "nearest" });
    panes.source.focus({ preventScroll: true });
  });
  files.addEventListener("change", drawSource);
  kernels.addEventListener("change", drawCode);
  page.onRedraw(show);
  show();
})();
