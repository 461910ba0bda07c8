// Axes of the scatter plots: places on the page, grid, numbers, titles. All in SVG.
const Axes = (() => {
  const LETTER = 6.6; // the width of a letter of the numbers, in pixels
  const SVG = "http://www.w3.org/2000/svg";

  function shape(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // The numbers along an axis: [{ at, text }].
  function marksOf(axis, [low, high]) {
    if (axis.names) return axis.names.map((text, at) => ({ at, text })).filter(({ at }) => at >= low && at <= high);
    const { places, digits } = ticks(low, high, 6);
    const far = digits > 5 || Math.max(Math.abs(low), Math.abs(high)) >= 1e6;
    const written = (at) => (far && at !== 0 ? String(Number(at.toPrecision(3)).toExponential()) : at.toFixed(far ? 0 : digits));
    return places.map((at) => ({ at, text: written(at).replaceAll("-", "−") }));
  }

  // What is inside the frame: from data to pixels and back.
  function frame(width, height, x, y) {
    const [across, up] = [marksOf(x, x.range), marksOf(y, y.range)];
    const longest = Math.max(...up.map(({ text }) => text.length), 1);
    const left = Math.min(34 + LETTER * longest, width / 3);
    const widest = Math.max(...across.map(({ text }) => text.length), 1);
    const turned = Boolean(x.names) && across.length * LETTER * (widest + 1) > width - left - 14;
    const [right, top, bottom] = [14, 10, turned ? 40 + Math.min(LETTER * widest * 0.75, height / 3) : 44];
    const scaleOf = ([low, high], from, to) => ({
      place: (value) => from + ((value - low) / (high - low)) * (to - from),
      value: (place) => low + ((place - from) / (to - from)) * (high - low),
    });
    return {
      width, height, left, right: width - right, top, bottom: height - bottom, across, up, turned,
      x: scaleOf(x.range, left, width - right), y: scaleOf(y.range, height - bottom, top),
    };
  }

  const line = (kind, x1, y1, x2, y2) => shape("path", { class: kind, d: `M${x1} ${y1}L${x2} ${y2}` });

  function draw(box, x, y) {
    const grid = (x.grid === false ? [] : box.across.map(({ at }) => line(at === 0 ? "zero" : "grid", box.x.place(at), box.top, box.x.place(at), box.bottom)))
      .concat(box.up.map(({ at }) => line(at === 0 ? "zero" : "grid", box.left, box.y.place(at), box.right, box.y.place(at))));
    const labels = [
      ...box.across.map(({ at, text }) => {
        const [px, py] = [box.x.place(at), box.bottom + 17];
        const turn = box.turned ? { transform: `rotate(-35 ${px} ${py})`, "text-anchor": "end" } : { "text-anchor": "middle" };
        return shape("text", { x: px, y: py, ...turn }, text);
      }),
      ...box.up.map(({ at, text }) => shape("text", { x: box.left - 8, y: box.y.place(at) + 4, "text-anchor": "end" }, text)),
      shape("text", { class: "title", x: (box.left + box.right) / 2, y: box.height - 6, "text-anchor": "middle" }, x.title),
      shape("text", {
        class: "title", "text-anchor": "middle",
        transform: `translate(14 ${(box.top + box.bottom) / 2}) rotate(-90)`,
      }, y.title),
    ];
    return shape("g", { class: "axes", "aria-hidden": "true" }, ...grid,
      line("edge", box.left, box.bottom, box.right, box.bottom), line("edge", box.left, box.top, box.left, box.bottom), ...labels);
  }

  return { shape, frame, draw, line };
})();
