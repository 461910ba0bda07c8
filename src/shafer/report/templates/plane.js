// The plane of ignorance and conflict.
function groupsOf() {
  const by = $("colour").value;
  if (by === "right") {
    return [
      { name: "right", color: "blue", symbol: "circle", rows: data.rows.filter((row) => !isWrong(row)) },
      { name: "wrong", color: "orange", symbol: "diamond", rows: data.rows.filter(isWrong) },
    ];
  }
  const value = by === "size" ? (row) => Math.min(row.decided.length, 6) : (row) => row.answer;
  const name = by === "size"
    ? (v) => (v === 1 ? "one class" : `${v}${v === 6 && K > 6 ? " or more" : ""} classes`) : (v) => data.classes[v];
  return [...new Set(data.rows.map(value))].sort((a, b) => a - b).map((v) => {
    const at = by === "size" ? v - 1 : v;
    return {
      name: name(v), color: PALETTE[at % 6], symbol: Charts.SYMBOLS[at % 6],
      rows: data.rows.filter((row) => value(row) === v),
    };
  });
}

const paper = () => (state.printing ? { width: 330, height: 310 } : {});
function hover(row) {
  const lines = [`row ${row.i}: ${Charts.cut(setName(row.decided))}`,
    `ignorance ${number(row.ignorance)}, conflict ${number(row.conflict)}`];
  if (data.truth) lines.push(`true class ${Charts.cut(data.classes[row.truth])}`);
  return lines.map(Charts.literal).join("<br>");
}

function drawPlane() {
  const groups = groupsOf();
  const at = state.result ?? state.row;
  const most = Math.max(...data.rows.map((row) => row.ignorance), at?.ignorance ?? 0);
  const top = Math.max(...data.rows.map((row) => row.conflict), at?.conflict ?? 0);
  Charts.scatter($("plane"),
    groups.map((group) => ({
      ...group,
      points: group.rows.map((row) => ({ x: row.ignorance, y: row.conflict, row: row.i, text: hover(row) })),
    })),
    at && { x: at.ignorance, y: at.conflict },
    {
      xaxis: { title: { text: "ignorance" }, range: [-0.03 * most - 0.002, 1.06 * most + 0.002] },
      yaxis: { title: { text: "conflict" }, range: [-0.03 * top - 0.002, 1.06 * top + 0.002] },
      ...paper(),
    },
    (i) => choose(byRow.get(i), true));
  const glyphs = ["circle", "diamond", "square", "triangle-up", "cross", "star"];
  $("plane-legend").replaceChildren(...groups.slice(0, 12).map((group) => make("span", {},
    glyph(group.color, glyphs.indexOf(group.symbol)), `${Charts.cut(group.name, 24)} (${group.rows.length})`)),
  ...(groups.length > 12 ? [make("span", {}, `and ${groups.length - 12} more`)] : []));
}

function glyph(color, shape) {
  const paths = ["M5 1a4 4 0 1 0 .01 0z", "M5 0L10 5L5 10L0 5z", "M1 1h8v8h-8z", "M5 1L9.5 9H.5z",
    "M3.5 0h3v3.5H10v3H6.5V10h-3V6.5H0v-3h3.5z", "M5 0l1.5 3.4L10 3.8 7.4 6.2 8.1 10 5 8 1.9 10l.7-3.8L0 3.8l3.5-.4z"];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 10 10");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", paths[shape]);
  path.style.fill = `var(--${color})`;
  svg.append(path);
  return svg;
}

function steer(event) {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
  if (dx === undefined || !state.row) return;
  event.preventDefault();
  const width = Math.max(...data.rows.map((row) => row.ignorance)) || 1;
  const height = Math.max(...data.rows.map((row) => row.conflict)) || 1;
  let best = null;
  for (const row of data.rows) {
    const x = (row.ignorance - state.row.ignorance) / width;
    const y = (row.conflict - state.row.conflict) / height;
    const along = x * dx + y * dy;
    const cost = along + 3 * Math.abs(x * dy) + 3 * Math.abs(y * dx);
    if (along > 0 && (!best || cost < best.cost)) best = { row, cost };
  }
  if (best) choose(best.row, false);
}
