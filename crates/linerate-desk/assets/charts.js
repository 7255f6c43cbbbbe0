// Figures to options of the chart library. The page and the program's own figures are drawn by this one
// file, so it knows neither a document nor a window.
"use strict";
globalThis.linerateCharts = (() => {
  const SANS = "'Source Sans 3', 'Helvetica Neue', Arial, sans-serif";
  // Told apart by readers who see no red or no green; each has a contrast of 3 or more with its paper.
  const THEMES = {
    light: {
      ink: "#1c1f23", muted: "#565d66", grid: "#e3e5e8", paper: "#ffffff",
      colours: ["#0067b0", "#c8500a", "#00785a", "#a3327a", "#7d6608", "#5b6570", "#7a4fc0", "#00707f"],
    },
    dark: {
      ink: "#e8eaed", muted: "#a9b1ba", grid: "#343a42", paper: "#16191d",
      colours: ["#62b5f2", "#ff9a5c", "#3fc79d", "#e58cc4", "#d9bf4a", "#b4bdc7", "#b39af2", "#5cd0dd"],
    },
  };

  // At most three digits, as many as a reader of an axis or a tip can use.
  const digits = (value, most = 3) => {
    if (value === 0 || !Number.isFinite(value)) return String(value);
    const text = Number(value.toPrecision(most));
    const decimals = Math.max(0, most - 1 - Math.floor(Math.log10(Math.abs(text))));
    return decimals > 6 ? text.toExponential(most - 1) : text.toFixed(decimals).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  };
  const scaled = (value, steps) => {
    const size = Math.abs(value);
    let [factor, unit] = steps[0];
    for (const [step, name] of steps) if (size >= step * 0.9995) [factor, unit] = [step, name];
    return `${digits(value / factor)} ${unit}`;
  };
  const RATES = [[1, "b/s"], [1e3, "kb/s"], [1e6, "Mb/s"], [1e9, "Gb/s"], [1e12, "Tb/s"]];
  const TIMES = [[1e-3, "ps"], [1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
  const SIZES = [[1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"]];
  const UNITS = {
    "bytes": (value) => scaled(value, SIZES),
    "bits-per-second": (value) => scaled(value, RATES),
    "nanoseconds": (value) => (value === 0 ? "0 ns" : scaled(value, TIMES)),
    "share": (value) => `${digits(100 * value)} %`,
    "ratio": (value) => digits(value),
    "seconds": (value) => `${digits(value)} s`,
    "count": (value) => digits(value),
    "tail": (value) => `${Number((100 - 100 / value).toPrecision(6))} %`,
    "category": String,
  };
  const format = (value, unit) => UNITS[unit](value);

  // What is said of a point: the same to the eye and to a screen reader.
  const describe = (figure, series, point) => {
    const bars = figure.kind === "bars";
    const unit = bars ? figure.x.unit : figure.y.unit;
    const value = bars ? point.x : point.y;
    const place = bars ? figure.y.categories[point.y] : `${figure.x.name} ${format(point.x, figure.x.unit)}`;
    const interval = point.low !== null && point.high !== null
      ? `${format(point.low, unit)} to ${format(point.high, unit)} (${figure.interval})`
      : point.n > 1 ? "too few values for an interval" : "";
    return {
      name: series.name, place, value: format(value, unit), interval,
      n: point.n > 1 ? `n = ${point.n}` : "", note: point.note,
    };
  };

  // Logarithmic axes are drawn as even ones of the logarithm: so their ticks are ours to choose.
  const LOGS = { log2: [Math.log2, (value) => 2 ** value], log10: [Math.log10, (value) => 10 ** value] };
  const same = (value) => value;
  const to = (axis, value) => (LOGS[axis.scale]?.[0] ?? same)(value);
  const from = (axis, value) => (LOGS[axis.scale]?.[1] ?? same)(value);

  // Where an axis has its numbers: powers of two, or 1, 2 and 5 of each decade where it spans few.
  const ticks = (axis, [low, high], most) => {
    const found = [];
    if (axis.scale === "log2") {
      const step = Math.max(1, Math.ceil((high - low) / most));
      for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + 1e-9; at += step) found.push(at);
      return found;
    }
    if (axis.unit === "tail") return [2, 10, 100, 1e3, 1e4, 1e5].map(Math.log10).filter((at) => at >= low && at <= high);
    const spans = high - low, digitsOf = spans > most * 0.75 ? [1] : spans > 1.2 ? [1, 3] : spans > 0.5 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
    for (let decade = Math.floor(low); decade <= high; decade += 1)
      for (const digit of digitsOf) {
        const at = decade + Math.log10(digit);
        if (at >= low - 1e-9 && at <= high + 1e-9) found.push(at);
      }
    const every = spans > most ? Math.ceil(spans / most) : 1;
    return found.filter((_, nth) => nth % every === 0);
  };

  const axisOf = (axis, theme, extent, most, more) => {
    const style = {
      name: axis.name, nameLocation: "middle", nameTextStyle: { color: theme.ink, fontSize: 13 },
      axisLine: { show: true, onZero: false, lineStyle: { color: theme.muted } },
      axisTick: { show: axis.scale !== "category", lineStyle: { color: theme.muted } },
      splitLine: { show: axis.scale !== "category", lineStyle: { color: theme.grid } },
    };
    const label = { color: theme.ink, fontSize: 12, hideOverlap: true, formatter: (value) => format(from(axis, value), axis.unit) };
    if (axis.scale === "category") return { ...style, type: "category", data: axis.categories, inverse: true, axisLabel: { ...label, formatter: same }, ...more };
    const ends = extent ? { min: extent[0], max: extent[1] } : {};
    if (LOGS[axis.scale] === undefined || !extent) return { ...style, type: "value", ...ends, axisLabel: label, splitNumber: most, ...more };
    const customValues = ticks(axis, extent, most);
    return {
      ...style, type: "value", ...ends,
      axisTick: { ...style.axisTick, customValues }, axisLabel: { ...label, customValues }, ...more,
    };
  };

  // The ends of an axis, in its own measure: the values with a little room, whole octaves of sizes.
  const extentOf = (axis, values) => {
    const known = values.filter((value) => Number.isFinite(value)).map((value) => to(axis, value)).filter((value) => Number.isFinite(value));
    if (known.length === 0) return null;
    const low = known.reduce((a, b) => Math.min(a, b)), high = known.reduce((a, b) => Math.max(a, b));
    if (axis.scale === "log2") return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
    if (axis.scale === "log10") return axis.unit === "tail" ? [low, high + 0.02] : [low - 0.1, high + 0.1];
    // What is counted or is a share begins at nothing; a ratio stands around one.
    const room = 0.06 * (high - low || Math.abs(high) || 1);
    return axis.unit === "ratio" ? [low - room, high + room] : null;
  };

  // An interval as a line with two caps.
  const whisker = (along, colour) => (params, api) => {
    const at = (value) => (along === "y" ? api.coord([api.value(0), value]) : api.coord([value, api.value(0)]));
    const a = at(api.value(1)), b = at(api.value(2)), cap = along === "y" ? [3, 0] : [0, 4];
    const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: 1.25 } });
    return {
      type: "group",
      children: [
        line(a[0], a[1], b[0], b[1]),
        line(a[0] - cap[0], a[1] - cap[1], a[0] + cap[0], a[1] + cap[1]),
        line(b[0] - cap[0], b[1] - cap[1], b[0] + cap[0], b[1] + cap[1]),
      ],
    };
  };

  const COMMON = { silent: true, animation: false, emphasis: { disabled: true }, clip: true };

  const placed = (figure, [x, y]) => [to(figure.x, x), to(figure.y, y)];

  const linesOf = (series, figure, theme) => {
    const data = series.lines.flatMap((line) => [...line.map((point) => placed(figure, point)), [null, null]]);
    const style = { color: theme.colours[series.colour], width: 1.6, type: series.dashed ? [6, 4] : "solid" };
    return { ...COMMON, type: "line", data, showSymbol: false, connectNulls: false, lineStyle: style, z: 3 };
  };
  const dotsOf = (series, figure, theme) => ({
    ...COMMON, type: "scatter", data: series.raw.map((point) => placed(figure, point)), symbolSize: 3, large: series.raw.length > 2000, z: 2,
    itemStyle: { color: theme.colours[series.colour], opacity: 0.35 },
  });
  const symbolsOf = (series, figure, theme) => {
    const colour = theme.colours[series.colour];
    const hollow = series.dashed;
    return {
      ...COMMON, type: "scatter", data: series.points.map((point) => placed(figure, [point.x, point.y])), symbol: series.symbol, z: 5,
      symbolSize: series.points.length > 60 ? 3 : series.symbol === "triangle" || series.symbol === "diamond" ? 8.5 : 7,
      itemStyle: { color: hollow ? theme.paper : colour, borderColor: colour, borderWidth: hollow ? 1.5 : 0 },
    };
  };
  const whiskersOf = (series, figure, theme) => ({
    ...COMMON, type: "custom", z: 4, renderItem: whisker("y", theme.colours[series.colour]),
    data: series.points.filter((p) => p.low !== null && p.high !== null).map((p) => [to(figure.x, p.x), to(figure.y, p.low), to(figure.y, p.high)]),
    encode: { x: 0, y: [1, 2] },
  });

  // Places worth a word: a line over the height with its label, or a mark on the curve.
  const marksOf = (marks, figure, theme, crowded) => ({
    ...COMMON, type: "scatter", data: [], z: 1,
    markLine: {
      silent: true, symbol: "none", animation: false,
      lineStyle: { color: theme.muted, type: [3, 3], width: 1 },
      label: {
        show: !crowded, color: theme.ink, fontSize: 11, fontFamily: SANS, position: "insideEndTop",
        formatter: (line) => line.name,
      },
      data: marks.map((mark) => ({ name: mark.label, xAxis: to(figure.x, mark.x) })),
    },
  });

  const points = (figure, theme, view) => {
    const shown = figure.series.filter((series) => view.visible.includes(series.name));
    const xs = shown.flatMap((series) => series.points.map((p) => p.x));
    const ys = shown.flatMap((series) => [
      ...series.points.flatMap((p) => [p.low ?? p.y, p.y, p.high ?? p.y]),
      ...(view.raw && series.raw.length < 20000 ? series.raw.map((r) => r[1]) : []),
    ]);
    const marks = figure.marks.filter((mark) => mark.series === null || view.visible.includes(mark.series));
    const narrow = view.width < 560;
    const series = shown.flatMap((one) => [
      ...(view.raw && one.raw.length > 0 ? [dotsOf(one, figure, theme)] : []),
      linesOf(one, figure, theme), whiskersOf(one, figure, theme), symbolsOf(one, figure, theme),
    ]);
    if (marks.length > 0) series.push(marksOf(marks, figure, theme, marks.length > 6 || narrow));
    const x = view.zoom?.x ?? extentOf(figure.x, xs), y = view.zoom?.y ?? extentOf(figure.y, ys);
    return {
      grid: { left: narrow ? 58 : 76, right: 24, top: 22, bottom: 48 },
      xAxis: axisOf(figure.x, theme, x, narrow ? 6 : 12, { nameGap: 28 }),
      yAxis: axisOf(figure.y, theme, y, narrow ? 6 : 8, { nameGap: narrow ? 46 : 60 }),
      series,
    };
  };

  // Bars of one category follow each other; what is below zero goes to the other side.
  const stacked = (figure, visible) => {
    const ends = {};
    return figure.series.filter((series) => visible.includes(series.name)).map((series) => series.points.map((point) => {
      const key = `${point.y} ${point.x < 0}`;
      const start = ends[key] ?? 0;
      ends[key] = start + point.x;
      return start;
    }));
  };

  const bars = (figure, theme, view) => {
    const shown = figure.series.filter((series) => view.visible.includes(series.name));
    const starts = stacked(figure, view.visible);
    const narrow = view.width < 560;
    const rows = figure.y.categories.length;
    const notes = figure.y.categories.map((_, row) =>
      shown.filter((one) => one.ghost).flatMap((one) => one.points).find((point) => point.y === row)?.note ?? "");
    const noted = notes.some((note) => note !== "") && !narrow;
    const segment = figure.x.unit === "share" && shown.length > 1;
    const series = shown.flatMap((one, index) => {
      const colour = theme.colours[one.colour];
      const bar = {
        ...COMMON, type: "bar", stack: "all", barMaxWidth: 24, barCategoryGap: "35%",
        itemStyle: one.ghost
          ? { color: "transparent", borderColor: colour, borderWidth: 1, borderType: "dashed" }
          : { color: colour, opacity: 0.88, borderColor: theme.paper, borderWidth: segment ? 1 : 0 },
        label: {
          show: !one.ghost && rows <= 24, position: segment ? "inside" : "insideLeft", color: theme.paper, fontSize: 12,
          formatter: (item) => (Math.abs(item.value[0]) > (segment ? 0.07 : 0) ? format(item.value[0], figure.x.unit) : ""),
        },
        data: one.points.map((point) => [point.x, point.y]),
      };
      // The interval of what is missing stands in words: over the bar's own it could not be read.
      if (one.ghost) return [bar];
      return [bar, {
        ...COMMON, type: "custom", z: 6, renderItem: whisker("x", theme.ink), encode: { x: [1, 2], y: 0 },
        data: one.points.map((point, nth) => [point, starts[index][nth]])
          .filter(([point]) => point.low !== null && point.high !== null && point.n > 0)
          .map(([point, start]) => [point.y, start + point.low, start + point.high]),
      }];
    });
    if (figure.marks.length > 0) {
      const lines = marksOf(figure.marks, figure, theme, narrow);
      const { label, data } = lines.markLine;
      // Labels stand over the bars, one above the other.
      lines.markLine.label = { ...label, position: "start" };
      data.forEach((line, nth) => { line.label = { distance: [0, 4 + 13 * nth] }; });
      series.push(lines);
    }
    const right = { type: "category", inverse: true, position: "right", data: notes, axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: theme.muted, fontSize: 12, lineHeight: 14, interval: 0, width: 200, overflow: "break", formatter: (note) => note } };
    const widest = figure.y.categories.reduce((most, name) => Math.max(most, name.length), 0);
    return {
      grid: { left: narrow ? 12 : Math.min(280, 16 + 6.6 * widest), right: noted ? 216 : 36, top: 14 + 14 * figure.marks.length, bottom: 48 },
      xAxis: axisOf(figure.x, theme, view.zoom?.x, narrow ? 3 : 6, { nameGap: 28 }),
      yAxis: [axisOf(figure.y, theme, null, 1, {
        axisLabel: {
          color: theme.ink, fontSize: 12, interval: 0, inside: narrow, verticalAlign: narrow ? "bottom" : "middle",
          padding: narrow ? [0, 0, 14, 0] : 0, formatter: (name) => name,
        },
        z: narrow ? 10 : 0,
      }), ...(noted ? [right] : [])],
      series,
    };
  };

  // The option that draws a figure. `view`: what is visible, whether single values are, the width.
  const option = (figure, name, view) => {
    const theme = THEMES[name];
    const drawn = (figure.kind === "bars" ? bars : points)(figure, theme, view);
    return {
      animation: false, backgroundColor: view.paper ? theme.paper : "transparent",
      textStyle: { fontFamily: SANS, color: theme.ink }, ...drawn,
    };
  };

  // A height that suits the figure.
  const height = (figure, width) =>
    figure.kind === "bars" ? 76 + 14 * figure.marks.length + (width < 560 ? 46 : 40) * figure.y.categories.length : Math.round(Math.min(460, Math.max(300, 0.56 * width)));

  // Without a document: a legend of the library's own takes the place of the page's buttons.
  const svg = (figure, theme, width) => {
    const visible = figure.series.filter((series) => series.shown).map((series) => series.name);
    const shown = figure.series.filter((series) => series.shown);
    const several = shown.length > 1;
    const perRow = Math.max(1, Math.floor(width / (26 + 6.4 * shown.reduce((most, one) => Math.max(most, one.name.length), 0))));
    const rows = several ? Math.ceil(shown.length / perRow) : 0;
    const extra = several ? 14 + 20 * rows : 0;
    const total = height(figure, width) + extra;
    const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height: total });
    const drawn = option(figure, theme, { visible, raw: false, width, paper: true });
    drawn.grid.top += extra;
    if (several) {
      const colours = THEMES[theme].colours;
      // A series without data carries the name, the symbol and the line's kind.
      for (const one of shown) {
        const bar = figure.kind === "bars";
        drawn.series.push({
          ...COMMON, name: one.name, type: bar ? "bar" : "line", stack: bar ? "all" : undefined, data: [], symbol: one.symbol, symbolSize: 7,
          lineStyle: { type: one.dashed ? [6, 4] : "solid", width: 1.6 },
          itemStyle: one.ghost
            ? { color: "transparent", borderColor: colours[one.colour], borderType: "dashed", borderWidth: 1 }
            : { color: colours[one.colour] },
        });
      }
      drawn.legend = {
        data: shown.map((one) => one.name), top: 4, left: 8, right: 8, itemGap: 14, itemHeight: 9, itemWidth: 24,
        selectedMode: false, textStyle: { color: THEMES[theme].ink, fontSize: 12, fontFamily: SANS },
      };
    }
    chart.setOption(drawn);
    const text = chart.renderToSVGString();
    chart.dispose();
    return text;
  };

  return { THEMES, option, height, describe, format, to, from, svg };
})();
