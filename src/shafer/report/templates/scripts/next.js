// What next: what to check, what to measure, what would change the answer. No field's words.
const Next = (() => {
  const MOST_CHANGES = 2;
  const MOST_TRIED = 12; // inputs
  const STEPS = 12; // values of an input that are tried
  const nameOfInput = (input) => Words.shortened(typeof input === "number" ? data.columns[input] : input);

  function measure({ next, missing, overturn }) {
    if (!next) return gaps();
    const chance = overturn < 0.01 ? "less than 1 %" : Odds.chance(overturn);
    const names = next.slice(0, 2).map(([input]) => nameOfInput(input));
    const known = missing === 1 ? "it is known" : "all missing inputs are known";
    return [["Measure", names.join(", then "), `. Once ${known}, the answer changes with a chance of ${chance}.`]];
  }

  // Missing inputs of a model that cannot tell what they would change.
  function gaps() {
    const names = data.columns.filter((_, j) => state.x[j] === null).map((name) => called(name));
    if (!names.length) return [];
    const shown = names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
    return [["", shown, ` ${names.length === 1 ? "is" : "are"} missing. This page cannot tell how much the answer depends on that.`]];
  }

  // A suggested number with as many decimals as the values of its input have.
  function rounded(input, value) {
    const digits = data.whatIf?.inputs[input]?.digits;
    return typeof value === "number" && digits !== undefined ? Number(value.toFixed(digits)) : value;
  }

  function check({ cell }) {
    if (!cell || cell[4] < data.questions.leastStake) return [];
    const [input, given, suggested] = cell;
    const [value, expected] = [Words.shownValue(given), Words.shownValue(rounded(input, suggested))];
    if (value === expected) return [];
    const usual = data.usual[input]?.range && typeof given === "number" && !Odds.isUnusual(input, given);
    return [["Check", nameOfInput(input), `. It is ${value}; the other inputs suggest ${expected}.${usual ? " That is not unusual, so it may be right." : ""}`]];
  }

  // Values of a typed case that are far from those of other cases.
  function outside() {
    return data.columns.map((_, j) => j).filter((j) => Odds.isUnusual(j, state.x[j])).slice(0, MOST_CHANGES)
      .map((j) => ["Check", nameOfInput(j), `. It is ${Words.shownValue(state.x[j])}; ${Odds.usual(j)}.`]);
  }

  const MOST_TIME = 200; // milliseconds for all of them: large trees take long
  let stop = 0;

  const answerWith = (x, j, value) => {
    const changed = [...x];
    changed[j] = value;
    const { weightsFor, weightsAgainst } = weightsOf(state.row, changed);
    const logits = weightsFor.map((w, k) => w - weightsAgainst[k]);
    return Answers.position({ logits, probability: softmax(logits) });
  };

  // The nearest value of one input that changes the answer, or null.
  function change(x, j, answer) {
    const input = data.whatIf.inputs[j];
    const differs = (value) => performance.now() < stop && answerWith(x, j, value) !== answer;
    if (!(input.high > input.low)) {
      const other = input.choices.find((choice) => choice !== x[j] && differs(choice));
      return other === undefined ? null : { j, size: 0.5, value: other, words: `were ${Words.shownValue(other)}`, to: answerWith(x, j, other) };
    }
    if (typeof x[j] !== "number") return null;
    const span = input.high - input.low;
    const tried = Array.from({ length: STEPS + 1 }, (_, step) => input.low + (span * step) / STEPS)
      .sort((a, b) => Math.abs(a - x[j]) - Math.abs(b - x[j]));
    let far = tried.find(differs);
    if (far === undefined) return null;
    let near = x[j];
    for (let step = 0; step < 30; step += 1) {
      const middle = (near + far) / 2;
      if (differs(middle)) far = middle; else near = middle;
    }
    const unit = 10 ** -Math.min(input.digits, Math.max(0, 3 - Math.floor(Math.log10(span))));
    const up = far > x[j];
    // Steps and trees may turn back further on; a line does not.
    const onward = data.whatIf.outcome || input.levels ? "" : up ? " or more" : " or less";
    const value = Number(((up ? Math.ceil(far / unit - 1e-9) : Math.floor(far / unit + 1e-9)) * unit).toFixed(6));
    if (!differs(value) || value > input.high || value < input.low) return null;
    return { j, size: Math.abs(value - x[j]) / span, words: `were ${Words.shownValue(value)}${onward}`, to: answerWith(x, j, value) };
  }

  function changes(answer) {
    if (!data.whatIf) return [];
    stop = performance.now() + MOST_TIME;
    const found = inputOrder().slice(0, MOST_TRIED).map((j) => change(state.x, j, answer)).filter(Boolean);
    found.sort((a, b) => a.size - b.size);
    return found.slice(0, MOST_CHANGES).map(({ j, words, to }) => {
      const input = data.whatIf.inputs[j];
      return ["The model would answer", called(data.classes[to]), ` if ${called(input.name)} ${words} (it is ${Words.shownValue(state.x[j])}).`];
    });
  }

  function sentences() {
    const { row } = state;
    const changed = isChanged(); // then the answers about the row as it was given do not hold
    const asked = changed ? {} : row.questions ?? {};
    const answer = changed ? state.result.answer : row.answer;
    const unusual = !changed && row.typicality < RARE ? [["Ask first", "whether the model applies", ": few of the rows to compare with are like this one."]] : [];
    const found = [...unusual, ...check(asked), ...(row.isNew ? outside() : []), ...measure(asked), ...changes(answer)];
    if (changed ? nearness(state.result) === "Close call" : isClose(row)) found.push(["A close call", "", ": a small change of one strong reason changes the answer. Look for other information before you decide."]);
    return found;
  }

  function draw() {
    clearTimeout(waiting);
    // What is below must not move while a slider is dragged.
    $("next-list").style.minHeight = isChanged() ? `${$("next-list").offsetHeight}px` : "";
    const found = sentences();
    const none = isChanged() ? "No single input would change the answer." : data.whatIf || data.questions.ofInputs
      ? "Nothing stands out: no value looks wrong, none is missing, and no single input would change the answer."
      : "This page cannot tell for this model what to check or to measure.";
    $("next-list").replaceChildren(...(found.length
      ? found.map(([verb, what, rest]) => make("li", {}, verb, verb && what ? " " : "", make("b", {}, what), rest))
      : [make("li", {}, none)]));
  }

  // While a slider moves, the searches wait until it rests.
  let waiting = 0;
  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (!concealed(state.row)) draw(); }, 150);
  }

  return { draw, later };
})();
