// SPDX-License-Identifier: Apache-2.0
// Counters over time: a small chart for each chosen counter, all with the same cycles on the x axis.
"use strict";
(() => {
  const data = page.read("samples-data");
  const host = page.$("#samples-charts"), choices = page.$("#samples-choices"), search = page.$("#samples-search");
  const colors = ["#0072b2", "#d55e00", "#009e73", "#b05a8c", "#b8860b", "#3a86c8"];
  const darkColors = ["#56b4e9", "#f08030", "#1fc99a", "#e29ac4", "#e6b830", "#9ad2f5"];
  let charts = [], shownRun = null, range = null;
  const chosen = new Map();  // run to names

  // The value of a point is that of the interval before it; a step begins where the interval does.
  function points(run, series) {
    const at = [run.begin ?? 0, ...run.cycles];
    const rates = series.values.map((v, i) => series.max ? v : v / (at[i + 1] - at[i]));
    return [at, [rates[0], ...rates]];
  }

  function boundaries(run) {
    const at = [];
    run.launches.forEach((launch, i) => { if (i && launch !== run.launches[i - 1]) at.push({ cycle: run.cycles[i - 1], launch }); });
    return at;
  }

  function lines(run) {
    const begins = boundaries(run);
    return (u) => {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.strokeStyle = page.color("faint");
      ctx.setLineDash([4, 4]);
      begins.forEach(({ cycle }) => {
        const x = Math.round(u.valToPos(cycle, "x", true)) + 0.5;
        if (x < bbox.left || x > bbox.left + bbox.width) return;
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
      });
      ctx.restore();
    };
  }

  // The same range on every chart; a chart tells the others only what the reader did.
  let following = false;
  function zoom(min, max) {
    range = min === null ? null : [min, max];
    following = true;
    charts.forEach((u) => {
      const x = u.data[0];
      u.setScale("x", range ? { min, max } : { min: x[0], max: x[x.length - 1] });
    });
    following = false;
  }

  function chart(run, series, index, sync) {
    const box = document.createElement("div");
    box.className = "chart";
    host.append(box);
    const title = document.createElement("h3");
    title.textContent = series.name;
    const total = series.values.reduce((a, b) => a + b, 0), most = Math.max(...series.values);
    const rates = points(run, series);
    const cycles = run.cycles[run.cycles.length - 1];
    const summary = series.level ? `${page.number(total / cycles)} ${series.unit} on average, at most ${page.number(Math.max(...rates[1]))}`
      : series.max ? `largest ${page.number(most)} ${series.unit}`
        : `${page.number(total / cycles)} per cycle on average, at most ${page.number(Math.max(...rates[1]))}; ` +
          `${page.number(total)} ${series.unit} in all`;
    const small = document.createElement("small");
    small.textContent = " " + summary + (series.meaning ? ` (${series.meaning})` : "");
    title.append(small);
    box.append(title);
    const short = (v) => v >= 1e6 ? page.number(v / 1e6) + " M" : v >= 1e4 ? page.number(v / 1e3) + " k" : page.number(v);
    const axis = {
      stroke: page.color("text"), grid: { stroke: page.color("line"), width: 1 }, ticks: { stroke: page.color("line") },
      font: "12px system-ui, sans-serif", values: (_u, ticks) => ticks.map(short),
    };
    const color = (page.isDark() ? darkColors : colors)[index % colors.length];
    const u = new uPlot({
      width: host.clientWidth, height: 150, cursor: { sync: { key: sync }, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
      axes: [{ ...axis, size: 30 }, { ...axis, size: 56 }],
      series: [{ label: "cycle", value: (_u, v) => page.number(v) },
        { label: series.name, stroke: color, fill: color + "33", width: 1.5, paths: uPlot.paths.stepped({ align: -1 }),
          points: { show: false }, value: (_u, v) => page.number(v) }],
      hooks: { draw: [lines(run)], setScale: [(plot, key) => {
        if (key !== "x" || following || plot.status !== 1) return;
        const { min, max } = plot.scales.x, x = plot.data[0];
        min <= x[0] && max >= x[x.length - 1] ? zoom(null) : zoom(min, max);
      }] },
    }, rates, box);
    const canvas = page.$("canvas", box);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${series.name} over the cycles: ${summary}`);
    charts.push(u);
  }

  function draw() {
    charts.forEach((u) => u.destroy());
    charts = [];
    host.replaceChildren();
    const run = data[page.run()];
    if (!run || !host.clientWidth) return;
    const names = chosen.get(page.run());
    run.series.filter((s) => names.has(s.name)).forEach((s, i) => chart(run, s, i, "samples"));
    if (range) zoom(range[0], range[1]);
    host.dataset.drawn = String(charts.length);
  }

  function list() {
    const run = data[page.run()], words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    choices.replaceChildren();
    if (!run) return;
    const names = chosen.get(page.run());
    run.series.forEach((s) => {
      const text = `${s.name} ${s.meaning}`.toLowerCase();
      if (!names.has(s.name) && !words.every((w) => text.includes(w))) return;
      const label = document.createElement("label"), box = document.createElement("input");
      box.type = "checkbox";
      box.checked = names.has(s.name);
      box.value = s.name;
      box.addEventListener("change", () => { box.checked ? names.add(s.name) : names.delete(s.name); draw(); });
      label.append(box, ` ${s.name}`);
      if (s.meaning) label.title = `${s.meaning} [${s.unit}]`;
      choices.append(label);
    });
  }

  function show() {
    if (shownRun !== page.run()) {
      shownRun = page.run();
      range = null;
      if (data[shownRun] && !chosen.has(shownRun)) chosen.set(shownRun, new Set(data[shownRun].first));
      list();
    }
    draw();
  }

  const steps = { in: [0.25, -0.25], out: [-0.5, 0.5], left: [-0.25, -0.25], right: [0.25, 0.25] };
  page.all("[data-zoom]").forEach((button) => button.addEventListener("click", () => {
    if (!charts.length) return;
    const x = charts[0].data[0], first = x[0], last = x[x.length - 1];
    const [min, max] = range ?? [first, last], step = steps[button.dataset.zoom];
    if (!step) return zoom(null);
    let low = min + step[0] * (max - min), high = max + step[1] * (max - min);
    if (low < first) [low, high] = [first, Math.min(last, high + (first - low))];
    if (high > last) [low, high] = [Math.max(first, low - (high - last)), last];
    low <= first && high >= last ? zoom(null) : zoom(low, high);
    page.announce(range ? `Cycles ${page.number(Math.round(range[0]))} to ${page.number(Math.round(range[1]))}` : "Whole run");
  }));
  search.addEventListener("input", list);
  page.onRedraw(show);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
  show();
})();
