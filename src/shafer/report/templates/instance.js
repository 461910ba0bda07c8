// One instance: its sentence, weights, intervals and sets.
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
  const plain = Evidence.read(weights.weightsFor, weights.weightsAgainst, data.quadrature, MOST_SETS);
  const result = state.row.reliability === undefined ? plain : Evidence.discounted(plain, state.row.reliability);
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
  drawInput();
  const pieces = weights.pieces.map(({ g, w }) => ({ title: titleOf(g, state.x), weights: w }));
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
  const parts = [result.decided.length === 1 ? "Decided: " : "Undecided: ", make("b", {}, setName(result.decided)), `; probability ${number(result.probability[result.answer])} for ${called(data.classes[result.answer])}`];
  if (data.truth && !changed) {
    parts.push(`; the true class is ${called(data.classes[state.row.truth])}`);
    const open = result.decided.length > 1 && result.decided.includes(state.row.truth);
    if (open) parts.push(", which is left open");
    else if (isWrong(state.row)) parts.push(", so the model is ", make("span", { class: "is-wrong" }, "wrong"));
  }
  $("verdict").replaceChildren(...parts, ".");
}

// Where no component is named after an input, such as for texts, the row itself is shown.
function drawInput() {
  const apart = !data.whatIf && data.columns.length > 0 && columnOf.every((column) => column < 0);
  $("input").hidden = !apart;
  const parts = data.columns.slice(0, MOST_INPUTS).map((name, j) => `${called(name)}: ${state.x[j] ?? "missing"}`);
  if (apart) $("input").textContent = parts.join("; ");
}

function drawGauge(id, value) {
  $(id).textContent = number(value);
  $(id).parentElement.querySelector(".fill").style.width = `${100 * value}%`;
}
