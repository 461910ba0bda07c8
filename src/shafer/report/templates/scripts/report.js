// Start of the page: fill the menus, add listeners, draw.
fillPair($("class"), $("over"), drawWaterfall, data.judgeFirst ? "choose a class" : null);
startJudging();
startImage();

function startCase() {
  const scaled = (logOdds) => () => {
    state.logOdds = logOdds;
    $("as-odds").setAttribute("aria-pressed", String(!logOdds));
    $("as-log-odds").setAttribute("aria-pressed", String(logOdds));
    drawWaterfall();
    drawCompared();
  };
  $("as-odds").addEventListener("click", scaled(false));
  $("as-log-odds").addEventListener("click", scaled(true));
  $("reset").addEventListener("click", () => { choose(state.row, false); });
  $("more").addEventListener("click", () => { state.allSliders = true; drawSliders(); });
  $("all-classes").addEventListener("click", () => { state.allClasses = !state.allClasses; drawIntervals(); });
  $("open-what-if").addEventListener("click", () => {
    $("what-if").open = true;
    $("what-if").scrollIntoView({ block: "nearest" });
    (document.querySelector("#sliders input, #sliders select") ?? document.querySelector("#what-if summary")).focus({ preventScroll: true });
  });
  $("new-case")?.addEventListener("click", newCase);
  $("copy").addEventListener("click", copyLink);
  $("print").addEventListener("click", printCase);
  $("advanced").addEventListener("toggle", drawPlane);
}

function startList() {
  $("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const [first] = listed();
    if (first) choose(first, true);
  });
  $("search").addEventListener("input", () => { state.page = 0; drawTable(); drawPlace(); });
  $("previous").addEventListener("click", () => step(-1));
  $("following").addEventListener("click", () => step(1));
  $("sort").addEventListener("change", () => { state.page = 0; state.reversed = false; drawTable(); drawPlace(); });
  document.querySelectorAll("#table th[data-sort]").forEach((head) => head.addEventListener("click", () => {
    state.reversed = $("sort").value === head.dataset.sort && !state.reversed;
    $("sort").value = head.dataset.sort;
    state.page = 0;
    drawTable();
    drawPlace();
  }));
  $("back").addEventListener("click", () => { state.page -= 1; drawTable(); });
  $("forth").addEventListener("click", () => { state.page += 1; drawTable(); });
  $("csv").addEventListener("click", saveCsv);
  $("pin").addEventListener("click", pin);
  $("unpin").addEventListener("click", () => { state.pinned = null; drawCompared(); });
  $("alike").addEventListener("click", drawAlike);
  $("colour").addEventListener("change", drawPlane);
  $("scale").addEventListener("change", drawPlane);
  $("plane").addEventListener("keydown", steer);
  fillPair($("dependence-class"), $("dependence-over"), drawDependence);
  setPair($("dependence-class"), $("dependence-over"), usualPair());
  Cohort.start();
}

// A link such as report.html#case=17, or #case=pat160, opens with that case.
function linked() {
  const asked = decodeURIComponent(window.location.hash.replace(/^#case=/, ""));
  return data.rows.find((row) => rowId(row) === asked);
}

startCase();
if (!data.alone) startList();
measurePlane();
Theme.start();
drawRanking();
drawDependence();
choose(linked() ?? listed()[0], false);
Overview.start();
window.addEventListener("hashchange", () => { const row = linked(); if (row) choose(row, true); });
window.addEventListener("afterprint", () => { delete document.documentElement.dataset.paper; });
Theme.onChange((printing) => {
  state.printing = printing;
  drawPlane();
  drawDependence();
  Overview.draw();
});
window.shafer = { Evidence, Words, Overview, data, state };
document.documentElement.dataset.ready = "true";
