// Bars in tables: the waterfall, the intervals, the focal sets.
const percent = (value) => `${100 * Math.min(Math.max(value, 0), 1)}%`;
function bar(low, high, kind = "") {
  return make("i", { class: `fill ${kind}`, style: { left: percent(low), width: percent(high - low) } });
}
const mark = (kind, at) => make("i", { class: kind, style: { left: percent(at) } });

function drawWaterfall() {
  const k = Number($("class").value);
  const { pieces, others, othersFor, othersAgainst } = state.weights;
  const order = [...pieces].sort((a, b) => Math.abs(b.w[k]) - Math.abs(a.w[k]) || a.g - b.g);
  const bars = order.slice(0, others || order.length > MOST_BARS + 1 ? MOST_BARS : order.length)
    .map(({ g, w }) => ({ name: data.components[g], value: valueOf(g, state.x), weight: w[k], g }));
  const pooled = order.slice(bars.length);
  const count = pooled.length + others;
  if (count) {
    const up = pooled.reduce((total, { w }) => total + Math.max(0, w[k]), othersFor[k]);
    const down = pooled.reduce((total, { w }) => total + Math.max(0, -w[k]), othersAgainst[k]);
    bars.push({ name: `the other ${count}`, value: `${signed(up)} ${signed(-down)}`, weight: up - down, g: "rest" });
  }
  let running = 0;
  for (const entry of bars) { entry.from = running; running += entry.weight; entry.to = running; }
  const low = Math.min(0, ...bars.map((entry) => entry.to));
  const high = Math.max(0, ...bars.map((entry) => entry.to));
  const span = high - low || 1;
  const place = (value) => (value - low) / span;
  const line = (attributes, title, from, to, kind, weight) => make("tr", attributes,
    make("td", nameAttributes(title[0]), called(title[0]), ...title.slice(1)),
    make("td", {}, make("div", { class: "track" }, mark("zero", place(0)), bar(place(Math.min(from, to)), place(Math.max(from, to)), kind))),
    make("td", {}, signed(weight)));
  $("waterfall").tBodies[0].replaceChildren(
    ...bars.map((entry) => line({ "data-component": entry.g, "data-weight": entry.weight },
      [entry.name, " ", make("span", { class: "value" }, entry.value)],
      entry.from, entry.to, entry.weight < 0 ? "against" : "", entry.weight)),
    line({ class: "sum", "data-weight": running }, ["sum"], 0, running, "total", running));
}

function drawIntervals() {
  const { belief, plausibility, probability, pignistic, decided } = state.result;
  const order = data.classes.map((_, k) => k);
  const crowded = K > MOST_INTERVALS + 1;
  if (crowded) order.sort((a, b) => plausibility[b] - plausibility[a] || a - b);
  const shown = crowded && !state.allClasses ? order.slice(0, MOST_INTERVALS) : order;
  $("intervals").tBodies[0].replaceChildren(...shown.map((k) => {
    const kept = decided.includes(k);
    return make("tr", {
      class: kept ? "chosen" : "dominated", "data-class": k, "data-belief": belief[k],
      "data-plausibility": plausibility[k], "data-probability": probability[k], "data-pignistic": pignistic[k],
    },
    make("td", nameAttributes(data.classes[k]), called(data.classes[k])),
    make("td", {}, make("div", { class: "track" }, bar(belief[k], plausibility[k], kept ? "" : "dim"),
      mark("tick", probability[k]), mark("dot", pignistic[k]))),
    make("td", {}, `${number(probability[k])} `, make("span", { class: "value" }, `[${number(belief[k])}, ${number(plausibility[k])}]`)));
  }));
  $("all-classes").hidden = !crowded;
  $("all-classes").textContent = state.allClasses ? "Show the most plausible" : `Show all ${K} classes`;
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
