// A pinned case beside the one that is open, and the cases most like it.
const MOST_COMPARED = 12;
const MOST_ALIKE = 8;
const APART = Math.log(1.25); // reasons that differ by this factor are marked

// The weights of a case by component.
const weightsBy = (weights) => new Map(weights.pieces.map(({ g, w }) => [g, w]));

function pin() {
  state.pinned = { row: state.row, x: [...state.x], weights: state.weights, result: state.result };
  drawCompared();
  tell("Pinned. Choose another case, or change an input, to compare.");
}

function comparedCells(pinned, pair) {
  const [here, there] = [weightsBy(state.weights), weightsBy(pinned.weights)];
  const none = data.classes.map(() => 0);
  return [...new Set([...here.keys(), ...there.keys()])].filter((g) => g !== data.baseRate).map((g) => {
    const [one, two] = [here, there].map((weights) => contrastOf(weights.get(g) ?? none, pair));
    return { g, one, two, gap: Math.abs(one - two), values: [state.x, pinned.x].map((x) => valueOf(g, x)) };
  }).sort((a, b) => b.gap - a.gap || a.g - b.g);
}

const caseName = (row) => (row.isNew ? "new case" : rowName(row));

function drawCompared() {
  if (data.alone) return;
  const { pinned } = state;
  $("pin").textContent = pinned ? "Pin this case instead" : "Pin and compare";
  $("compare").hidden = !pinned || concealed(state.row) || concealed(pinned.row);
  if ($("compare").hidden) return;
  const { answer, rival } = state.result;
  const pair = { a: answer, b: pinned.result.answer === answer ? rival : pinned.result.answer };
  const cells = comparedCells(pinned, pair);
  const shown = cells.slice(0, MOST_COMPARED);
  const names = [caseName(state.row) + (isChanged() && !state.row.isNew ? ", changed" : ""), `${caseName(pinned.row)}, pinned`];
  $("compare-title").textContent = `${names[0]} beside ${names[1]}`;
  $("compare-note").textContent = `Marked reasons differ by a factor of 1.25 or more. Factors are for the odds of ${nameOf(pair.a)} against ${nameOf(pair.b)}.`;
  $("compared").tHead.replaceChildren(
    make("tr", {}, make("th", { scope: "col" }, "Input"), ...names.map((name) => make("th", { scope: "col", colspan: 2 }, name))));
  const answers = [state.result, pinned.result].map((result) => make("td", { colspan: 2 }, make("b", {}, called(data.classes[result.answer]))));
  const chances = [state.result, pinned.result].map((result) => make("td", { colspan: 2 }, Odds.chance(result.probability[pair.a])));
  $("compared").tBodies[0].replaceChildren(make("tr", { class: "sum" }, make("th", { scope: "row" }, "Answer"), ...answers),
    make("tr", {}, make("th", { scope: "row" }, `Probability of ${called(data.classes[pair.a])}`), ...chances),
    ...shown.map(({ g, one, two, gap, values }) => make("tr", {
      "data-component": g, "data-gap": gap, class: gap >= APART ? "differs" : false,
    }, make("th", { scope: "row", ...nameAttributes(data.components[g]) }, called(data.components[g])),
    make("td", {}, values[0]), make("td", { class: "number" }, Odds.shown(one)),
    make("td", {}, values[1]), make("td", { class: "number" }, Odds.shown(two)))));
}

// How far apart the reasons of two cases are: the length of the difference of their weights.
function distance(one, two) {
  let [total, most, where] = [0, 0, null];
  for (const g of new Set([...one.keys(), ...two.keys()])) {
    if (g === data.baseRate) continue;
    const [a, b] = [one.get(g), two.get(g)];
    let own = 0;
    for (let k = 0; k < K; k += 1) own += ((a ? a[k] : 0) - (b ? b[k] : 0)) ** 2;
    total += own;
    if (own > most) [most, where] = [own, g];
  }
  return { far: Math.sqrt(total), where };
}

function alike() {
  const here = weightsBy(isChanged() ? state.weights : weightsOf(state.row, state.row.x)); // as those of the others
  return data.rows.filter((row) => row !== state.row && Cohort.keeps(row))
    .map((row) => ({ row, ...distance(here, weightsBy(weightsOf(row, row.x))) }))
    .sort((a, b) => a.far - b.far || a.row.i - b.row.i).slice(0, MOST_ALIKE);
}

function drawAlike() {
  const found = alike();
  $("similar").hidden = false;
  $("similar-title").textContent = `Most like ${caseName(state.row)}`;
  const same = found.filter(({ row }) => row.answer === state.result.answer).length;
  const own = called(data.classes[state.result.answer]);
  const truth = data.truth ? ` ${found.filter(({ row }) => row.truth === state.result.answer).length} of the ${found.length} are truly ${own}.` : "";
  const told = data.judgeFirst ? "" : ` The model answers ${own} for ${same} of ${found.length}.${truth}`;
  $("similar-note").textContent = `Cases with the most similar reasons${Cohort.isWhole() ? "" : " in this cohort"}, the most similar first.${told}`;
  $("similar-table").tBodies[0].replaceChildren(...found.map(({ row, far, where }) => make("tr", { "data-row": row.i, "data-distance": far },
    make("td", {}, make("a", { href: linkTo(row), onclick: (event) => { event.preventDefault(); choose(row, true); } }, rowId(row))),
    ...(concealed(row) ? ["–", "–", ...(data.truth ? ["–"] : [])].map((text) => make("td", {}, text)) : [
      make("td", {}, called(data.classes[row.answer])), make("td", { class: "number" }, Odds.chance(row.p)),
      data.truth ? make("td", { class: isWrong(row) ? "is-wrong" : "" }, isWrong(row) ? "✗ " : "", called(data.classes[row.truth])) : null]),
    make("td", {}, where === null ? "nothing" : `${called(data.components[where])} ${valueOf(where, row.x)}`))));
  $("similar-title").focus({ preventScroll: true });
  $("similar").scrollIntoView({ block: "nearest" });
}

// A case of the reader's own: it starts from typical values.
function newCase() {
  const x = data.whatIf.inputs.map((input, j) => {
    const typical = data.usual[j].typical;
    return input.choices.length && !input.choices.includes(typical) ? input.choices[0] : typical;
  });
  choose({ i: -1, isNew: true, x, answer: null, even: false }, true);
  $("what-if").open = true;
  document.querySelector("#sliders input, #sliders select")?.focus();
}

function tell(text) {
  $("told").textContent = text;
}

async function copyLink() {
  const address = `${window.location.href.split("#")[0]}${linkTo(state.row)}`;
  try {
    await navigator.clipboard.writeText(address);
    tell("The link is copied.");
  } catch {
    tell(address); // to copy by hand
  }
}

// One page: the case, without the rest.
function printCase() {
  document.documentElement.dataset.paper = "case";
  window.print();
}
