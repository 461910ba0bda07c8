// Curves: lines and dots over two axes, for the overview.
const Curves = (() => {
  const drawn = new WeakMap();
  const watcher = new ResizeObserver((entries) => entries.forEach(({ target }) => render(target)));

  // plot: { x: { title, range }, y, lines: [{ kind, points: [[x, y]] }], dots: [{ x, y, r, kind, title }] }
  function draw(element, plot) {
    if (!drawn.has(element)) watcher.observe(element);
    drawn.set(element, plot);
    render(element);
  }

  function render(element) {
    const { x, y, lines, dots, width = element.clientWidth, height = element.clientHeight } = drawn.get(element);
    if (!width || !height) return;
    const box = Axes.frame(width, height, x, y);
    const at = ([px, py]) => `${box.x.place(px).toFixed(1)} ${box.y.place(py).toFixed(1)}`;
    const paths = lines.filter(({ points }) => points.length > 1)
      .map(({ kind, points }) => Axes.shape("path", { class: kind, d: `M${points.map(at).join("L")}` }));
    const marks = dots.map((dot) => {
      const circle = Axes.shape("circle", { class: dot.kind, cx: box.x.place(dot.x), cy: box.y.place(dot.y), r: dot.r ?? 4 });
      if (dot.title) circle.append(Axes.shape("title", {}, dot.title));
      return circle;
    });
    const bars = dots.filter(({ low }) => low !== undefined)
      .map(({ x: px, low, high }) => Axes.line("whiskers", box.x.place(px), box.y.place(low), box.x.place(px), box.y.place(high)));
    const svg = Axes.shape("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}` }, Axes.draw(box, x, y), ...paths, ...bars, ...marks);
    element.replaceChildren(svg);
  }

  return { draw };
})();
