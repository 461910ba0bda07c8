// The text of an instance, its words marked for and against: text nodes only, never markup.
const WEAKEST = 0.04; // of the strongest word: what is weaker is not coloured

function wordMark(text, weight, strongest) {
  const strength = strongest ? Math.min(Math.abs(weight) / strongest, 1) : 0;
  const side = strength < WEAKEST ? "" : weight > 0 ? " favours" : " opposes";
  const element = make("span", { class: `word${side}`, "data-weight": weight, title: signed(weight) }, text);
  element.style.setProperty("--strength", strength.toFixed(3));
  return element;
}

function textPart(part, pair, strongest) {
  if (typeof part === "string") return part;
  const [text, weights] = part;
  if (weights === undefined) return make("span", { class: "silent", title: "no weight: a stop word, or not known to the model" }, text);
  const weight = pair ? contrastOf(weights, pair) : 0;
  if (typeof text === "number") {
    return make("span", { class: "silent", "data-weight": weight }, ` [… ${text.toLocaleString("en")} words left out${pair ? `: ${signed(weight)} in total` : ""} …] `);
  }
  return pair ? wordMark(text, weight, strongest) : text;
}

// The sum: base rate, words of the text, words that are not in it, all other inputs.
function textSum(entry, pair) {
  const inside = entry.parts.reduce((total, part) => (part[1] && typeof part !== "string" ? total + contrastOf(part[1], pair) : total), 0)
    + (entry.unlocated ? contrastOf(entry.unlocated, pair) : 0);
  const terms = [["base rate", contrastOf(entry.baseRate, pair)], ["words of this text", inside], ["words that are not in this text", contrastOf(entry.absent, pair)]];
  if (entry.others) terms.push(["other inputs", contrastOf(entry.others, pair)]);
  const total = terms.reduce((sum, [, weight]) => sum + weight, 0);
  return concealed(state.row) ? terms.slice(0, 3).map(([name, weight]) => `${name} ${signed(weight)}`).join("; ")
    : `${terms.map(([name, weight]) => `${name} ${signed(weight)}`).join(" + ")} = ${signed(total)}`;
}

function textEntry(entry, pair) {
  const size = (part) => (typeof part !== "string" && typeof part[0] === "string" && part[1] ? Math.abs(contrastOf(part[1], pair)) : 0);
  const strongest = pair ? Math.max(0, ...entry.parts.map(size)) : 0;
  const empty = entry.parts.every((part) => typeof part === "string" && !part.trim());
  const shown = empty ? [make("span", { class: "silent" }, "(the text is empty)")] : entry.parts.map((part) => textPart(part, pair, strongest));
  const notes = [];
  if (pair && (state.logOdds || concealed(state.row))) notes.push(make("p", { class: "note" }, textSum(entry, pair), strongest ? `. Strongest colour: ±${strongest < 0.1 ? strongest.toPrecision(2) : strongest.toFixed(2)}.` : "."));
  if (entry.unlocatedWords.length) notes.push(make("p", { class: "note" }, `The places of these words were not found, because the model uses an analyzer, tokenizer or preprocessor of its own: ${entry.unlocatedWords.join(", ")}.`));
  return make("div", {}, entry.column === null ? null : make("h4", {}, called(entry.column)),
    make("div", { class: "marked-text", dir: "auto" }, ...shown), ...notes);
}

function drawTexts(pair) {
  if (!data.texts) return;
  const changed = state.x.some((value, j) => value !== state.row.x[j]);
  $("texts").hidden = changed; // the marks belong to the text as it was
  $("text-list").replaceChildren(...state.row.texts.map((entry) => textEntry(entry, pair)));
  $("text-note").textContent = pair ? `Blue words with a solid line favour ${nameOf(pair.a)}, orange words with a dashed line favour ${nameOf(pair.b)}. Grey words have no weight. Reasons are measured from the average text, so a word that is rarer here than there, or not in the text, can be a reason too.` : "";
}
