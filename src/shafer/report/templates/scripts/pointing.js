// Pointing at a scatter plot: the nearest point's text, a click, and a rectangle to zoom into.
const Pointing = (() => {
  const NEAR = 12; // pixels
  const started = new WeakSet();

  function nearest({ box, places, points }, [px, py]) {
    let [best, least] = [null, NEAR * NEAR];
    places.forEach(([x, y], at) => {
      const far = (x - px) ** 2 + (y - py) ** 2;
      const seen = x >= box.left - 1 && x <= box.right + 1 && y >= box.top - 1 && y <= box.bottom + 1;
      if (seen && far <= least) [best, least] = [{ point: points[at], x, y }, far];
    });
    return best;
  }

  function tell(element, tip, found) {
    tip.hidden = !found;
    element.classList.toggle("pointed", Boolean(found));
    if (!found) return;
    tip.replaceChildren(...found.point.lines.map((text) => make("div", {}, text)));
    const { width } = element.chart.box;
    const flip = found.x > width / 2;
    Object.assign(tip.style, {
      left: flip ? "auto" : `${found.x + 12}px`, right: flip ? `${element.clientWidth - found.x + 12}px` : "auto", top: `${found.y + 8}px`,
    });
  }

  function start(element, render) {
    if (started.has(element)) return;
    started.add(element);
    const tip = make("div", { class: "tip", hidden: true });
    const band = make("div", { class: "band", hidden: true });
    element.append(tip, band);
    let from = null;
    const at = (event) => {
      const { left, top } = element.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    };
    const moved = (to) => from && Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])) > 6;
    const corners = (to) => [0, 1].map((side) => [Math.min(from[side], to[side]), Math.max(from[side], to[side])]);

    element.addEventListener("pointerdown", (event) => {
      if (event.button === 0 && event.isPrimary) from = at(event);
    });
    element.addEventListener("pointermove", (event) => {
      const to = at(event);
      const dragging = event.pointerType === "mouse" && moved(to);
      tell(element, tip, dragging ? null : nearest(element.chart, to));
      band.hidden = !dragging;
      if (!dragging) return;
      const [[left, right], [top, bottom]] = corners(to);
      Object.assign(band.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
    });
    element.addEventListener("pointerup", (event) => {
      if (!from) return;
      const to = at(event);
      const { box, onPick } = element.chart;
      if (moved(to) && event.pointerType === "mouse") {
        const [[left, right], [top, bottom]] = corners(to);
        element.chart.zoom = {
          x: [box.x.value(Math.max(left, box.left)), box.x.value(Math.min(right, box.right))],
          y: [box.y.value(Math.min(bottom, box.bottom)), box.y.value(Math.max(top, box.top))],
        };
        render();
      } else if (!moved(to)) {
        const found = nearest(element.chart, to);
        if (found && onPick) onPick(found.point.row);
      }
      from = null;
      band.hidden = true;
    });
    const leave = () => { from = null; band.hidden = true; tell(element, tip, null); };
    element.addEventListener("pointerleave", leave);
    element.addEventListener("pointercancel", leave);
    element.addEventListener("dblclick", () => { element.chart.zoom = null; render(); });
    new ResizeObserver(() => { if (!element.chart.options.width) render(); }).observe(element);
  }

  return { start };
})();
