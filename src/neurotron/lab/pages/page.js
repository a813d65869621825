"use strict";
// Draws the figures when they come into view; legends, axes and theme are plain buttons.
(() => {
  const root = document.documentElement;
  const coarse = matchMedia("(pointer: coarse)").matches;
  const MARKS = { // as in the figures, for the legends
    "none": "",
    "circle": '<circle cx="17" cy="6" r="3.5"/>', "square": '<rect x="14" y="3" width="6" height="6"/>',
    "triangle-up": '<path d="M17 2l4 7h-8z"/>', "triangle-down": '<path d="M17 10l4-7h-8z"/>',
    "diamond": '<path d="M17 1.5L21.5 6 17 10.5 12.5 6z"/>', "cross": '<path d="M15.5 2h3v2.5H21v3h-2.5V10h-3V7.500H13v-3h2.500z"/>',
    "x": '<path d="M14 2l3 3 3-3 1 1-3 3 3 3-1 1-3-3-3 3-1-1 3-3-3-3z"/>',
    "star": '<path d="M17 1l1.500 3.500 3.500.3-2.700 2.400.9 3.600L17 9l-3.200 1.800.9-3.600L12 4.800l3.500-.3z"/>',
  };
  const DASHES = { solid: "", dash: "6 4", dashdot: "6 3 2 3", dot: "2 3" };
  const PAPER = { narrow: 320, wide: 650, height: 215, tall: 295 }; // a panel in print, two beside each other or one
  const STEEP = -60; // the angle of labels that are long for their panel
  let printing = false;

  const dark = () => root.dataset.theme === "dark";
  const colours = () => {
    const style = getComputedStyle(root);
    return { text: style.getPropertyValue("--text").trim(), grid: style.getPropertyValue("--line").trim(),
             back: style.getPropertyValue("--panel").trim() };
  };
  // On a dark page colours are lighter, and greys change sides.
  function tone(colour) {
    if (!dark()) return colour;
    const parts = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
    const grey = parts[0] === parts[1] && parts[1] === parts[2];
    return "#" + parts.map((value) => Math.round(grey ? 255 - 0.6 * value : value + 0.4 * (255 - value)))
      .map((value) => value.toString(16).padStart(2, "0")).join("");
  }

  class Figure {
    constructor(element) {
      this.element = element;
      const content = JSON.parse(element.querySelector("script").textContent);
      this.panels = content.panels;
      this.reference = content.reference;
      this.plots = [...element.querySelectorAll(".plot")];
      this.hidden = new Set();
      this.types = {};
      this.drawn = false;
      for (const button of element.querySelectorAll(".entry"))
        button.addEventListener("click", () => this.toggle(button));
      for (const button of element.querySelectorAll(".axis"))
        button.addEventListener("click", () => this.rescale(button));
      this.paintLegend();
      this.paintScale();
    }
    paintScale() { // the page allows no style attributes, a script may set styles
      for (const bar of this.element.querySelectorAll(".bar"))
        bar.style.background = `linear-gradient(to right, ${bar.dataset.colours})`;
      for (const mark of this.element.querySelectorAll(".marks span")) mark.style.left = `${mark.dataset.left}%`;
    }
    paintLegend() {
      for (const svg of this.element.querySelectorAll(".entry svg")) {
        const { dash, marker } = svg.dataset, colour = tone(svg.dataset.colour);
        const line = dash === "none" ? "" : `<path d="M0 6h34" stroke="${colour}" stroke-width="2" stroke-dasharray="${DASHES[dash]}"/>`;
        svg.innerHTML = `${line}<g fill="${colour}">${MARKS[marker]}</g>`;
      }
    }
    traces(panel) {
      return panel.data.map((trace) => {
        const made = { ...trace, visible: !this.hidden.has(trace.meta) };
        if (panel.data[0].type === "heatmap") return made; // cells, and what is drawn on them, keep their colours
        for (const key of ["marker", "line", "error_y"])
          if (trace[key] && trace[key].color) made[key] = { ...trace[key], color: tone(trace[key].color) };
        if (trace.fillcolor) made.fillcolor = tone(trace.fillcolor);
        return made;
      });
    }
    layout(panel, width) {
      const { text, grid, back } = colours();
      const ticks = panel.layout.xaxis.ticktext || [];
      const lines = ticks.map((tick) => tick.split("<br>"));
      const longest = Math.max(0, ...lines.flat().map((line) => line.length));
      const widest = lines.map((one) => Math.max(...one.map((line) => line.length)));
      const room = (width - 72) / ticks.length;
      const slanted = ticks.length * (5.3 * longest + 2) > width - 72 // or two neighbours touch
        || widest.some((wide, i) => i > 0 && 3 * (wide + widest[i - 1]) + 6 > room);
      const wholes = lines.map((one) => one.join(" ").length); // of slanted labels
      const steep = slanted && wholes.some((whole, i) => 5 * whole > 62 + (i + 0.5) * room); // or they leave on the left
      const title = panel.layout.xaxis.title.text ? 16 : 0;
      const under = slanted ? title + Math.min(steep ? 175 : 120, 16 + (steep ? 5 : 3) * Math.max(0, ...wholes)) : title + 13 + 13 * Math.max(1, ...lines.map((one) => one.length));
      const axis = (name) => {
        const own = panel.layout[name], type = this.types[name];
        const made = { gridcolor: grid, linecolor: grid, zeroline: false, nticks: 5, ...own,
                       title: { ...own.title, font: { size: 11 }, standoff: 6 } };
        if (name === "xaxis" && ticks.length) {
          made.tickangle = steep ? STEEP : slanted ? -30 : 0;
          if (slanted) made.ticktext = lines.map((one) => one.join(" "));
        }
        if (type && type !== own.type && !own.tickvals) { made.type = type; delete made.range; made.rangemode = "tozero"; }
        made.uirevision = made.type; // a zoom stays until the scale is another
        return made;
      };
      const layout = { xaxis: axis("xaxis"), yaxis: axis("yaxis"), margin: { l: 62, r: 10, t: 8, b: under }, hovermode: "closest",
        paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: text, size: 11 }, showlegend: false,
        dragmode: coarse ? false : "zoom", hoverlabel: { bgcolor: back, bordercolor: grid, font: { color: text, size: 12 }, align: "left" } };
      if (this.reference !== null && this.reference !== undefined)
        layout.shapes = [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: this.reference, y1: this.reference,
                           line: { color: text, width: 1, dash: "dot" } }];
      if (printing) { layout.width = width; layout.height = steep ? PAPER.tall : PAPER.height; }
      return layout;
    }
    draw() {
      this.drawn = true;
      const onPaper = this.plots.length === 1 ? PAPER.wide : PAPER.narrow;
      const done = this.panels.map((panel, i) => {
        const plot = this.plots[i], layout = this.layout(panel, printing ? onPaper : plot.clientWidth);
        plot.classList.toggle("tall", layout.xaxis.tickangle === STEEP);
        return Plotly.react(plot, this.traces(panel), layout,
          { responsive: true, displayModeBar: false }); // its buttons are in the way of the keyboard
      });
      return Promise.all(done).then(() => { this.element.dataset.drawn = "true"; });
    }
    toggle(button) {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      this.hidden[shown ? "delete" : "add"](button.dataset.line);
      return this.draw();
    }
    rescale(button) {
      const log = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(log));
      this.types[button.dataset.axis] = log ? "log" : "linear";
      return this.draw();
    }
  }

  const figures = [...document.querySelectorAll("figure")].map((element) => new Figure(element));
  const repaint = () => { for (const figure of figures) { figure.paintLegend(); if (figure.drawn || printing) figure.draw(); } };

  const button = document.getElementById("theme");
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  function setTheme(name) {
    root.dataset.theme = name;
    button.textContent = name === "dark" ? "Switch to light" : "Switch to dark";
    repaint();
  }
  let chosen = false; // by the reader: then the system's theme no longer counts
  button.addEventListener("click", () => { chosen = true; setTheme(dark() ? "light" : "dark"); });
  preferred.addEventListener("change", () => { if (!chosen) setTheme(preferred.matches ? "dark" : "light"); });
  setTheme(preferred.matches ? "dark" : "light");

  // A link to numbers opens them, also when it is followed again.
  const open = (hash) => {
    const target = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  document.addEventListener("click", (event) => { const link = event.target.closest("a"); if (link) open(link.hash); });
  addEventListener("hashchange", () => open(location.hash));
  open(location.hash);

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const figure = figures.find((one) => one.element === entry.target);
      if (entry.isIntersecting && !figure.drawn) figure.draw();
    }
  }, { rootMargin: "600px" });
  for (const figure of figures) watcher.observe(figure.element);
  let before = null; // the theme to go back to after printing, which draws all figures for paper
  addEventListener("beforeprint", () => { before = root.dataset.theme; printing = true; setTheme("light"); });
  addEventListener("afterprint", () => { printing = false; setTheme(before); });
})();
