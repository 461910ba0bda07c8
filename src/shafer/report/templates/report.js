// The page: the list of instances, one of them in full, and the global view.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const K = data.classes.length;
  const PER_PAGE = 12;
  const MOST_BARS = 14;
  const MOST_INTERVALS = 10;
  const MOST_SLIDERS = 12;
  const MOST_SETS = 8;
  const PALETTE = ["blue", "orange", "green", "pink", "amber", "sky"];
  const $ = (id) => document.getElementById(id);
  const state = {
    row: null, x: [], page: 0, reversed: false, allClasses: false, allSliders: false,
    component: data.ranking[0], printing: false,
  };

  // ---- building elements: every text goes in as text -------------------------------------------

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") Object.assign(element.style, value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value !== null) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null));
    return element;
  }
  const number = (value) => (value !== 0 && Math.abs(value) < 0.0005 ? "<0.001" : value.toFixed(3));
  const signed = (value) => (Math.abs(value) < 0.005 ? "0.00" : (value > 0 ? "+" : "−") + Math.abs(value).toFixed(2));
  const setName = (members) => (members.length > 6
    ? `${members.length} of ${K} classes` : `{${members.map((k) => data.classes[k]).join(", ")}}`);
  const isWrong = (row) => data.truth && row.truth !== row.answer;

  // ---- weights: rebuilt from the inputs, or as stored ------------------------------------------

  const reachedBy = data.components.map(() => []);
  data.whatIf?.inputs.forEach((input, j) =>
    input.components.forEach((g, position) => reachedBy[g].push([j, position])));

  function effect(input, value, position) {
    if (value === null) return input.missing[position];
    if (typeof value === "string") return input.effects[input.choices.indexOf(value)][position];
    return input.slope[position].map((slope) => slope * (value - input.anchor));
  }

  function weightsOf(row, x) {
    if (!data.whatIf) {
      const pieces = row.stored.g.map((g, at) => ({ g, w: row.stored.w[at] }));
      const { weightsFor, weightsAgainst } = Evidence.pool(row.stored.w, K);
      return {
        pieces,
        others: data.components.length - pieces.length,
        othersFor: row.stored.restFor,
        othersAgainst: row.stored.restAgainst,
        weightsFor: weightsFor.map((w, k) => w + row.stored.restFor[k]),
        weightsAgainst: weightsAgainst.map((w, k) => w + row.stored.restAgainst[k]),
      };
    }
    const weights = data.whatIf.base.map((base) => [...base]);
    data.whatIf.inputs.forEach((input, j) => input.components.forEach((g, position) =>
      effect(input, x[j], position).forEach((added, k) => { weights[g][k] += added; })));
    const none = data.classes.map(() => 0);
    return {
      pieces: weights.map((w, g) => ({ g, w })),
      others: 0, othersFor: none, othersAgainst: none,
      ...Evidence.pool(weights, K),
    };
  }

  function weightOf(row, g, k) {
    if (!data.whatIf) {
      const at = row.stored.g.indexOf(g);
      return at < 0 ? null : row.stored.w[at][k];
    }
    return reachedBy[g].reduce(
      (total, [j, position]) => total + effect(data.whatIf.inputs[j], row.x[j], position)[k],
      data.whatIf.base[g][k]);
  }

  const columnOf = data.components.map((name, g) => {
    const at = data.columns.indexOf(name);
    return at < 0 && reachedBy[g].length === 1 ? reachedBy[g][0][0] : at;
  });
  const valueOf = (g, x) => (columnOf[g] < 0 ? "" : Words.shownValue(x[columnOf[g]]));
  function titleOf(g, x) {
    const named = data.columns.includes(data.components[g]);
    return named ? `${data.components[g]} ${valueOf(g, x)}` : data.components[g];
  }

  // ---- the list --------------------------------------------------------------------------------

  const byRow = new Map(data.rows.map((row) => [row.i, row]));
  const haystack = new Map();
  function textOf(row) {
    if (!haystack.has(row.i)) {
      const words = [`row ${row.i}`, ...row.decided.map((k) => data.classes[k])];
      if (data.truth) words.push(data.classes[row.truth], isWrong(row) ? "wrong" : "right");
      row.x.forEach((value, j) => words.push(`${data.columns[j]} ${Words.shownValue(value)}`));
      haystack.set(row.i, words.join("\n").toLowerCase());
    }
    return haystack.get(row.i);
  }
  const KEYS = {
    row: (row) => row.i,
    ignorance: (row) => -row.ignorance,
    conflict: (row) => -row.conflict,
    size: (row) => -row.decided.length,
    wrong: (row) => (isWrong(row) ? -1 - row.p : 0),
  };

  function listed() {
    const asked = $("search").value.trim().toLowerCase();
    const key = KEYS[$("sort").value];
    const found = data.rows.filter((row) => !asked || String(row.i) === asked || textOf(row).includes(asked));
    found.sort((a, b) => key(a) - key(b) || a.i - b.i);
    if (state.reversed) found.reverse();
    // Whoever types the number of a row wants that row first.
    const exact = found.findIndex((row) => String(row.i) === asked);
    return exact > 0 ? [found[exact], ...found.toSpliced(exact, 1)] : found;
  }

  function drawTable() {
    const rows = listed();
    const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const first = state.page * PER_PAGE;
    const shown = rows.slice(first, first + PER_PAGE);
    $("table").tBodies[0].replaceChildren(...shown.map((row) => make("tr", {
      "data-row": row.i,
      "aria-selected": String(state.row === row),
      onclick: () => choose(row, true),
    },
    make("td", {}, make("button", {
      type: "button", "aria-label": `Show row ${row.i}`, onkeydown: (event) => walk(event),
    }, String(row.i))),
    data.truth ? make("td", { class: `clip${isWrong(row) ? " is-wrong" : ""}` },
      data.classes[row.truth], isWrong(row) ? " ✗" : "") : null,
    make("td", { class: "clip" }, setName(row.decided)),
    make("td", { class: "number" }, number(row.p)),
    make("td", { class: "number" }, number(row.ignorance)),
    make("td", { class: "number" }, number(row.conflict)))));
    $("position").textContent = rows.length
      ? `${first + 1}–${first + shown.length} of ${rows.length}` : "No instance matches";
    $("back").disabled = state.page === 0;
    $("forth").disabled = state.page === pages - 1;
    document.querySelectorAll("#table th[data-sort]").forEach((head) => {
      const active = head.dataset.sort === $("sort").value;
      if (!active) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", (head.dataset.sort === "row") !== state.reversed ? "ascending" : "descending");
    });
  }

  function walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...document.querySelectorAll("#table td button")];
    buttons[buttons.indexOf(event.target) + step]?.focus();
  }

  // ---- the plane -------------------------------------------------------------------------------

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

  // ---- one instance ----------------------------------------------------------------------------

  function choose(row, travel) {
    state.row = row;
    state.x = [...row.x];
    state.allSliders = false;
    drawSliders();
    update(true);
    const place = listed().indexOf(row);
    if (place >= 0) state.page = Math.floor(place / PER_PAGE);
    drawTable();
    if (travel) {
      $("instance").focus({ preventScroll: true });
      $("instance").scrollIntoView({ block: "start" });
    }
  }

  function update(redrawPlane) {
    const weights = weightsOf(state.row, state.x);
    const result = Evidence.read(weights.weightsFor, weights.weightsAgainst, data.quadrature, MOST_SETS);
    state.weights = weights;
    state.result = result;
    if (redrawPlane) $("class").value = String(result.answer);
    const changed = state.x.some((value, j) => value !== state.row.x[j]);
    const section = $("instance");
    Object.assign(section.dataset, {
      row: state.row.i, ignorance: result.ignorance, conflict: result.conflict,
      decided: result.decided.join(","), answer: result.answer, changed,
    });
    $("instance-title").textContent = changed ? `Row ${state.row.i}, changed` : `Row ${state.row.i}`;
    drawVerdict(result, changed);
    const pieces = weights.pieces.map(({ g, w }) => ({ title: titleOf(g, state.x), weight: w[result.answer] }));
    $("sentence").textContent = Words.sentence(result, pieces, data.classes, data.limits);
    drawGauge("ignorance", result.ignorance);
    drawGauge("conflict", result.conflict);
    drawWaterfall();
    drawIntervals();
    drawSets();
    $("reset").disabled = !changed;
    // Where the numbers have scrolled out of sight of the sliders, a line of them stays.
    if (data.whatIf) $("live").textContent = `${setName(result.decided)} · p ${number(result.probability[result.answer])} · ignorance ${number(result.ignorance)} · conflict ${number(result.conflict)}`;
    if (redrawPlane) drawPlane();
  }

  function drawVerdict(result, changed) {
    const parts = ["Answer ", make("b", {}, setName(result.decided)), ` with probability ${number(result.probability[result.answer])} for ${data.classes[result.answer]}`];
    if (data.truth && !changed) {
      parts.push(`; the true class is ${data.classes[state.row.truth]}`);
      if (isWrong(state.row)) parts.push(", so the model is ", make("span", { class: "is-wrong" }, "wrong"));
    }
    $("verdict").replaceChildren(...parts, ".");
  }

  function drawGauge(id, value) {
    $(id).textContent = number(value);
    $(id).parentElement.querySelector(".fill").style.width = `${100 * value}%`;
  }

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
      make("td", {}, ...title),
      make("td", {}, make("div", { class: "track" }, mark("zero", place(0)), bar(place(Math.min(from, to)), place(Math.max(from, to)), kind))),
      make("td", {}, signed(weight)));
    $("waterfall").tBodies[0].replaceChildren(
      ...bars.map((entry) => line({ "data-component": entry.g, "data-weight": entry.weight },
        [entry.name, " ", make("span", { class: "value" }, entry.value)],
        entry.from, entry.to, entry.weight < 0 ? "against" : "", entry.weight)),
      line({ class: "sum", "data-weight": running }, ["logit"], 0, running, "total", running));
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
      make("td", {}, data.classes[k]),
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

  // ---- what if ---------------------------------------------------------------------------------

  function drawSliders() {
    if (!data.whatIf) {
      $("what-if-note").textContent = `No sliders: ${data.whyNot}. They need a model that is linear on its raw inputs.`;
      $("reset").hidden = true;
      return;
    }
    $("what-if-note").textContent = "Change an input and read off the evidence. This says what the model would answer, not what would happen.";
    const influence = (input) => Math.max(0, ...input.components.map((g) => data.ranking.indexOf(g)).map((r) => (r < 0 ? 0 : data.ranking.length - r)));
    const order = data.whatIf.inputs.map((_, j) => j)
      .sort((a, b) => influence(data.whatIf.inputs[b]) - influence(data.whatIf.inputs[a]) || a - b);
    const shown = state.allSliders || order.length <= MOST_SLIDERS + 1 ? order : order.slice(0, MOST_SLIDERS);
    $("sliders").replaceChildren(...shown.map(slider));
    $("more").hidden = shown.length === order.length;
    $("more").textContent = `Show all ${order.length} inputs`;
  }

  function slider(j) {
    const input = data.whatIf.inputs[j];
    const id = `input-${j}`;
    const box = make("div", { class: "slider", "data-input": input.name }, make("label", { for: id }, input.name));
    const set = (value, finished) => {
      state.x[j] = value;
      box.classList.toggle("changed", value !== state.row.x[j]);
      update(false);
      if (finished) drawPlane();
    };
    if (input.slope === null) {
      const options = [...input.choices, ...(input.missing ? [null] : [])];
      const menu = make("select", { id, onchange: () => set(options[menu.selectedIndex], true) },
        ...options.map((choice) => make("option", {}, choice ?? "(missing)")));
      menu.selectedIndex = options.indexOf(state.x[j]);
      box.append(menu);
      return box;
    }
    const value = state.x[j];
    const range = make("input", { id, type: "range", min: input.low, max: input.high, step: input.digits ? "any" : 1 });
    const exact = make("input", { type: "number", step: "any", "aria-label": `${input.name}, exact value` });
    range.value = value ?? input.anchor;
    exact.value = value ?? "";
    range.addEventListener("input", () => {
      const rounded = Number(Number(range.value).toFixed(input.digits));
      exact.value = rounded;
      set(rounded, false);
    });
    range.addEventListener("change", () => drawPlane());
    exact.addEventListener("input", () => {
      const typed = exact.value === "" ? (input.missing ? null : undefined) : Number(exact.value);
      if (typed === undefined || Number.isNaN(typed)) return;
      if (typed !== null) range.value = typed;
      set(typed, false);
    });
    exact.addEventListener("change", () => {
      if (exact.value === "") exact.value = state.x[j] ?? "";
      drawPlane();
    });
    box.append(make("div", { class: "row" }, range, exact));
    return box;
  }

  // ---- the components --------------------------------------------------------------------------

  function drawRanking() {
    const means = data.meanWeights.map((values) => values.reduce((a, b) => a + b, 0) / K);
    const most = Math.max(...means) || 1;
    $("ranking").tBodies[0].replaceChildren(...data.ranking.map((g, at) => make("tr", {
      "data-component": g, "aria-selected": String(state.component === g),
      onclick: () => { state.component = g; drawRanking(); drawDependence(); document.querySelector(`#ranking tr[data-component="${g}"] button`).focus({ preventScroll: true }); },
    },
    make("td", {}, make("button", { type: "button" }, data.components[g])),
    make("td", {}, make("div", { class: "track" }, bar(0, means[at] / most))),
    make("td", {}, number(means[at])))));
  }

  function cutoff(g, k) {
    if (!data.whatIf || reachedBy[g].length !== 1) return null;
    const [j, position] = reachedBy[g][0];
    const input = data.whatIf.inputs[j];
    if (input.slope === null || input.slope[position][k] === 0) return null;
    const at = input.anchor - data.whatIf.base[g][k] / input.slope[position][k];
    return at >= input.low && at <= input.high ? at : null;
  }

  function drawDependence() {
    const g = state.component;
    const k = Number($("dependence-class").value);
    const column = columnOf[g];
    const known = data.rows.filter((row) => weightOf(row, g, k) !== null);
    const values = known.map((row) => (column < 0 ? row.i : row.x[column]));
    const numeric = values.every((value) => value === null || typeof value === "number");
    const categories = numeric ? [] : [...new Set(values.map((value) => value ?? "missing"))].sort();
    const points = known.flatMap((row, at) => {
      const value = values[at];
      if (numeric && value === null) return [];
      const jitter = ((at * 0.6180339887498949) % 1) * 0.5 - 0.25;
      const x = numeric ? value : categories.indexOf(value ?? "missing") + jitter;
      const y = weightOf(row, g, k);
      const text = [`row ${row.i}`, `${Charts.cut(data.components[g])} ${Charts.cut(Words.shownValue(value))}`, `weight ${signed(y)}`];
      return [{ x, y, row: row.i, text: text.map(Charts.literal).join("<br>") }];
    });
    const sides = [
      { name: "for", color: "blue", symbol: "circle", points: points.filter(({ y }) => y >= 0) },
      { name: "against", color: "orange", symbol: "circle", points: points.filter(({ y }) => y < 0) },
    ];
    const at = cutoff(g, k);
    const title = column < 0 ? "row" : data.columns[column];
    Charts.scatter($("dependence"), sides, null, {
      xaxis: {
        title: { text: Charts.literal(Charts.cut(title)) }, zeroline: false, showgrid: false,
        ...(numeric ? {} : { tickvals: categories.map((_, c) => c), ticktext: categories.map((c) => Charts.literal(Charts.cut(c, 18))) }),
      },
      yaxis: { title: { text: "weight" } },
      shapes: at === null ? [] : [{ type: "line", x0: at, x1: at, yref: "paper", y0: 0, y1: 1, line: { color: Theme.color("soft"), width: 1, dash: "dash" } }],
      ...paper(),
    }, (i) => choose(byRow.get(i), true));
    $("dependence-title").textContent = data.components[g];
    const notes = [`The weight that ${data.components[g]} gives to ${data.classes[k]}, for each instance shown.`];
    if (at !== null) notes.push(`Its evidence vanishes at ${Words.shownValue(at)}, the dashed line.`);
    if (column < 0) notes.push("It is no single input, so its weights stand in the order of the rows.");
    $("dependence-note").textContent = notes.join(" ");
  }

  // ---- the start -------------------------------------------------------------------------------

  for (const id of ["class", "dependence-class"]) {
    $(id).replaceChildren(...data.classes.map((name, k) => make("option", { value: k }, name)));
  }
  $("dependence-class").value = String(K - 1);
  $("class").addEventListener("change", drawWaterfall);
  $("dependence-class").addEventListener("change", drawDependence);
  $("search").addEventListener("input", () => { state.page = 0; drawTable(); });
  $("sort").addEventListener("change", () => { state.page = 0; state.reversed = false; drawTable(); });
  document.querySelectorAll("#table th[data-sort]").forEach((head) => head.addEventListener("click", () => {
    state.reversed = $("sort").value === head.dataset.sort && !state.reversed;
    $("sort").value = head.dataset.sort;
    state.page = 0;
    drawTable();
  }));
  $("back").addEventListener("click", () => { state.page -= 1; drawTable(); });
  $("forth").addEventListener("click", () => { state.page += 1; drawTable(); });
  $("colour").addEventListener("change", drawPlane);
  $("plane").addEventListener("keydown", steer);
  $("reset").addEventListener("click", () => { choose(state.row, false); });
  $("more").addEventListener("click", () => { state.allSliders = true; drawSliders(); });
  $("all-classes").addEventListener("click", () => { state.allClasses = !state.allClasses; drawIntervals(); });
  Theme.start();
  drawRanking();
  drawDependence();
  choose(listed()[0], false);
  Theme.onChange((printing) => {
    state.printing = printing;
    drawPlane();
    drawDependence();
  });
  window.shafer = { Evidence, data, state };
  document.documentElement.dataset.ready = "true";
})();
