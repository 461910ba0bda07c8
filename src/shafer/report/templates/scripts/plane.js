// The plane of ignorance and disagreement.
function groupsOf() {
  const by = $("colour").value;
  if (by === "judged") {
    return [
      { name: "not yet answered", color: "blue", symbol: "circle", rows: data.rows.filter(concealed) },
      { name: "answered by you", color: "amber", symbol: "square", rows: data.rows.filter((row) => !concealed(row)) },
    ];
  }
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

// With many classes or components ignorance is near zero and disagreement near one: all points lie
// in one corner. The logarithm of ignorance and the weight of disagreement keep them apart.
let floor = 1; // the ignorance of a point with none
const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
function measurePlane() {
  if (data.alone) return;
  floor = data.rows.reduce((least, { ignorance }) => (ignorance > 0 ? Math.min(least, ignorance) : least), 1);
  const inOneCorner = middle(data.rows.map((row) => row.disagreement)) > 0.9
    || middle(data.rows.map((row) => row.ignorance)) < 0.002;
  $("scale").value = inOneCorner ? "log" : "plain";
}
const SCALES = {
  plain: { x: (at) => at.ignorance, y: (at) => at.disagreement, titles: ["ignorance", "disagreement"] },
  log: {
    x: (at) => Math.log10(Math.max(at.ignorance, floor)), y: (at) => at.weightOfDisagreement,
    titles: ["ignorance, as a power of ten", "weight of disagreement, −ln(1 − disagreement)"],
  },
};
const scale = () => SCALES[$("scale").value];

const paper = () => (state.printing ? { width: 330, height: 310 } : {});
function hover(row) {
  const hidden = concealed(row);
  const lines = [hidden ? rowName(row) : `${rowName(row)}: ${Charts.cut(setName(row.decided))}`,
    `ignorance ${number(row.ignorance)}, disagreement ${number(row.disagreement)}`];
  if (data.truth && !hidden) lines.push(`true class ${Charts.cut(data.classes[row.truth])}`);
  return lines;
}

function drawPlane() {
  if (data.alone || !$("advanced").open) return;
  const groups = groupsOf();
  const at = state.result ?? state.row;
  const { x, y, titles } = scale();
  const all = at ? [...data.rows, at] : data.rows;
  const zero = $("scale").value === "plain" ? [0] : [];
  Charts.scatter($("plane"),
    groups.map((group) => ({
      ...group,
      points: group.rows.map((row) => ({ x: x(row), y: y(row), row: row.i, lines: hover(row) })),
    })),
    at && { x: x(at), y: y(at) },
    {
      x: { title: titles[0], range: Charts.reach([...zero, ...all.map(x)]) },
      y: { title: titles[1], range: Charts.reach([...zero, ...all.map(y)]) },
      ...paper(),
    },
    (i) => choose(byRow.get(i), true));
  $("plane-legend").replaceChildren(...groups.slice(0, 12).map((group) => make("span", {},
    glyph(group.color, Charts.SYMBOLS.indexOf(group.symbol)), `${Charts.cut(called(group.name), 24)} (${group.rows.length})`)),
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
  const spread = (values) => Math.max(...values) - Math.min(...values) || 1;
  const at = scale();
  const [width, height] = [spread(data.rows.map(at.x)), spread(data.rows.map(at.y))];
  let best = null;
  for (const row of data.rows) {
    const x = (at.x(row) - at.x(state.row)) / width;
    const y = (at.y(row) - at.y(state.row)) / height;
    const along = x * dx + y * dy;
    const cost = along + 3 * Math.abs(x * dy) + 3 * Math.abs(y * dx);
    if (along > 0 && (!best || cost < best.cost)) best = { row, cost };
  }
  if (best) choose(best.row, false);
}
