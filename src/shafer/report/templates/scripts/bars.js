// Bars in tables: the waterfall of weights, or the evidence on both sides; the focal sets.
const percent = (value) => `${100 * Math.min(Math.max(value, 0), 1)}%`;
function bar(low, high, kind = "") {
  return make("i", { class: `fill ${kind}`, style: { left: percent(low), width: percent(high - low) } });
}
const mark = (kind, at) => make("i", { class: kind, style: { left: percent(at) } });

// The bars of a pair: the base rate first, then the strongest, then all others as one.
function barsOf(pair) {
  const { pieces, others, othersFor, othersAgainst } = state.weights;
  const all = pieces.map(({ g, w }) => ({
    g, name: data.components[g], value: valueOf(g, state.x), weight: contrastOf(w, pair),
  }));
  const base = all.filter(({ g }) => g === data.baseRate);
  const order = all.filter(({ g }) => g !== data.baseRate)
    .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.g - b.g);
  const shown = order.slice(0, others || order.length > MOST_BARS + 1 ? MOST_BARS : order.length);
  const pooled = order.slice(shown.length);
  const count = pooled.length + others;
  if (count) {
    const apart = contrastOf(othersFor.map((w, k) => w - othersAgainst[k]), pair);
    const weight = pooled.reduce((total, entry) => total + entry.weight, apart);
    shown.push({ g: "rest", name: `the other ${count} ${count === 1 ? "input" : "inputs"}`, value: "together", weight });
  }
  return [...base, ...shown].map((entry) => ({ ...entry, half: halfWidth(entry.g, pair) }));
}

// Round places on an axis from low to high, about so many steps apart.
function ticks(low, high, steps = 4) {
  const rough = (high - low) / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const places = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) places.push(at * step);
  return { places, digits: Math.max(0, -Math.floor(Math.log10(step))) };
}

function axisRow(low, high, place, pair) {
  const { places, digits } = ticks(low, high);
  const numbers = places.map((at) => make("span", { class: "tick-label", style: { left: percent(place(at)) } },
    at === 0 ? "0" : `${at > 0 ? "+" : "−"}${Math.abs(at).toFixed(digits)}`));
  const title = `log-odds of ${nameOf(pair.a)} over ${nameOf(pair.b)}: ${UNIT}`;
  return [
    make("tr", { class: "axis" }, make("td"), make("td", {}, make("div", { class: "scale" },
      ...places.map((at) => mark("notch", place(at))), ...numbers)), make("td")),
    make("tr", { class: "axis-title" }, make("td", { colspan: 3 }, title)),
  ];
}

const isPale = ({ half, weight }) => half !== null && Math.abs(weight) <= half;

function line(attributes, entry, place, kind) {
  const { name, value, from, to, weight, half } = entry;
  const shade = isPale(entry) ? `${kind} pale` : kind;
  const whisker = half === null ? null : bar(place(to - half), place(to + half), "whisker");
  return make("tr", { ...attributes, "data-weight": weight, "data-half": half },
    make("td", nameAttributes(name), called(name), " ", make("span", { class: "value" }, value)),
    make("td", {}, make("div", { class: "track" }, mark("zero", place(0)),
      bar(place(Math.min(from, to)), place(Math.max(from, to)), shade), whisker)),
    make("td", {}, signed(weight), half === null ? null : make("span", { class: "value" }, ` ±${half.toFixed(2)}`)));
}

function drawBars(bars, sum, pair) {
  const ends = [0, ...[...bars, ...(sum ? [sum] : [])].flatMap(({ from, to, half }) => [from, to - half, to + half])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const span = high - low || 1;
  const place = (value) => (value - low) / span;
  const kindOf = ({ g, weight }) => `${g === data.baseRate ? "base " : ""}${weight < 0 ? "against" : ""}`;
  const rows = bars.map((entry) => line(
    { "data-component": entry.g, class: entry.g === data.baseRate ? "base-rate" : "" }, entry, place, kindOf(entry)));
  if (sum) rows.push(line({ class: "sum" }, sum, place, "total"));
  $("waterfall").tBodies[0].replaceChildren(...rows);
  $("waterfall").tFoot.replaceChildren(...(high > low ? axisRow(low, high, place, pair) : []));
}

function drawWaterfall() {
  const pair = pairIn($("class"), $("over"));
  drawWhy(pair);
  drawImage();
  drawTexts(pair);
  if (!pair) {
    $("waterfall").tBodies[0].replaceChildren();
    $("waterfall").tFoot.replaceChildren();
    $("waterfall-note").textContent = "";
    return;
  }
  if (concealed(state.row)) drawBothSides(pair);
  else drawRunningSum(pair);
}

function drawRunningSum(pair) {
  const bars = barsOf(pair);
  let running = 0;
  for (const entry of bars) { entry.from = running; running += entry.weight; entry.to = running; }
  drawBars(bars, { name: "sum", value: "", weight: running, from: 0, to: running, half: halfWidth("sum", pair) }, pair);
  const { probability } = state.result;
  const is = pair.b === REST ? "" : ` It is ln(${number(probability[pair.a])} / ${number(probability[pair.b])}), from the two probabilities.`;
  $("waterfall-note").textContent = `${sidesNote(pair)} Each bar starts where the one above ends, and the last bar is the sum.${is}${errorsNote(bars)}`;
}

// Without the running sum, which would give the answer away.
function drawBothSides(pair) {
  const bars = barsOf(pair).map((entry) => ({ ...entry, from: 0, to: entry.weight }));
  const side = ({ g, weight }) => (g === data.baseRate ? -1 : Number(weight < 0));
  bars.sort((a, b) => side(a) - side(b));
  drawBars(bars, null, pair);
  $("waterfall-note").textContent = sidesNote(pair) + errorsNote(bars);
}

function sidesNote(pair) {
  const shared = data.sharesBaseRate ? " Each bar includes an equal share of the base rate." : "";
  const apart = data.baseRate === null ? shared
    : " The base rate is the log-odds when every component has its mean; it comes before any evidence from this instance.";
  return `Blue bars favour ${nameOf(pair.a)}, orange bars favour ${nameOf(pair.b)}.${apart}`;
}

function drawSets() {
  $("sets").tBodies[0].replaceChildren(...state.result.sets.map(({ mass, members }) => {
    const everything = members.length === K;
    return make("tr", { "data-set": members.join(","), "data-mass": mass },
      make("td", {}, everything ? "all classes" : setName(members)),
      make("td", {}, make("div", { class: "track" }, bar(0, mass, everything ? "sky" : ""))),
      make("td", {}, number(mass)));
  }));
}
