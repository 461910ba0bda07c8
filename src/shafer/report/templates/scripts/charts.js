// The two scatter plots: points to hover over, click, and zoom into.
const Charts = (() => {
  const SYMBOLS = ["circle", "diamond", "square", "triangle-up", "cross", "star"];
  // Around the origin, of the same area.
  const PATHS = {
    circle: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    diamond: "M0-5.2L5.2 0L0 5.2L-5.2 0z",
    square: "M-3.6-3.6h7.2v7.2h-7.2z",
    "triangle-up": "M0-4.6L4.8 3.7H-4.8z",
    cross: "M-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
    star: "M0-5.4l1.5 3.3 3.6.4-2.7 2.4.8 3.6L0 2.5l-3.2 1.8.8-3.6-2.7-2.4 3.6-.4z",
  };

  const cut = (text, most = 48) => {
    const characters = Array.from(String(text));
    return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : String(text);
  };

  // The range of values, with a margin.
  function reach(values) {
    const [low, high] = values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
    if (low > high) return [0, 1];
    const margin = 0.05 * (high - low) || 0.002 * Math.max(1, Math.abs(low));
    return [low - margin, high + margin];
  }

  // Points as one text of markup: it contains numbers only, and is much faster than single nodes.
  function pointsOf({ color, symbol, points }, box) {
    const path = PATHS[symbol];
    const group = Axes.shape("g", { class: "points" });
    group.style.fill = `var(--${color})`;
    group.innerHTML = points.map(({ x, y }) => `<path d="${path}" transform="translate(${box.x.place(x).toFixed(1)} ${box.y.place(y).toFixed(1)})"/>`).join("");
    return group;
  }

  // groups: [{ name, color, symbol, points: [{ x, y, lines, row }] }]
  // options: { x: { title, range, names, grid }, y: …, dashed, width, height }
  function scatter(element, groups, selected, options, onPick) {
    const all = groups.flatMap(({ points }) => points);
    const whole = {
      x: options.x.range ?? reach(options.x.names ? [-0.4, options.x.names.length - 0.6] : all.map(({ x }) => x)),
      y: options.y.range ?? reach([0, ...all.map(({ y }) => y)]),
    };
    const about = `${options.x.title}\n${options.y.title}`;
    const zoom = element.chart?.about === about ? element.chart.zoom : null;
    element.chart = { groups, selected, options, onPick, whole, about, zoom, points: all };
    render(element);
    Pointing.start(element, () => render(element));
  }

  function render(element) {
    const { groups, selected, options, whole, zoom, points } = element.chart;
    const width = options.width ?? element.clientWidth;
    const height = options.height ?? element.clientHeight;
    if (!width || !height) return;
    const x = { ...options.x, range: (zoom ?? whole).x };
    const y = { ...options.y, range: (zoom ?? whole).y };
    const box = Axes.frame(width, height, x, y);
    element.chart.box = box;
    element.chart.places = points.map((point) => [box.x.place(point.x), box.y.place(point.y)]);
    const inside = Axes.shape("svg", {
      x: box.left, y: box.top, width: Math.max(box.right - box.left, 0), height: Math.max(box.bottom - box.top, 0),
      viewBox: `${box.left} ${box.top} ${box.right - box.left} ${box.bottom - box.top}`,
    }, ...groups.map((group) => pointsOf(group, box)));
    if (options.dashed !== undefined && options.dashed !== null) {
      inside.append(Axes.line("dashed", box.x.place(options.dashed), box.top, box.x.place(options.dashed), box.bottom));
    }
    if (selected) inside.append(Axes.shape("circle", { class: "ring", cx: box.x.place(selected.x), cy: box.y.place(selected.y), r: 8.5 }));
    const svg = Axes.shape("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}` }, Axes.draw(box, x, y), inside);
    element.querySelector("svg.plot")?.remove();
    element.prepend(svg);
  }

  return { scatter, cut, reach, SYMBOLS };
})();
