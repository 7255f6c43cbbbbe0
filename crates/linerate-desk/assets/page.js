// The page's own part: buttons, tips, zoom and keys. What is drawn is in charts.js.
"use strict";
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const charts = new Map();
  window.linerate = { charts: {} };

  const make = (tag, attributes, text) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const theme = () => (dark.matches ? "dark" : "light");

  // The symbol of a series, as in the figure.
  const SHAPES = {
    circle: "M7 3a4 4 0 1 0 .01 0z", rect: "M3 3h8v8h-8z", triangle: "M7 2.5l5 8.5h-10z", diamond: "M7 2l5 5-5 5-5-5z",
    pin: "M7 12c-2-3-4-4.500-4-6.500a4 4 0 1 1 8 0c0 2-2 3.500-4 6.500z", arrow: "M7 2l4 9-4-2-4 2z",
  };
  const swatch = (series) => {
    const colour = linerateCharts.THEMES[theme()].colours[series.colour];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of [["width", 14], ["height", 14], ["viewBox", "0 0 14 14"], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", SHAPES[series.symbol] ?? SHAPES.circle);
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", "1.5");
    path.setAttribute("fill", series.dashed || series.open || series.ghost ? "none" : colour);
    if (series.ghost) path.setAttribute("stroke-dasharray", "2 1.5");
    svg.append(path);
    return svg;
  };

  class Chart {
    constructor(figure, element) {
      this.figure = figure;
      this.element = element;
      this.plot = element.querySelector(".plot");
      this.tip = element.querySelector(".tip");
      this.visible = figure.series.filter((series) => series.shown).map((series) => series.name);
      this.raw = figure.series.some((series) => series.raw.length > 0);
      this.rows = linerateCharts.isOfRows(figure);
      this.zoom = null;
      this.focus = { series: 0, point: -1 };
      element.querySelector(".picture").hidden = true;
      element.querySelector(".tools").hidden = false;
      this.plot.hidden = false;
      this.plot.tabIndex = 0;
      this.plot.setAttribute("role", "application");
      this.plot.setAttribute("aria-roledescription", "chart");
      this.plot.setAttribute("aria-label", `${figure.title}. Arrow keys go from point to point and from series to series, plus and minus zoom, 0 shows all.`);
      const picture = element.querySelector(".picture");
      element.querySelector("a.svg").href = picture.src;
      this.buttons();
      this.listen();
    }

    // Drawn only once it is near the screen: a page of many figures opens at once.
    start() {
      if (this.chart) return;
      const height = linerateCharts.height(this.figure, this.plot.clientWidth);
      this.plot.style.height = `${height}px`;
      this.chart = echarts.init(this.plot, null, { renderer: "canvas" });
      this.chart.getZr().on("mousemove", (event) => this.hover(event.offsetX, event.offsetY));
      this.chart.getZr().on("globalout", () => this.hide());
      this.chart.getZr().on("mousedown", (event) => this.drag(event));
      this.draw();
    }

    view() { return { visible: this.visible, raw: this.raw, width: this.plot.clientWidth, zoom: this.zoom }; }

    draw() {
      if (!this.chart) return;
      const option = linerateCharts.option(this.figure, theme(), this.view());
      this.chart.setOption(option, { notMerge: true });
      this.element.dataset.drawn = "true";
      this.tell();
    }

    // The ends of an axis, in its own measure: a logarithm where it is logarithmic.
    extent(axis) { return this.chart.getModel().getComponent(`${axis}Axis`, 0).axis.scale.getExtent(); }

    tell() {
      window.linerate.charts[this.figure.id] = {
        drawn: true, seriesCount: this.figure.series.length, visible: [...this.visible],
        zoom: Object.fromEntries(["x", "y"].map((axis) => [axis, this.extent(axis).map((at) => linerateCharts.from(this.figure[axis], at))])), zoomed: this.zoom !== null,
      };
      this.reset.disabled = this.zoom === null;
    }

    buttons() {
      const legend = this.element.querySelector(".legend"), view = this.element.querySelector(".view");
      const add = (parent, attributes, text, act) => {
        const button = make("button", { type: "button", ...attributes }, text);
        button.addEventListener("click", () => act(button));
        parent.append(button);
        return button;
      };
      legend.replaceChildren();
      view.replaceChildren();
      // What is not shown at first unfolds, where there is much of it.
      const hidden = this.figure.series.filter((series) => !series.shown).length;
      const more = make("details", { class: "more" });
      more.append(make("summary", {}, `${hidden} more series`));
      const panels = linerateCharts.panelsOf(this.figure);
      if (this.figure.series.length > 1) panels.forEach((panel, at) => {
        if (panel.again && !this.rows) return;
        const here = this.figure.series.filter((series) => this.rows || series.panel === at);
        if (panel.title !== "" && here.some((series) => series.shown)) legend.append(make("span", { class: "panel" }, panel.title));
        for (const series of here)
          add(hidden > 4 && !series.shown ? more : legend, { class: "toggle", "aria-pressed": this.visible.includes(series.name), "data-series": series.name }, undefined, () => this.toggle(series))
            .append(swatch(series), make("span", {}, linerateCharts.called(panel, series.name)));
      });
      if (hidden > 4) legend.append(more);
      if (this.figure.series.some((series) => series.raw.length > 0))
        add(view, { class: "raw", "aria-pressed": this.raw }, "single passes", (button) => {
          this.raw = !this.raw;
          button.setAttribute("aria-pressed", this.raw);
          this.draw();
        });
      add(view, { class: "zoom-in", "aria-label": "Zoom in" }, "+", () => this.scale(0.6));
      add(view, { class: "zoom-out", "aria-label": "Zoom out" }, "−", () => this.scale(1 / 0.6));
      this.reset = add(view, { class: "reset" }, "show all", () => this.all());
      this.reset.disabled = true;
    }

    // A series may stand in several panels.
    toggle(series) {
      const at = this.visible.indexOf(series.name);
      if (at < 0) this.visible.push(series.name); else this.visible.splice(at, 1);
      for (const button of this.element.querySelectorAll(".legend button.toggle"))
        if (button.dataset.series === series.name) button.setAttribute("aria-pressed", at < 0);
      this.hide();
      this.draw();
    }

    all() { this.zoom = null; this.draw(); }

    // Zooms about the middle.
    scale(factor) {
      this.start();
      const zoom = {};
      for (const axis of this.rows ? ["x"] : ["x", "y"]) {
        const [low, high] = this.extent(axis);
        const middle = (low + high) / 2;
        zoom[axis] = [middle - (middle - low) * factor, middle + (high - middle) * factor];
      }
      this.zoom = zoom;
      this.draw();
    }

    shift(share) {
      const [low, high] = this.extent("x"), by = (high - low) * share;
      this.zoom = { ...(this.rows ? {} : { y: this.extent("y") }), x: [low + by, high + by] };
      this.draw();
    }

    // A rectangle that is drawn with the mouse is what is shown next.
    drag(event) {
      if (event.event?.pointerType === "touch" || event.event?.touches) return;
      const start = [event.offsetX, event.offsetY];
      const box = make("div", { style: "position:absolute;border:1px solid var(--accent);background:color-mix(in srgb,var(--accent) 12%,transparent);pointer-events:none;z-index:4" });
      const move = (next) => {
        const area = this.plot.getBoundingClientRect();
        this.corner = [next.clientX - area.left, next.clientY - area.top];
        const [x, y] = [Math.min(start[0], this.corner[0]), Math.min(start[1], this.corner[1])];
        Object.assign(box.style, { left: `${x}px`, top: `${y}px`, width: `${Math.abs(this.corner[0] - start[0])}px`, height: `${Math.abs(this.corner[1] - start[1])}px` });
        if (!box.isConnected) this.plot.parentElement.append(box);
      };
      const end = () => {
        removeEventListener("mousemove", move);
        removeEventListener("mouseup", end);
        box.remove();
        const corner = this.corner;
        this.corner = null;
        if (!corner || Math.abs(corner[0] - start[0]) < 8 || (!this.rows && Math.abs(corner[1] - start[1]) < 8)) return;
        const grid = this.grids().find((one) => this.chart.containPixel(one, start)) ?? { gridIndex: 0 };
        const [a, b] = [start, corner].map((pixel) => this.chart.convertFromPixel(grid, pixel));
        const sorted = (index) => [Math.min(a[index], b[index]), Math.max(a[index], b[index])];
        const other = linerateCharts.panelsOf(this.figure)[grid.gridIndex].again;
        this.zoom = this.rows || other ? { x: sorted(0) } : { x: sorted(0), y: sorted(1) };
        this.draw();
      };
      addEventListener("mousemove", move);
      addEventListener("mouseup", end);
    }

    grids() { return this.rows ? [{ gridIndex: 0 }] : linerateCharts.panelsOf(this.figure).map((panel, at) => ({ gridIndex: at })); }

    // Every point that is shown, with its place on the plot.
    *places() {
      const starts = {};
      for (const series of this.figure.series) {
        if (!this.visible.includes(series.name)) continue;
        for (const point of series.points) {
          let x = point.x;
          const grid = this.grids()[this.rows ? 0 : series.panel];
          const y = this.rows ? this.figure.y : linerateCharts.panelsOf(this.figure)[series.panel].y;
          if (this.figure.kind === "bars") {
            const key = `${point.y} ${point.x < 0}`, from = starts[key] ?? 0;
            starts[key] = from + point.x;
            x = from + point.x / 2;
          }
          if (this.figure.kind === "lanes") {
            const { from, to } = linerateCharts.longest(series, point.y);
            x = (from + to) / 2;
          }
          const pixel = this.chart.convertToPixel(grid, [linerateCharts.to(this.figure.x, x), linerateCharts.to(y, point.y)]);
          if (pixel && this.chart.containPixel(grid, pixel)) yield { series, point, pixel };
        }
      }
      for (const mark of this.figure.marks) {
        if (mark.series !== null && !this.visible.includes(mark.series)) continue;
        const area = this.chart.convertToPixel({ gridIndex: 0 }, [linerateCharts.to(this.figure.x, mark.x), mark.y === null ? this.extent("y")[this.rows ? 0 : 1] : linerateCharts.to(this.figure.y, mark.y)]);
        if (area) yield { mark, pixel: area };
      }
    }

    hover(x, y) {
      let nearest = null;
      for (const place of this.places()) {
        // Beside a line it is the line that is meant, at whatever height.
        const far = place.mark ? [Math.abs(place.pixel[0] - x) * 2.5, 0] : [place.pixel[0] - x, (this.rows ? 1.2 : 1) * (place.pixel[1] - y)];
        const wide = this.rows && place.point ? [Math.max(0, Math.abs(far[0]) - 60), far[1]] : far;
        const distance = Math.hypot(...wide);
        if (distance < 28 && (nearest === null || distance < nearest.distance)) nearest = { ...place, distance };
      }
      if (nearest) this.show(nearest); else this.hide();
    }

    show({ series, point, mark, pixel }) {
      if (mark) this.tip.replaceChildren(make("b", {}, mark.label), make("span", {}, mark.text));
      else {
        const said = linerateCharts.describe(this.figure, series, point);
        const lines = [said.interval, said.n, said.note].filter((line) => line !== "");
        this.tip.replaceChildren(make("b", {}, said.name), make("div", {}, `${said.place}: ${said.value}`), ...lines.map((line) => make("span", {}, line)));
      }
      this.tip.hidden = false;
      const room = this.plot.clientWidth - this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, Math.min(room, pixel[0] + 14))}px`;
      this.tip.style.top = `${Math.max(0, pixel[1] - this.tip.offsetHeight - 10)}px`;
    }

    hide() { this.tip.hidden = true; }

    // From point to point with the arrows, as a reader without a mouse goes.
    step(along, across) {
      const shown = this.figure.series.filter((series) => this.visible.includes(series.name) && series.points.length > 0);
      if (shown.length === 0) return;
      const count = shown.length;
      this.focus.series = (((this.focus.series + across) % count) + count) % count;
      const series = shown[this.focus.series];
      this.focus.point = Math.max(0, Math.min(series.points.length - 1, this.focus.point + along));
      const point = series.points[this.focus.point];
      const place = [...this.places()].find((one) => one.series === series && one.point === point);
      this.show({ series, point, pixel: place?.pixel ?? [40, 40] });
    }

    listen() {
      const keys = {
        ArrowRight: () => this.step(1, 0), ArrowLeft: () => this.step(-1, 0), ArrowDown: () => this.step(0, 1), ArrowUp: () => this.step(0, -1),
        "+": () => this.scale(0.6), "=": () => this.scale(0.6), "-": () => this.scale(1 / 0.6), "0": () => this.all(), Escape: () => this.hide(),
      };
      this.plot.addEventListener("keydown", (event) => {
        const act = event.shiftKey && event.key === "ArrowRight" ? () => this.shift(0.2) : event.shiftKey && event.key === "ArrowLeft" ? () => this.shift(-0.2) : keys[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.start();
        act();
      });
      this.plot.addEventListener("blur", () => this.hide());
    }

    resize() {
      if (!this.chart) return;
      this.plot.style.height = `${linerateCharts.height(this.figure, this.plot.clientWidth)}px`;
      this.chart.resize();
      this.draw();
    }
  }

  for (const figure of JSON.parse(document.getElementById("figures").textContent)) {
    const element = document.querySelector(`figure.chart[data-chart="${CSS.escape(figure.id)}"]`);
    if (element) charts.set(figure.id, new Chart(figure, element));
  }
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      charts.get(entry.target.dataset.chart).start();
      near.unobserve(entry.target);
    }
  }, { rootMargin: "800px" });
  for (const chart of charts.values()) {
    chart.plot.style.height = `${linerateCharts.height(chart.figure, chart.plot.clientWidth)}px`;
    near.observe(chart.element);
  }
  // The rest when there is time for it.
  const later = window.requestIdleCallback ?? ((act) => setTimeout(act, 50));
  const rest = [...charts.values()];
  const next = () => {
    const chart = rest.shift();
    if (!chart) return;
    chart.start();
    later(next);
  };
  later(next);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => charts.forEach((chart) => chart.resize()));
  });
  dark.addEventListener("change", () => charts.forEach((chart) => { chart.buttons(); chart.draw(); }));
  // Printed are the pictures, and what can unfold and is not long.
  addEventListener("beforeprint", () => {
    document.querySelectorAll(".picture").forEach((picture) => { picture.hidden = false; });
    document.querySelectorAll("details:not(.data, .long)").forEach((one) => { one.dataset.was = one.open; one.open = true; });
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll(".picture").forEach((picture) => { picture.hidden = true; });
    document.querySelectorAll("details:not(.data, .long)").forEach((one) => { one.open = one.dataset.was === "true"; });
  });
})();
