// Judge first: the model's answer about a row is hidden until the reader has given one.
const judgements = new Map(); // row number -> class or UNSURE; in memory only
const UNSURE = "unsure";
const MOST_JUDGED_INPUTS = 40; // of a row, in text
const concealed = (row) => data.judgeFirst && !judgements.has(row.i);
const judgementName = (k) => (k === UNSURE ? "cannot tell" : called(data.classes[k]));

// The pair of classes that the bars compare when a row is opened.
function startComparison(result) {
  if (concealed(state.row)) {
    $("class").value = "";
    $("over").value = K > 2 ? REST : "";
    remember($("class"), $("over"));
    $("judgement").value = "";
    return;
  }
  const own = judgements.get(state.row.i) ?? UNSURE;
  const differs = own !== UNSURE && own !== result.answer;
  setPair($("class"), $("over"), { a: result.answer, b: differs ? own : result.rival });
}

function drawJudging() {
  if (!data.judgeFirst) return;
  const hidden = concealed(state.row);
  $("judging").hidden = !hidden;
  $("judging-note").hidden = !hidden;
  $("judged").hidden = hidden;
  $("commit").disabled = $("judgement").value === "";
  $("judged").replaceChildren(...(hidden ? [] : judgedParts()));
}

function judgedParts() {
  const own = judgements.get(state.row.i);
  const { answer, decided, probability } = state.result;
  const parts = ["You: ", make("b", {}, judgementName(own)), ". Model: ", make("b", {}, decisionName(state.result)),
    `, probability ${number(probability[answer])} for ${called(data.classes[answer])}. `];
  if (own === UNSURE) return parts;
  if (decided.length > 1 && !data.answerRule) parts.push(decided.includes(own) ? "The model leaves your answer open." : "The model rules your answer out.");
  else parts.push(own === answer ? "You agree." : "You differ; the bars below compare the two.");
  return parts;
}

function startJudging() {
  if (!data.judgeFirst) return;
  $("judgement").replaceChildren(make("option", { value: "" }, "choose"),
    ...data.classes.map((name, k) => make("option", { value: k }, called(name))),
    make("option", { value: UNSURE }, "I cannot tell"));
  $("judgement").addEventListener("change", () => {
    const own = $("judgement").value;
    // Nobody answers without having seen the evidence for and against the answer.
    if (own !== "" && own !== UNSURE && $("class").value === "") {
      $("class").value = own;
      $("class").dispatchEvent(new Event("change"));
    }
    drawJudging();
  });
  $("judging").addEventListener("submit", (event) => {
    event.preventDefault();
    const own = $("judgement").value;
    if (own === "") return;
    judgements.set(state.row.i, own === UNSURE ? UNSURE : Number(own));
    update(true);
    drawTable();
    $("judged").focus({ preventScroll: true });
    $("case").scrollIntoView({ block: "start" });
  });
}
