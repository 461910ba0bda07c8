// The cohort: the cases that the filters leave.
const Cohort = (() => {
  const columns = () => [
    ...(data.judgeFirst ? [] : [{ name: "answer", of: (row) => data.classes[row.answer] }]),
    ...(data.truth && !data.judgeFirst ? [{ name: "true class", of: (row) => data.classes[row.truth] },
      { name: "right or wrong", of: (row) => (isWrong(row) ? "wrong" : "right") }] : []),
    ...(data.judgeFirst ? [] : [{ name: "close call", of: (row) => (isClose(row) ? "yes" : "no") }]),
    ...(data.promise && !data.judgeFirst ? [{ name: "left to a person", of: (row) => (row.deferred ? "yes" : "no") }] : []),
    ...data.columns.map((name, j) => ({ name, of: (row) => row.cell(j), input: true })),
  ];
  let all = null;
  let filters = []; // [{ text, keeps }]
  const known = () => (all ??= columns());
  const isNumeric = ({ of, input }) => input && data.rows.every((row) => { const v = of(row); return v === null || typeof v === "number"; });

  function valuesOf(column) {
    return [...new Set(data.rows.map((row) => column.of(row) ?? "(missing)"))].map(String).sort();
  }

  function drawFields() {
    const column = known()[$("filter-column").selectedIndex];
    const numeric = isNumeric(column);
    $("filter-numbers").hidden = !numeric;
    $("filter-texts").hidden = numeric;
    if (!numeric) $("filter-value").replaceChildren(...valuesOf(column).slice(0, 500).map((value) => make("option", { value }, called(value))));
  }

  function added() {
    const column = known()[$("filter-column").selectedIndex];
    const name = called(column.name);
    if (!isNumeric(column)) {
      const value = $("filter-value").value;
      return { text: `${name}: ${called(value)}`, keeps: (row) => String(column.of(row) ?? "(missing)") === value };
    }
    const [low, high] = ["filter-low", "filter-high"].map((id) => ($(id).value === "" ? null : Number($(id).value)));
    if (low === null && high === null) return null;
    const text = low === null ? `${name} at most ${high}` : high === null ? `${name} at least ${low}` : `${name} from ${low} to ${high}`;
    return { text, keeps: (row) => { const v = column.of(row); return v !== null && (low === null || v >= low) && (high === null || v <= high); } };
  }

  function changed() {
    $("filters").replaceChildren(...filters.map((filter) => make("button", {
      type: "button", class: "chip", "aria-label": `Remove the filter ${filter.text}`,
      onclick: () => { filters = filters.filter((other) => other !== filter); changed(); },
    }, `${filter.text} ✕`)));
    state.page = 0;
    drawTable();
    drawPlace();
    Overview.draw();
  }

  function start() {
    $("filter").hidden = known().length === 0;
    if (!known().length) return;
    $("filter-column").replaceChildren(...known().map(({ name }) => make("option", {}, called(name))));
    $("filter-column").addEventListener("change", drawFields);
    $("filter").addEventListener("submit", (event) => {
      event.preventDefault();
      const filter = added();
      if (filter) filters.push(filter);
      changed();
    });
    drawFields();
  }

  const keeps = (row) => filters.every((filter) => filter.keeps(row));
  const text = () => filters.map((filter) => filter.text).join("; ");
  return { start, keeps, text, isWhole: () => filters.length === 0 };
})();
