// The list of cases: search, sort, pages, and a file of what is listed.
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
// Whether another answer is hardly less probable. Least expected losses have no close calls.
const isNear = (margin) => margin < data.limits.close && !data.answerRule?.regret;
const isClose = (row) => isNear(row.closeness);
const KEYS = {
  row: (row) => row.i,
  closeness: (row) => row.closeness,
  p: (row) => -row.p,
  typicality: (row) => row.typicality,
  wrong: (row) => (isWrong(row) ? -1 - row.p : 0),
};
const ASCENDING = ["row", "closeness", "typicality"];

function listed() {
  if (data.alone) return data.rows;
  const asked = $("search").value.trim().toLowerCase();
  const key = KEYS[$("sort").value];
  const found = data.rows.filter((row) => Cohort.keeps(row) && (!asked || rowId(row).toLowerCase() === asked || textOf(row).includes(asked)));
  found.sort((a, b) => key(a) - key(b) || a.i - b.i);
  if (state.reversed) found.reverse();
  // A row number, or an id, finds that row first.
  const exact = found.findIndex((row) => rowId(row).toLowerCase() === asked);
  return exact > 0 ? [found[exact], ...found.toSpliced(exact, 1)] : found;
}

// The case's place among those that are listed, and the way to its neighbours.
function drawPlace() {
  if (data.alone) return;
  const rows = listed();
  const at = rows.indexOf(state.row);
  const all = `${rows.length.toLocaleString("en")} ${rows.length === 1 ? "case" : "cases"}`;
  $("place").textContent = at < 0 ? all : `${(at + 1).toLocaleString("en")} of ${all}`;
  $("previous").disabled = at <= 0;
  $("following").disabled = at === rows.length - 1 || rows.length === 0;
}
function step(by) {
  const rows = listed();
  const to = rows[rows.indexOf(state.row) + by];
  if (to) { choose(to, false); window.history.replaceState(null, "", linkTo(to)); }
}

// The reader's answer, the model's answer, its probability, how near another answer is, the true class.
function answerCells(row) {
  const hidden = concealed(row);
  const wrong = !hidden && isWrong(row);
  const own = data.judgeFirst ? [hidden ? "–" : judgementName(judgements.get(row.i))] : [];
  return [
    ...own.map((text) => make("td", { class: "clip" }, text)),
    make("td", { class: "clip" }, hidden ? "–" : called(data.classes[row.answer])),
    make("td", { class: "number" }, hidden ? "–" : Odds.chance(row.p)),
    data.judgeFirst ? null : make("td", { class: "number" }, `${isClose(row) ? "close " : ""}${(100 * row.closeness).toFixed(1)}`),
    data.truth ? make("td", { class: `clip${wrong ? " is-wrong" : ""}` },
      wrong ? "✗ " : "", hidden ? "–" : called(data.classes[row.truth])) : null,
    row.typicality === undefined ? null : make("td", { class: "number input" }, row.typicality < RARE ? `unusual ${row.typicality.toFixed(3)}` : row.typicality.toFixed(2)),
  ];
}

// The inputs of the table: those that move the answers most.
const MOST_COLUMNS = 3;
let shownColumns = null;
const isNumeric = (j) => data.rows.some((row) => typeof row.cell(j) === "number");
function tableColumns() {
  if (!shownColumns) {
    const first = data.ranking.map((g) => columnOf[g]).filter((j) => j >= 0);
    shownColumns = [...new Set([...first, ...data.columns.keys()])].slice(0, MOST_COLUMNS);
    document.querySelectorAll("#table th[data-input]").forEach((head, at) => {
      if (shownColumns[at] === undefined) head.remove();
      else {
        head.textContent = called(data.columns[shownColumns[at]]);
        head.classList.toggle("number", isNumeric(shownColumns[at]));
      }
    });
  }
  return shownColumns;
}

function drawTable() {
  if (data.alone) return;
  const rows = listed();
  const pages = Math.max(1, Math.ceil(rows.length / PER_PAGE));
  state.page = Math.min(Math.max(state.page, 0), pages - 1);
  const first = state.page * PER_PAGE;
  const shown = rows.slice(first, first + PER_PAGE);
  const numeric = data.columns.map((_, j) => tableColumns().includes(j) && isNumeric(j));
  $("table").tBodies[0].replaceChildren(...shown.map((row) => make("tr", {
    "data-row": row.i,
    "aria-selected": String(state.row === row),
    onclick: () => choose(row, true),
  },
  make("td", {}, make("button", {
    type: "button", "aria-label": `Show ${rowName(row)}`, onkeydown: (event) => walk(event),
  }, rowId(row))),
  ...answerCells(row),
  ...tableColumns().map((j) => make("td", { class: numeric[j] ? "input clip number" : "input clip" }, Words.shownValue(row.cell(j)))))));
  $("position").textContent = rows.length
    ? `${first + 1}–${first + shown.length} of ${rows.length.toLocaleString("en")}` : "No case matches";
  $("back").disabled = state.page === 0;
  $("forth").disabled = state.page === pages - 1;
  document.querySelectorAll("#table th[data-sort]").forEach((head) => {
    const active = head.dataset.sort === $("sort").value;
    if (!active) head.removeAttribute("aria-sort");
    else head.setAttribute("aria-sort", ASCENDING.includes(head.dataset.sort) !== state.reversed ? "ascending" : "descending");
  });
}

function walk(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const buttons = [...document.querySelectorAll("#table td button")];
  buttons[buttons.indexOf(event.target) + step]?.focus();
}

// A text that a spreadsheet would take for a formula gets an apostrophe.
function csvCell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function csvOf(rows) {
  const own = !data.judgeFirst;
  const heads = ["case", ...(own ? ["answer", "probability", "from_another_answer"] : []), ...(data.truth && own ? ["true_class"] : []),
    ...(rows[0]?.typicality === undefined ? [] : ["typicality"]), ...data.columns];
  const lines = rows.map((row) => [rowId(row), ...(own ? [data.classes[row.answer], row.p, row.closeness] : []),
    ...(data.truth && own ? [data.classes[row.truth]] : []), ...(row.typicality === undefined ? [] : [row.typicality]), ...row.x]);
  return [heads, ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n");
}
function saveCsv() {
  const link = make("a", { href: URL.createObjectURL(new Blob([csvOf(listed())], { type: "text/csv" })), download: "cases.csv" });
  link.click();
  URL.revokeObjectURL(link.href);
}
