// SPDX-License-Identifier: Apache-2.0
// Draws the page's Vega-Lite figures in the page's colours.
"use strict";
(() => {
  const views = new Map();
  const loader = {
    load: () => Promise.reject(new Error("a page loads nothing")), sanitize: (href) => Promise.resolve({ href }),
  };
  // Colours that remain different to most colour-blind readers (Okabe and Ito).
  const light = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#6b6b6b", "#5b3a8c"];
  const dark = ["#4aa3df", "#f08030", "#1fc99a", "#e29ac4", "#e6b830", "#9ad2f5", "#a8a8a8", "#a98ae0"];
  function config() {
    const text = page.color("text"), line = page.color("line");
    const words = { labelColor: text, titleColor: text, labelFontSize: 12, titleFontSize: 12 };
    const category = page.isDark() ? dark : light;
    return {
      background: "transparent", font: "system-ui, sans-serif",
      range: { category, heatmap: { scheme: "viridis" }, ramp: { scheme: "viridis" } },
      axis: { ...words, domainColor: line, tickColor: line, gridColor: line }, legend: words, title: { color: text },
      header: { labelColor: text, titleColor: text }, view: { stroke: line }, text: { color: text }, rule: { color: line },
      autosize: { type: "fit-x", contains: "padding" },
    };
  }
  function draw(figure) {
    const host = page.$(".view", figure);
    // A hidden figure has no width; it is drawn when it is shown.
    if (!host.clientWidth) return;
    const old = views.get(figure);
    const signals = old ? old.getState().signals : {};
    if (old) old.finalize();
    const spec = figure.spec ? figure.spec(host.clientWidth) : JSON.parse(page.$(".spec", figure).textContent);
    host.replaceChildren();
    if (spec.text) {
      views.delete(figure);
      host.textContent = spec.text;
      figure.dataset.drawn = "true";
      return;
    }
    const merged = { ...spec, config: vega.mergeConfig(config(), spec.config ?? {}) };
    try {
      const compiled = vegaLite.compile(merged, { logger: vega.logger(vega.Error) }).spec;
      const view = new vega.View(vega.parse(compiled), {
        renderer: "svg", logLevel: vega.Error, tooltip: page.tooltip, container: host, bind: page.$(".bindings", figure), hover: true,
        loader,
      });
      views.set(figure, view);
      const kept = (spec.params ?? []).filter((p) => p.bind && typeof p.bind === "object" && p.name in signals);
      kept.forEach((p) => view.signal(p.name, signals[p.name]));
      return view.runAsync().then(() => { figure.dataset.drawn = "true"; });
    } catch (e) {
      console.error(`figure ${figure.id}: ${e.message}`);
      host.textContent = `This figure cannot be drawn: ${e.message}`;
    }
  }
  const figures = page.all('[data-figure="vega"]');
  figures.forEach((figure) => { figure.redraw = () => Promise.resolve(draw(figure)); });
  const drawAll = () => figures.forEach(draw);
  drawAll();
  page.onRedraw(drawAll);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
})();
