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
  const MANY = [[1, ""], [1e3, "k"], [1e6, "M"], [1e9, "G"]];
  const EACH = [[1, "/s"], [1e3, "k/s"], [1e6, "M/s"], [1e9, "G/s"]];
  const UNITS = {
    "bytes": (value) => scaled(value, SIZES),
    "bits-per-second": (value) => scaled(value, RATES),
    "nanoseconds": (value) => (value === 0 ? "0 ns" : scaled(value, TIMES)),
    "share": (value) => `${digits(100 * value)} %`,
    "ratio": (value) => digits(value),
    "seconds": (value) => `${digits(value)} s`,
    "count": (value) => (Math.abs(value) < 1e5 ? digits(value) : scaled(value, MANY)),
    "per-second": (value) => scaled(value, EACH),
    "tail": (value) => `${Number((100 - 100 / value).toPrecision(6))} %`,
    "category": String,
  };
  const format = (value, unit) => UNITS[unit](value);

  // How wide a text of a figure is, in pixels, as the library takes it.
  const wide = (text) => globalThis.echarts?.format?.getTextRect?.(text, `12px ${SANS}`)?.width ?? 6.2 * text.length;

  // Whether its rows have names and its values lie along x.
  const isOfRows = (figure) => figure.kind !== "points";
  // The panels of a figure: the figure itself where it has no others.
  const panelsOf = (figure) => (figure.panels.length > 0 ? figure.panels : [{ title: "", y: figure.y, again: false }]);

  // What a series is called in its panel, whose title need not be said again.
  const called = (panel, name) => (panel.title === "" ? name : name.replace(`, ${panel.title}`, ""));

  // What is said of a point: the same to the eye and to a screen reader.
  const describe = (figure, series, point) => {
    const rows = isOfRows(figure);
    const unit = rows ? figure.x.unit : panelsOf(figure)[series.panel].y.unit;
    const value = rows ? point.x : point.y;
    const place = rows ? figure.y.categories[point.y] : `${figure.x.name} ${format(point.x, figure.x.unit)}`;
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

  // Round numbers at even distances.
  const evenTicks = ([low, high], most) => {
    const rough = (high - low) / most || 1, decade = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * decade).find((one) => one >= rough * 0.999);
    const found = [];
    for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; at += 1) found.push(Number((at * step).toPrecision(12)));
    return found;
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
    if (!extent) return { ...style, type: "value", axisLabel: label, splitNumber: most, ...more };
    const customValues = LOGS[axis.scale] === undefined ? evenTicks(extent, most) : ticks(axis, extent, most);
    return {
      ...style, type: "value", ...ends, splitLine: { ...style.splitLine, showMinLine: false, showMaxLine: false },
      axisTick: { ...style.axisTick, customValues }, axisLabel: { ...label, customValues }, ...more,
    };
  };

  // The ends of an axis, in its own measure: the values with a little room, whole octaves of sizes. An interval may
  // take as much room again as the values do, and no more: else all of them would lie on one line.
  const extentOf = (axis, values, intervals) => {
    const known = (all) => all.filter((value) => Number.isFinite(value)).map((value) => to(axis, value)).filter((value) => Number.isFinite(value));
    const least = (all) => all.reduce((a, b) => Math.min(a, b)), most = (all) => all.reduce((a, b) => Math.max(a, b));
    const middle = known(values);
    if (middle.length === 0) return null;
    let low = least(middle), high = most(middle);
    const ends = known(intervals ?? []);
    if (ends.length > 0) {
      const room = Math.max(high - low, LOGS[axis.scale] === undefined ? 0.5 * Math.abs(high) : Math.abs(to(axis, 2)));
      [low, high] = [Math.max(low - room, Math.min(low, least(ends))), Math.min(high + room, Math.max(high, most(ends)))];
    }
    if (axis.scale === "log2") return [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
    if (axis.scale === "log10") return axis.unit === "tail" ? [low, high + 0.02] : [low - 0.1, high + 0.1];
    // What is counted or is a share begins at nothing; a ratio stands around one.
    const room = 0.06 * (high - low || Math.abs(high) || 1);
    return axis.unit === "ratio" ? [low - room, high + room] : [Math.min(0, low - (low < 0 ? room : 0)), high + room];
  };

  // An interval as a line with two caps.
  const whisker = (along, colour, aside = 0) => (params, api) => {
    const at = (value) => {
      const [x, y] = along === "y" ? api.coord([api.value(0), value]) : api.coord([value, api.value(0)]);
      return [x + aside, y];
    };
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
  const symbolsOf = (series, figure, theme, aside) => {
    const colour = theme.colours[series.colour];
    const hollow = series.dashed || series.open;
    return {
      symbolOffset: [aside, 0],
      ...COMMON, type: "scatter", data: series.points.map((point) => placed(figure, [point.x, point.y])), symbol: series.symbol, z: 5,
      symbolSize: series.points.length > 60 ? 3 : series.symbol === "triangle" || series.symbol === "diamond" ? 8.5 : 7,
      itemStyle: { color: hollow ? theme.paper : colour, borderColor: colour, borderWidth: hollow ? 1.5 : 0 },
    };
  };
  const whiskersOf = (series, figure, theme, aside) => ({
    ...COMMON, type: "custom", z: 4, renderItem: whisker("y", theme.colours[series.colour], aside),
    data: series.points.filter((p) => p.low !== null && p.high !== null).map((p) => [to(figure.x, p.x), to(figure.y, p.low), to(figure.y, p.high)]),
    encode: { x: 0, y: [1, 2] },
  });

  // Places worth a word: a line over the height with its label, or a mark on the curve.
  // The label stands at the end of the line that is farther from the curves.
  const freeEnd = (mark, figure, here, y) => {
    const x = to(figure.x, mark.x);
    const near = here.flatMap((series) => {
      const known = series.points.filter((p) => Number.isFinite(to(figure.x, p.x)));
      return known.length < 2 ? [] : [known.reduce((best, p) => (Math.abs(to(figure.x, p.x) - x) < Math.abs(to(figure.x, best.x) - x) ? p : best))];
    });
    const heights = near.map((p) => (to(figure.y, p.y) - y[0]) / (y[1] - y[0])).filter(Number.isFinite);
    return Math.min(...heights) > 1 - Math.max(...heights) ? "insideStartTop" : "insideEndTop";
  };
  const marksOf = (marks, figure, theme, crowded, endOf = () => "insideEndTop") => ({
    ...COMMON, type: "scatter", data: [], z: 1,
    markLine: {
      silent: true, symbol: "none", animation: false,
      lineStyle: { color: theme.muted, type: [3, 3], width: 1 },
      label: {
        show: !crowded, color: theme.ink, fontSize: 11, fontFamily: SANS, position: "insideEndTop",
        formatter: (line) => line.name,
      },
      data: marks.map((mark) => ({ name: mark.label, xAxis: to(figure.x, mark.x), label: { position: endOf(mark) } })),
    },
  });

  // An interval from point to point as a band, where there are enough of them for one; it stays within its panel.
  const bandOf = (series, figure, y, [low, high], theme) => {
    const within = (value, other) => {
      const at = to(y, value);
      return Number.isFinite(at) ? Math.min(high, Math.max(low, at)) : other;
    };
    const known = series.points.filter((p) => p.low !== null && p.high !== null);
    const corners = [
      ...known.map((p) => [to(figure.x, p.x), within(p.high, high)]),
      ...known.reverse().map((p) => [to(figure.x, p.x), within(p.low, low)]),
    ];
    return {
      ...COMMON, type: "custom", z: 1, data: corners.length > 0 ? [0] : [],
      renderItem: (params, api) => ({
        type: "polygon", shape: { points: corners.map((corner) => api.coord(corner)) },
        style: { fill: theme.colours[series.colour], opacity: 0.16 },
      }),
    };
  };
  const LEAST_FOR_BAND = 3;

  // Where the panels stand: one below the other where it is narrow, else two beside each other.
  const layout = (figure, width, heads) => {
    const all = panelsOf(figure), narrow = width < 560;
    const columns = narrow || all.length === 1 ? 1 : 2;
    const cell = width / columns;
    const body = Math.round(columns === 1 ? Math.min(460, Math.max(300, 0.56 * width)) : 300);
    const cells = [];
    let top = 0;
    for (let first = 0; first < all.length; first += columns) {
      const row = all.slice(first, first + columns);
      const head = Math.max(...row.map((panel, at) => (panel.title === "" ? 0 : 22) + (heads?.[first + at] ?? 0)));
      row.forEach((panel, at) => cells.push({
        left: at * cell, top, width: cell, head, body, small: cell < 560,
        lowest: first + columns >= all.length,
      }));
      top += head + body;
    }
    return { cells, height: top };
  };

  const points = (figure, theme, view) => {
    const panels = panelsOf(figure), place = layout(figure, view.width, view.heads);
    const option = { grid: [], xAxis: [], yAxis: [], series: [], title: [] };
    const shown = figure.series.filter((series) => view.visible.includes(series.name));
    const x = view.zoom?.x ?? extentOf(figure.x, shown.flatMap((series) => series.points.map((p) => p.x)));
    panels.forEach((panel, at) => {
      const here = shown.filter((series) => series.panel === at);
      const inside = { ...figure, y: panel.y }, cell = place.cells[at];
      const raw = (one) => view.raw && one.raw.length > 0;
      const ys = here.flatMap((series) => [
        ...series.points.map((p) => p.y), ...series.lines.flat().map((p) => p[1]), ...(raw(series) && series.raw.length < 20000 ? series.raw.map((r) => r[1]) : []),
      ]);
      const intervals = here.flatMap((series) => series.points.flatMap((p) => [p.low, p.high]).filter((value) => value !== null));
      const y = (at === 0 || panel.y.unit === figure.y.unit ? view.zoom?.y : null) ?? extentOf(panel.y, ys, intervals);
      const marks = panel.again ? [] : figure.marks.filter((mark) => (mark.series === null ? true : here.some((series) => series.name === mark.series)));
      const offset = (nth, of) => (of > 1 ? (nth - (of - 1) / 2) * 5 : 0);
      // Intervals stand beside each other; what has none stands where it is.
      const fans = here.filter((one) => one.points.length < LEAST_FOR_BAND && one.points.some((p) => p.low !== null));
      const drawn = here.flatMap((one) => {
        const isBand = one.points.length >= LEAST_FOR_BAND && one.lines.length > 0;
        const aside = fans.includes(one) ? offset(fans.indexOf(one), fans.length) : 0;
        return [
          ...(raw(one) ? [dotsOf(one, inside, theme)] : []),
          linesOf(one, inside, theme),
          isBand && y ? bandOf(one, inside, panel.y, y, theme) : whiskersOf(one, inside, theme, aside),
          symbolsOf(one, inside, theme, aside),
        ];
      });
      if (marks.length > 0) drawn.push(marksOf(marks, inside, theme, marks.length > (cell.small ? 3 : 6), (mark) => (y ? freeEnd(mark, inside, here, y) : "insideEndTop")));
      option.series.push(...drawn.map((one) => ({ ...one, xAxisIndex: at, yAxisIndex: at })));
      const left = cell.left + (cell.small ? 66 : 76);
      option.grid.push({ left, top: cell.top + cell.head + 14, width: cell.left + cell.width - left - 22, height: cell.body - 64 });
      option.xAxis.push(axisOf(figure.x, theme, x, cell.small ? 5 : 12, { nameGap: 28, gridIndex: at }));
      option.yAxis.push(axisOf(panel.y, theme, y, cell.small ? 6 : 8, { nameGap: cell.small ? 50 : 60, gridIndex: at }));
      if (panel.title !== "") option.title.push({ text: panel.title, left: left - 4, top: cell.top + 2, textStyle: { color: theme.ink, fontSize: 13, fontWeight: 600, fontFamily: SANS } });
    });
    return option;
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

  // The most that a stack of shares reaches: what is drawn beyond says nothing but that it is far.
  const SHARES = [-0.5, 1.5];

  // Where the values of rows lie: their ends, and the numbers beside them so that no interval runs through one.
  const rowsOf = (figure, view) => {
    const shown = figure.series.filter((series) => view.visible.includes(series.name));
    const narrow = view.width < 560, segment = figure.kind === "bars" && figure.x.unit === "share" && shown.length > 1;
    const starts = figure.kind === "bars" ? stacked(figure, view.visible) : shown.map((one) => one.points.map(() => 0));
    const notes = figure.y.categories.map((_, row) =>
      shown.filter((one) => one.ghost).flatMap((one) => one.points).find((point) => point.y === row)?.note ?? "");
    const noted = notes.some((note) => note !== "") && !narrow;
    const widest = figure.y.categories.reduce((most, name) => Math.max(most, wide(name)), 0);
    const left = narrow ? 12 : Math.min(300, 18 + widest), right = noted ? 216 : 36;
    const text = (point) => format(point.x, figure.x.unit) + (figure.kind === "bars" ? "" : interval(point, figure.x.unit));
    const values = shown.flatMap((one, nth) => one.points.map((point, at) => starts[nth][at] + point.x));
    const intervals = shown.filter((one) => !one.ghost).flatMap((one, nth) => one.points.filter((p) => p.low !== null && p.high !== null).flatMap((p, at) => [starts[nth][at] + p.low, starts[nth][at] + p.high]));
    let extent = extentOf(figure.x, values, segment ? [] : intervals) ?? [0, 1];
    if (segment) extent = [Math.max(SHARES[0], Math.min(0, extent[0])), Math.min(SHARES[1], Math.max(1, extent[1]))];
    // Room for the numbers beside the longest.
    const across = view.width - left - right, begin = extent[0];
    const room = (at, width) => begin + (at - begin) * across / Math.max(across - width - 12, 0.3 * across);
    if (!segment) shown.forEach((one, nth) => one.points.forEach((point, at) => {
      const width = one.ghost ? 0 : wide(text(point)), end = to(figure.x, Math.max(starts[nth][at] + point.x, Math.min(starts[nth][at] + (point.high ?? point.x), 2 * Math.abs(starts[nth][at] + point.x))));
      const isInside = figure.kind === "bars" && (to(figure.x, starts[nth][at] + (point.low ?? point.x)) - Math.max(begin, 0)) / (extent[1] - begin) * across > width + 20;
      if (width > 0 && !isInside && Number.isFinite(end)) extent = [begin, Math.max(extent[1], room(end, width))];
    }));
    extent = view.zoom?.x ?? extent;
    const pixel = (value) => left + (Math.min(extent[1], Math.max(extent[0], to(figure.x, value))) - extent[0]) / (extent[1] - extent[0]) * across;
    const labels = shown.map((one, nth) => one.points.map((point, at) => {
      if (one.ghost) return null;
      const said = text(point), width = wide(said), start = starts[nth][at];
      if (segment) {
        const room = Math.abs(pixel(start + point.x) - pixel(start));
        return room > width + 8 ? { said, at: (pixel(start + point.x) + pixel(start)) / 2 - width / 2, width, inside: true } : null;
      }
      const has = point.low !== null && point.high !== null;
      const from = has ? pixel(start + point.low) : pixel(start + point.x), end = has ? pixel(start + point.high) : pixel(start + point.x);
      const base = pixel(figure.kind === "bars" ? Math.max(0, start) : point.x);
      const isInside = figure.kind === "bars" && point.x > 0 && Math.min(from, pixel(start + point.x)) - base > width + 14;
      if (isInside) return { said, at: base + 6, width, inside: true };
      const beyond = Math.max(end, pixel(start + point.x), pixel(0)) + 8, before = from - 8 - width;
      // An interval that goes on past the edge leaves no room behind it.
      const edge = left + across + (noted ? 0 : right);
      const isFree = before >= left && (figure.kind !== "bars" || before + width <= base);
      const fits = beyond + width <= edge;
      if (fits || isFree) return { said, at: fits ? beyond : before, width, inside: false };
      // Where there is room on neither side it stands over its interval, in which it could not be read.
      return { said, at: Math.max(left, edge - width), width, inside: false, over: figure.kind === "intervals" };
    }));
    const whiskers = shown.map((one, nth) => one.points.map((point, at) => (
      one.ghost || segment || point.low === null || point.high === null || point.n === 0 ? null : [pixel(starts[nth][at] + point.low), pixel(starts[nth][at] + point.high)])));
    return { shown, starts, narrow, segment, notes, noted, left, right, extent, labels, whiskers, across };
  };
  const interval = (point, unit) => (point.low !== null && point.high !== null ? ` [${format(point.low, unit)}, ${format(point.high, unit)}]` : "");

  // What is written on a bar is black or white, whichever stands out more from it (WCAG 2.2, relative luminance).
  const luminance = (colour) => {
    const parts = /^#(..)(..)(..)$/.exec(colour)?.slice(1).map((part) => parseInt(part, 16) / 255) ?? [0, 0, 0];
    const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const inkOn = (colour) => (luminance(colour) > 0.179 ? "#000000" : "#ffffff");

  const bars = (figure, theme, view) => {
    const { shown, starts, narrow, segment, notes, noted, left, right, extent, labels } = rowsOf(figure, view);
    const top = 14 + 14 * figure.marks.length + (view.heads?.[0] ?? 0);
    const inBars = figure.kind === "bars";
    const series = shown.flatMap((one, index) => {
      const colour = theme.colours[one.colour];
      const numbers = {
        ...COMMON, clip: false, type: "custom", z: 7, data: one.points.map((point, nth) => [point.y, nth]), encode: { y: 0 },
        renderItem: (params, api) => {
          const label = labels[index][api.value(1)];
          if (label === null || label === undefined) return null;
          const [, y] = api.coord([extent[0], api.value(0)]);
          return { type: "text", x: label.at, y: label.over ? y - 12 : y, style: { text: label.said, fill: label.inside && !one.open ? inkOn(colour) : theme.ink, font: `12px ${SANS}`, verticalAlign: "middle" } };
        },
      };
      const body = inBars ? {
        ...COMMON, type: "bar", stack: "all", barMaxWidth: 24, barCategoryGap: "35%",
        itemStyle: one.ghost
          ? { color: "transparent", borderColor: colour, borderWidth: 1, borderType: "dashed" }
          : { color: one.open ? theme.paper : colour, opacity: 0.88, borderColor: one.open ? colour : theme.paper, borderWidth: segment || one.open ? 1 : 0 },
        data: one.points.map((point) => [point.x, point.y]),
      } : {
        ...COMMON, type: "scatter", symbol: one.symbol, symbolSize: 9, z: 6,
        itemStyle: { color: one.open ? theme.paper : colour, borderColor: colour, borderWidth: 1.5 },
        data: one.points.map((point) => [to(figure.x, point.x), point.y]),
      };
      // The interval of what is missing stands in words, and those of parts of one bar in the table: over each other none could be read.
      if (one.ghost) return [body];
      return [body, ...(segment ? [] : [{
        ...COMMON, type: "custom", z: 6, renderItem: whisker("x", inBars ? theme.ink : colour), encode: { x: [1, 2], y: 0 },
        data: one.points.map((point, nth) => [point, starts[index][nth]])
          .filter(([point]) => point.low !== null && point.high !== null && point.n > 0)
          .map(([point, start]) => [point.y, ...[point.low, point.high].map((end) => Math.min(extent[1], Math.max(extent[0], to(figure.x, start + end))))]),
      }]), numbers];
    });
    if (figure.marks.length > 0) {
      const lines = marksOf(figure.marks, figure, theme, narrow);
      const { label, data } = lines.markLine;
      // Labels stand over the bars, one above the other.
      lines.markLine.label = { ...label, position: "start" };
      data.forEach((line, nth) => { line.label = { distance: [0, 4 + 13 * nth] }; });
      series.push(lines);
    }
    const aside = { type: "category", inverse: true, position: "right", data: notes, axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: theme.muted, fontSize: 12, lineHeight: 14, interval: 0, width: 200, overflow: "break", formatter: (note) => note } };
    return {
      grid: { left, right, top, bottom: 48 },
      xAxis: axisOf(figure.x, theme, extent, narrow ? 3 : 6, { nameGap: 28 }),
      yAxis: [axisOf(figure.y, theme, null, 1, {
        axisLabel: {
          color: theme.ink, fontSize: 12, interval: 0, inside: narrow, verticalAlign: narrow ? "bottom" : "middle",
          padding: narrow ? [0, 0, 14, 0] : 0, formatter: (name) => name,
          ...(narrow ? {} : { width: left - 16, overflow: "break" }),
        },
        z: narrow ? 10 : 0,
      }), ...(noted ? [aside] : [])],
      series,
    };
  };

  // A lane a row: rectangles between two corners, each the row's number before the point and a share of its height behind it.
  const LANE = 24;
  const corners = ([[x0, y0], [x1, y1]]) => ({ row: Math.floor(y0), from: x0, to: x1, low: y0 - Math.floor(y0), high: Math.min(1, (y1 - Math.floor(y0)) / 0.999) });
  const lanes = (figure, theme, view) => {
    const shown = figure.series.filter((series) => view.visible.includes(series.name)), narrow = view.width < 560;
    const widest = figure.y.categories.reduce((most, name) => Math.max(most, wide(name)), 0);
    const left = narrow ? 12 : Math.min(300, 18 + widest), right = 36;
    const extent = view.zoom?.x ?? [0, figure.series.flatMap((one) => one.lines).reduce((most, [, end]) => Math.max(most, end[0]), 0)];
    const series = shown.map((one) => {
      const all = one.lines.map(corners);
      return {
        ...COMMON, type: "custom", z: 5, data: all.map((piece, nth) => [piece.from, piece.row, piece.to, nth]), encode: { x: [0, 2], y: 1 },
        renderItem: (params, api) => {
          const piece = all[api.value(3)], [x0, y] = api.coord([piece.from, piece.row]), [x1] = api.coord([piece.to, piece.row]);
          // A little wider than it is: between two that touch nothing of the paper shows.
          const shape = { x: x0, y: y + LANE / 2 - LANE * piece.high, width: x1 - x0 + 0.4, height: LANE * (piece.high - piece.low) };
          const inside = echarts.graphic.clipRectByRect(shape, params.coordSys);
          return inside && { type: "rect", shape: inside, style: { fill: one.open ? theme.grid : theme.colours[one.colour] } };
        },
      };
    });
    // What was not watched is told from what was.
    const frame = {
      ...COMMON, type: "custom", z: 2, data: figure.y.categories.map((_, row) => [extent[0], row]), encode: { y: 1 },
      renderItem: (params, api) => {
        const [, y] = api.coord([extent[0], api.value(1)]), { x, width } = params.coordSys;
        return { type: "rect", shape: { x, y: y - LANE / 2, width, height: LANE }, style: { fill: "transparent", stroke: theme.grid } };
      },
    };
    return {
      grid: { left, right, top: 14 + (view.heads?.[0] ?? 0), bottom: 48 },
      xAxis: axisOf(figure.x, theme, extent, narrow ? 3 : 6, { nameGap: 28 }),
      yAxis: [axisOf(figure.y, theme, null, 1, {
        axisLabel: {
          color: theme.ink, fontSize: 12, interval: 0, inside: narrow, verticalAlign: narrow ? "bottom" : "middle",
          padding: narrow ? [0, 0, 14, 0] : 0, formatter: (name) => name, ...(narrow ? {} : { width: left - 16, overflow: "break" }),
        },
        z: narrow ? 10 : 0,
      })],
      series: [frame, ...series],
    };
  };
  // Where the longest stretch of a row lies: a tip stands there.
  const longest = (series, row) => series.lines.map(corners).filter((piece) => piece.row === row)
    .reduce((most, piece) => ((piece.to - piece.from) * (piece.high - piece.low) > (most.to - most.from) * (most.high - most.low) ? piece : most), { from: 0, to: 0, low: 0, high: 0 });

  // The option that draws a figure. `view`: what is visible, whether single values are, the width.
  const option = (figure, name, view) => {
    const theme = THEMES[name];
    const drawn = (figure.kind === "lanes" ? lanes : isOfRows(figure) ? bars : points)(figure, theme, view);
    return {
      animation: false, backgroundColor: view.paper ? theme.paper : "transparent",
      textStyle: { fontFamily: SANS, color: theme.ink }, ...drawn,
    };
  };

  // A height that suits the figure.
  const height = (figure, width, heads) =>
    isOfRows(figure)
      ? 76 + 14 * figure.marks.length + (width < 560 ? 46 : figure.kind === "intervals" ? 28 : figure.kind === "lanes" ? 34 : 40) * figure.y.categories.length + (heads?.[0] ?? 0)
      : layout(figure, width, heads).height;

  // The height of a legend: as many rows as its names take, one after the other.
  const legendHeight = (names, width) => {
    let rows = 1, used = 0;
    for (const name of names) {
      const needs = 24 + 5 + wide(name) + 14;
      if (used > 0 && used + needs > width) [rows, used] = [rows + 1, 0];
      used += needs;
    }
    return 26 * rows - 4;
  };

  // Without a document: a legend of the library's own takes the place of the page's buttons.
  const svg = (figure, theme, width) => {
    const shown = figure.series.filter((series) => series.shown);
    const visible = shown.map((series) => series.name), rows = isOfRows(figure);
    const panels = rows ? [panelsOf(figure)[0]] : panelsOf(figure);
    const of = (at) => (rows ? shown : shown.filter((series) => series.panel === at));
    const blank = layout(figure, width);
    const cell = (at) => (rows ? { left: 0, top: 0, width, head: 0 } : blank.cells[at]);
    const heads = panels.map((panel, at) => (panel.again || of(at).length < 2 ? 0 : legendHeight(of(at).map((one) => called(panel, one.name)), cell(at).width - 16)));
    const total = height(figure, width, heads);
    const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height: total });
    const drawn = option(figure, theme, { visible, raw: false, width, paper: true, heads });
    const colours = THEMES[theme].colours, place = rows ? null : layout(figure, width, heads);
    drawn.legend = [];
    panels.forEach((panel, at) => {
      if (heads[at] === 0) return;
      // A series without data carries the name, the symbol and the line's kind.
      for (const one of of(at)) {
        const bar = figure.kind === "bars" || figure.kind === "lanes", hollow = one.open || one.dashed;
        drawn.series.push({
          ...COMMON, name: `${at} ${one.name}`, type: bar ? "bar" : "line", stack: bar ? "all" : undefined, data: [], symbol: one.symbol, symbolSize: 7,
          xAxisIndex: rows ? 0 : at, yAxisIndex: rows ? 0 : at,
          lineStyle: { type: one.dashed ? [6, 4] : "solid", width: figure.kind === "intervals" ? 0 : 1.6, color: colours[one.colour] },
          itemStyle: figure.kind === "lanes" && one.open ? { color: THEMES[theme].grid } : one.ghost
            ? { color: "transparent", borderColor: colours[one.colour], borderType: "dashed", borderWidth: 1 }
            : hollow ? { color: THEMES[theme].paper, borderColor: colours[one.colour], borderWidth: 1.5 } : { color: colours[one.colour] },
        });
      }
      const top = rows ? 4 : place.cells[at].top + (panel.title === "" ? 4 : 24), left = cell(at).left + 8;
      drawn.legend.push({
        data: of(at).map((one) => `${at} ${one.name}`), formatter: (name) => called(panel, name.slice(name.indexOf(" ") + 1)), top, left,
        width: cell(at).width - 16, itemGap: 14, itemHeight: 9, itemWidth: 24, padding: 0,
        selectedMode: false, textStyle: { color: THEMES[theme].ink, fontSize: 12, fontFamily: SANS },
      });
    });
    chart.setOption(drawn);
    const text = chart.renderToSVGString();
    chart.dispose();
    return text;
  };

  // The numbers and the intervals of a figure of rows, in pixels from the left: row, ends of the number, ends of the interval
  // that is in line with it.
  const numbers = (figure, width) => {
    const visible = figure.series.filter((series) => series.shown).map((series) => series.name);
    const { shown, labels, whiskers } = rowsOf(figure, { visible, width, zoom: null });
    return shown.flatMap((one, nth) => one.points.map((point, at) => ({ row: point.y, label: labels[nth][at], whisker: labels[nth][at]?.over ? null : whiskers[nth][at] })));
  };

  return { THEMES, option, height, describe, format, to, from, svg, numbers, longest, isOfRows, panelsOf, called };
})();
