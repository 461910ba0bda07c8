// What-if sliders: one for each raw input.
function drawSliders() {
  if (!data.whatIf) {
    $("what-if-note").textContent = `No sliders: ${data.whyNot}.`;
    $("reset").hidden = true;
    return;
  }
  $("what-if-note").textContent = "Change an input to see how the evidence changes. This shows what the model would answer, not what would happen to a person or thing." + (data.baseRate === null ? "" : " No input changes the starting point.") + (data.questions.ofInputs && !state.row.isNew ? " A small triangle marks the value that the other inputs of the row suggest." : "");
  const order = inputOrder();
  const shown = state.allSliders || order.length <= MOST_SLIDERS + 1 ? order : order.slice(0, MOST_SLIDERS);
  $("sliders").replaceChildren(...shown.map(slider));
  $("more").hidden = shown.length === order.length;
  $("more").textContent = `Show all ${order.length} inputs`;
}

// The inputs, those that move the answers most first.
function inputOrder() {
  const { ranking, whatIf: { inputs } } = data;
  const influence = (input) => Math.max(0, ...input.components.map((g) => ranking.indexOf(g)).map((r) => (r < 0 ? 0 : ranking.length - r)));
  return inputs.map((_, j) => j).sort((a, b) => influence(inputs[b]) - influence(inputs[a]) || a - b);
}

function slider(j) {
  const input = data.whatIf.inputs[j];
  const id = `input-${j}`;
  const box = make("div", { class: "slider", "data-input": input.name }, make("label", { for: id, ...nameAttributes(input.name) }, called(input.name)));
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
    const suggested = expectedValue(input);
    if (suggested !== null) box.append(make("span", { class: "note" }, `suggested by the other inputs: ${Words.shownValue(suggested)}`));
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
  box.append(make("div", { class: "row" }, withTick(range, input), exact));
  return box;
}

// The value of an input that the other inputs of the row suggest; null if it is not known.
function expectedValue(input) {
  const at = data.columns.indexOf(input.name);
  return state.row.expected?.[at] ?? null;
}

// A slider with a tick at the expected value, if that lies on it.
function withTick(range, input) {
  const expected = expectedValue(input);
  const place = (expected - input.low) / (input.high - input.low);
  if (typeof expected !== "number" || !(place >= 0 && place <= 1)) return range;
  const text = `${Words.shownValue(expected)} is suggested by the other inputs`;
  range.setAttribute("aria-description", text);
  // The middle of the thumb does not reach the ends of the slider.
  const left = `calc(var(--thumb) / 2 + (100% - var(--thumb)) * ${place})`;
  return make("span", { class: "ticked", title: text }, range,
    make("i", { class: "expected", "data-expected": expected, style: { left } }));
}
