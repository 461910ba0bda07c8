// All instances: components ranked, and the weight of one against its input.
function drawRanking() {
  if (data.alone) return;
  const means = data.meanContrasts;
  const most = Math.max(...means) || 1;
  const all = data.components.length - (data.baseRate === null ? 0 : 1);
  $("ranking-part").textContent = all > means.length ? `; the ${means.length} largest of ${all}` : "";
  $("ranking").tBodies[0].replaceChildren(...data.ranking.map((g, at) => make("tr", {
    "data-component": g, "aria-selected": String(state.component === g),
    onclick: () => { state.component = g; drawRanking(); drawDependence(); document.querySelector(`#ranking tr[data-component="${g}"] button`).focus({ preventScroll: true }); },
  },
  make("td", {}, make("button", { type: "button", ...nameAttributes(data.components[g]) }, called(data.components[g]))),
  make("td", {}, make("div", { class: "track" }, bar(0, means[at] / most))),
  make("td", {}, Odds.factor(means[at])))));
}

// Where the contrast of a component is zero, if it is linear in one input.
function cutoff(g, pair) {
  if (!data.whatIf || data.whatIf.outcome || reachedBy[g].length !== 1) return null;
  const [j, position] = reachedBy[g][0];
  const input = data.whatIf.inputs[j];
  const slope = input.slope === null ? 0 : contrastOf(input.slope[position], pair);
  if (slope === 0) return null;
  const at = input.anchor - contrastOf(data.whatIf.base[g], pair) / slope;
  return at >= input.low && at <= input.high ? at : null;
}

function drawDependence() {
  if (data.alone) return;
  const g = state.component;
  const pair = pairIn($("dependence-class"), $("dependence-over"));
  const column = columnOf[g];
  $("dependence").hidden = column < 0;
  $("dependence-title").textContent = called(data.components[g]);
  if (column < 0) {
    $("dependence-note").textContent = "This is not one column of the table, so there is no curve to show.";
    return;
  }
  const known = data.rows.filter((row) => weightsIn(row, g) !== null);
  const values = known.map((row) => row.cell(column));
  const numeric = values.every((value) => value === null || typeof value === "number");
  const categories = numeric ? [] : [...new Set(values.map((value) => value ?? "missing"))].sort();
  const points = known.flatMap((row, at) => {
    const value = values[at];
    if (numeric && value === null) return [];
    const jitter = ((at * 0.6180339887498949) % 1) * 0.5 - 0.25;
    const x = numeric ? value : categories.indexOf(value ?? "missing") + jitter;
    const y = contrastOf(weightsIn(row, g), pair);
    const text = [rowName(row), `${Charts.cut(data.components[g])} ${Charts.cut(Words.shownValue(value))}`, `log-odds ${signed(y)}`];
    return [{ x, y, row: row.i, lines: text }];
  });
  const sides = [
    { name: "for", color: "blue", symbol: "circle", points: points.filter(({ y }) => y >= 0) },
    { name: "against", color: "orange", symbol: "circle", points: points.filter(({ y }) => y < 0) },
  ];
  const at = cutoff(g, pair);
  Charts.scatter($("dependence"), sides, null, {
    x: { title: Charts.cut(data.columns[column]), grid: false, ...(numeric ? {} : { names: categories.map((c) => Charts.cut(c, 18)) }) },
    y: { title: `log-odds, ${Charts.cut(nameOf(pair.a), 20)} over ${Charts.cut(nameOf(pair.b), 20)}` },
    dashed: at,
    ...paper(),
  }, (i) => choose(byRow.get(i), true));
  const notes = [`How ${called(data.components[g])} moves the answer between ${nameOf(pair.a)} (up, blue) and ${nameOf(pair.b)} (down, orange), one point for each case. A step of 1 on the vertical axis multiplies the odds by 2.7.`];
  if (at !== null) notes.push(`At ${Words.shownValue(at)}, the dashed line, it turns from a reason for the one into a reason for the other. The answer need not change there.`);
  $("dependence-note").textContent = notes.join(" ");
}

// The pair of classes that the model has to tell apart most often.
function usualPair() {
  if (K === 2) return { a: data.asked, b: 1 - data.asked };
  const counts = new Map();
  for (const row of data.rows) {
    const { weightsFor, weightsAgainst } = weightsOf(row, row.x);
    const rival = Evidence.mostBut(weightsFor.map((w, k) => w - weightsAgainst[k]), row.answer);
    const key = `${row.answer},${rival}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const [[most]] = [...counts].sort((x, y) => y[1] - x[1]);
  const [a, b] = most.split(",").map(Number);
  return { a, b };
}
