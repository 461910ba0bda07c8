// One case: its answer, reasons, what next; its intervals and sets under "Advanced".
function choose(row, travel) {
  state.row = row;
  state.x = [...row.x];
  state.allSliders = false;
  drawSliders();
  update(true);
  const place = listed().indexOf(row);
  if (place >= 0) state.page = Math.floor(place / PER_PAGE);
  drawTable();
  drawPlace();
  drawCompared();
  if (!data.alone) $("similar").hidden = true;
  if (travel) {
    window.history.replaceState(null, "", linkTo(row)); // a link to the case
    $("case").focus({ preventScroll: true });
    $("case").scrollIntoView({ block: "start" });
  }
}
const linkTo = (row) => (row.isNew ? "#case" : `#case=${encodeURIComponent(rowId(row))}`);

// What shows the model's answer about the case.
const ANSWERING = ["answer", "sure", "next", "actions", "verdict", "sentence", "questions", "result", "what-if"];

// The evidence of a row with the inputs x: its weights, and all that follows from them.
function resultOf(row, weights) {
  const plain = Answers.added(Evidence.read(weights.weightsFor, weights.weightsAgainst, data.quadrature, MOST_SETS));
  const weight = weights.weightOfDisagreement(plain.weightOfConflict);
  const whole = {
    ...plain, weightOfDisagreement: weight, disagreement: -Math.expm1(-weight), disputed: weights.disputed(),
  };
  return row.reliability === undefined ? whole : Evidence.discounted(whole, row.reliability);
}

// Draw the case again; `fresh` if it is another one, otherwise its inputs were changed.
function update(fresh) {
  const weights = weightsOf(state.row, state.x);
  const result = resultOf(state.row, weights);
  state.weights = weights;
  state.result = result;
  if (fresh) startComparison(result);
  const changed = state.x.some((value, j) => value !== state.row.x[j]);
  const hidden = concealed(state.row);
  Object.assign($("case").dataset, { row: state.row.i, changed });
  const title = state.row.isNew ? "New case" : state.row.id ?? `Row ${state.row.i}`;
  $("case-title").textContent = changed && !state.row.isNew ? `${title}, changed` : title;
  drawInput();
  drawWaterfall();
  drawJudging();
  for (const id of ANSWERING) if ($(id)) $(id).hidden = hidden;
  drawTruth();
  if (!hidden) drawAnswer(result, changed);
  else hideAnswer();
  if (!hidden) (fresh ? Next.draw : Next.later)();
  if (fresh) drawPlane();
}

// The decided set, or the answer of the user's rule.
const decisionName = ({ decided, answer }) => (data.answerRule ? called(data.classes[answer]) : setName(decided));

// All that shows the model's answer about the instance.
function drawAnswer(result, changed) {
  Object.assign($("case").dataset, {
    ignorance: result.ignorance, conflict: result.conflict, disagreement: result.disagreement,
    decided: result.decided.join(","), answer: result.answer,
  });
  drawChances(result);
  drawDecision(result);
  drawSure(result);
  drawVerdict(result, changed);
  drawSentence(result);
  drawQuestions(changed);
  drawGauge("ignorance", result.ignorance);
  drawGauge("disagreement", result.disagreement);
  drawDisputed(result);
  drawIntervals();
  drawSets();
  $("reset").disabled = !changed;
  // Where the answer has scrolled out of sight of the sliders, a line of it stays.
  $("live").textContent = `${called(data.classes[result.answer])} · ${Odds.chance(result.probability[result.answer])}`;
  if (changed) drawCompared();
}

function hideAnswer() {
  for (const name of ["ignorance", "conflict", "disagreement", "decided", "answer"]) delete $("case").dataset[name];
  for (const id of ["chances", "decision", "sure", "next-list", "verdict", "sentence", "live", "ignorance", "disagreement", "disputed"]) $(id).textContent = "";
  for (const id of ["intervals", "sets"]) $(id).tBodies[0].replaceChildren();
  hideQuestions();
}

function drawSentence(result) {
  const pieces = namedPieces(state.row, state.x);
  const baseRate = pieces.find(({ base }) => base) ?? null;
  const features = pieces.filter((piece) => piece !== baseRate);
  $("sentence").textContent = Words.sentence(result, features, baseRate, data.classes, data.limits);
}

// The two classes in dispute, if there is disagreement; with more than two classes, a way to see it.
function drawDisputed(result) {
  const pair = result.disagreement >= data.limits.lacking ? result.disputed : null;
  if (!pair) { $("disputed").replaceChildren(); return; }
  const names = pair.map((k) => called(data.classes[k])).join(" or ");
  $("disputed").replaceChildren(K === 2 ? `about ${names}` : make("button", {
    type: "button", class: "link", onclick: () => {
      setPair($("class"), $("over"), { a: pair[0], b: pair[1] });
      drawWaterfall();
      $("reasons").scrollIntoView({ block: "nearest" });
    },
  }, `most about ${names}`));
}

function drawVerdict(result, changed) {
  const close = Words.closeCall(result, data.classes, data.limits);
  const word = data.answerRule ? "Answer: " : result.decided.length === 1 ? "Decided: " : "Undecided: ";
  const parts = [close ? "Close call: " : word, make("b", {}, close ? close.replace("close call: ", "") : decisionName(result)), `; probability ${number(result.probability[result.answer])} for ${called(data.classes[result.answer])}`];
  if (data.truth && !changed && !state.row.isNew) {
    parts.push(`; the true class is ${called(data.classes[state.row.truth])}`);
    const open = result.decided.length > 1 && result.decided.includes(state.row.truth);
    if (open) parts.push(", which is left open");
    else if (isWrong(state.row)) parts.push(", so the model is ", make("span", { class: "is-wrong" }, "wrong"));
  }
  $("verdict").replaceChildren(...parts, ".");
}

// Where no component is named after an input, such as for texts, the row itself is shown; also where
// the reader has to judge it.
function drawInput() {
  const nameless = !data.whatIf && data.columns.length > 0 && columnOf.every((column) => column < 0);
  const apart = nameless || (data.judgeFirst && data.columns.length > 0);
  const most = data.judgeFirst ? MOST_JUDGED_INPUTS : MOST_INPUTS;
  $("input").hidden = !apart || data.texts;
  const shown = (value) => (nameless ? value ?? "missing" : Words.shownValue(value));
  const parts = data.columns.slice(0, most).map((name, j) => `${called(name)}: ${shown(state.x[j])}`);
  if (apart) $("input").textContent = parts.join("; ");
}

function drawGauge(id, value) {
  $(id).textContent = number(value);
  $(id).parentElement.querySelector(".fill").style.width = `${100 * value}%`;
}
