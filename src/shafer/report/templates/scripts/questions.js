// What to do about an instance, as shafer/asking/sentences.py writes it.
const Questions = (() => {
  const chance = (value) => {
    if (value < 0.01) return "less than 1 %";
    return value > 0.99 ? "more than 99 %" : `${Math.floor(100 * value + 0.5)} %`;
  };
  function decimals(value, digits) {
    const least = 10 ** -digits;
    if (value > 0 && value < 0.5 * least) return `less than ${least}`;
    return value >= 1e6 ? Words.shownValue(value) : value.toFixed(digits);
  }
  const inputName = (input) => Words.shortened(typeof input === "number" ? data.columns[input] : input);

  function settle(asked, answer) {
    if (!asked.next) return "";
    const [[first, information], ...others] = asked.next;
    const [name, gain] = [inputName(first), `${decimals(information, 3)} nats`];
    const more = others.map(([input, value]) => `${inputName(input)} (${decimals(value, 3)})`).join(" and ");
    const one = asked.missing === 1;
    const start = one ? `Only ${name} is missing; it would tell ${gain} about the class`
      : `Of the ${asked.missing} missing inputs, ${name} would tell most about the class (${gain})${more ? `, then ${more}` : ""}`;
    const known = one ? "once it is known" : "once all are known";
    const label = Words.shortened(data.classes[asked.answer]);
    if (asked.answer === answer) return `${start}; ${known}, the answer (${label}) changes with a chance of ${chance(asked.overturn)}.`;
    return `${start}; with expected values in ${one ? "its" : "their"} place the answer is ${label}, not ${Words.shortened(data.classes[answer])}, and ${known}, that changes with a chance of ${chance(asked.overturn)}.`;
  }

  function stand(asked) {
    const { ofInputs, lost } = data.questions;
    if (ofInputs && !asked.cell) return "No input is known, so none can be lost.";
    const [what, by] = ofInputs ? ["known input", "expected value given the others"] : ["component", "mean over the background data"];
    return `If each ${what} were lost with a chance of ${chance(lost)} and replaced by its ${by}, the answer (${Words.shortened(data.classes[asked.answer])}) would change with a chance of ${chance(asked.fragility)}.`;
  }

  function check(asked) {
    if (!asked.cell) return "";
    const [input, given, suggested, surprise, stake] = asked.cell;
    const [value, expected] = [Words.shownValue(given), Words.shownValue(suggested)];
    const apart = value === expected ? `it is ${value}, as the other inputs suggest`
      : `it is ${value}, and the other inputs suggest ${expected}, ${decimals(surprise, 1)} standard deviations away`;
    const [name, nats] = [inputName(input), `${decimals(stake, 3)} nats`];
    if (stake < data.questions.leastStake) return `No value stands out; most is at stake with ${name} (${nats}): ${apart}.`;
    return `If you check one value, check ${name} (${nats} at stake): ${apart}.`;
  }

  return { settle, stand, check };
})();

function drawQuestions(changed) {
  const asked = state.row.questions;
  $("questions").hidden = !asked;
  if (!asked) return;
  const texts = { settle: Questions.settle(asked, state.row.answer), stand: Questions.stand(asked), check: Questions.check(asked) };
  for (const [name, text] of Object.entries(texts)) {
    $(name).textContent = text;
    $(name).parentElement.hidden = !text;
  }
  $("questions-note").hidden = !changed;
}

function hideQuestions() {
  for (const name of ["settle", "stand", "check"]) $(name).textContent = "";
}
