// SPDX-License-Identifier: MIT
// Plots of recorded runs: loaded when one is opened, so that a lesson stays light.
"use strict";

(() => {
  const root = document.documentElement.dataset.content_root;
  const library = "_static/third_party/dygraphs-2.2.1/dygraph.min";
  const loaded = new Map();
  const load = (name, attributes) => {
    if (!loaded.has(attributes.src ?? attributes.href)) {
      loaded.set(attributes.src ?? attributes.href, new Promise((resolve, reject) => {
        const element = Object.assign(document.createElement(name), attributes);
        element.onload = resolve;
        element.onerror = reject;
        document.head.append(element);
      }));
    }
    return loaded.get(attributes.src ?? attributes.href);
  };

  const power = (logarithm) => Number.isInteger(logarithm) ? `2^${logarithm}` : "";
  const microseconds = (value) => `${Number(value.toPrecision(3))} µs`;

  const draw = (place, plot) => {
    const choice = document.createElement("select");
    choice.setAttribute("aria-label", "What was measured");
    plot.groups.forEach((group, number) => choice.add(new Option(group.title, number)));
    const area = document.createElement("div");
    area.className = "plot-area";
    const legend = document.createElement("div");
    legend.className = "plot-legend";
    const reset = Object.assign(document.createElement("button"), { type: "button", textContent: "Show all again" });
    const about = Object.assign(document.createElement("p"), {
      textContent: `${plot.about}. Drag over the plot to zoom. Lines are medians, bands are quartiles.` });
    place.replaceChildren(choice, " ", reset, area, legend, about);
    let graph;
    const show = () => {
      const group = plot.groups[choice.value || 0];
      const rows = group.rows.map(([size, ...values]) => [Math.log2(size), ...values]);
      graph?.destroy();
      graph = new Dygraph(area, rows, {
        labels: ["elements", ...group.names], customBars: true, logscale: true, connectSeparatedPoints: true,
        xlabel: "elements", ylabel: "µs per call", labelsDiv: legend, legend: "always", drawPoints: true,
        strokeWidth: 1.5, highlightSeriesOpts: { strokeWidth: 3 }, animatedZooms: false,
        axes: {
          x: { axisLabelFormatter: power, valueFormatter: (x) => `2^${x} elements`, pixelsPerLabel: 40 },
          y: { valueFormatter: microseconds, axisLabelWidth: 60 },
        },
      });
      place.parentElement.graph = graph;
    };
    choice.addEventListener("change", show);
    reset.addEventListener("click", () => graph.resetZoom());
    show();
  };

  for (const folded of document.querySelectorAll("details.plot")) {
    folded.addEventListener("toggle", async () => {
      if (!folded.open || folded.dataset.drawn) return;
      folded.dataset.drawn = "begun";
      const place = folded.querySelector(".plot-place");
      try {
        await Promise.all([
          load("link", { rel: "stylesheet", href: `${root}${library}.css` }),
          load("script", { src: `${root}${library}.js` }),
          load("script", { src: `${root}_static/plots/${folded.dataset.plot}.js` }),
        ]);
        draw(place, window.coursePlots[folded.dataset.plot]);
        folded.dataset.drawn = "done";
      } catch {
        place.textContent = "The plot could not be loaded.";
      }
    });
  }
})();
