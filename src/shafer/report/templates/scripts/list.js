// The list of instances: search, sort, pages.
// A row is called by its id, if the rows have ids.
const rowId = (row) => row.id ?? String(row.i);
const rowName = (row) => row.id ?? `row ${row.i}`;
const byRow = new Map(data.rows.map((row) => [row.i, row]));
const haystack = new Map();
function textOf(row) {
  if (!haystack.has(row.i)) {
    const words = [rowName(row)];
    // A search must not find what the page hides.
    if (!data.judgeFirst) words.push(...row.decided.map((k) => data.classes[k]));
    if (data.truth && !data.judgeFirst) words.push(data.classes[row.truth], isWrong(row) ? "wrong" : "right");
    row.x.forEach((value, j) => words.push(`${data.columns[j]} ${Words.shownValue(value)}`));
    haystack.set(row.i, words.join("\n").toLowerCase());
  }
  return haystack.get(row.i);
}
const KEYS = {
  row: (row) => row.i,
  ignorance: (row) => -row.ignorance,
  disagreement: (row) => -row.weightOfDisagreement,
  size: (row) => -row.decided.length,
  wrong: (row) => (isWrong(row) ? -1 - row.p : 0),
};

function listed() {
  const asked = $("search").value.trim().toLowerCase();
  const key = KEYS[$("sort").value];
  const found = data.rows.filter((row) => !asked || rowId(row).toLowerCase() === asked || textOf(row).includes(asked));
  found.sort((a, b) => key(a) - key(b) || a.i - b.i);
  if (state.reversed) found.reverse();
  // A row number, or an id, finds that row first.
  const exact = found.findIndex((row) => rowId(row).toLowerCase() === asked);
  return exact > 0 ? [found[exact], ...found.toSpliced(exact, 1)] : found;
}

// The reader's answer, the true class, the model's answer and its probability.
function answerCells(row) {
  const hidden = concealed(row);
  const wrong = !hidden && isWrong(row);
  const own = data.judgeFirst ? [hidden ? "–" : judgementName(judgements.get(row.i))] : [];
  return [
    ...own.map((text) => make("td", { class: "clip" }, text)),
    data.truth ? make("td", { class: `clip${wrong ? " is-wrong" : ""}` },
      hidden ? "–" : called(data.classes[row.truth]), wrong ? " ✗" : "") : null,
    make("td", { class: "clip" }, hidden ? "–" : row.close || decisionName(row)),
    make("td", { class: "number" }, hidden ? "–" : number(row.p)),
  ];
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
    type: "button", "aria-label": `Show ${rowName(row)}`, onkeydown: (event) => walk(event),
  }, rowId(row))),
  ...answerCells(row),
  make("td", { class: "number" }, number(row.ignorance)),
  make("td", { class: "number" }, number(row.disagreement)))));
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
