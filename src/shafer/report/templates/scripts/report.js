// Start of the page: fill the menus, add listeners, draw.
fillPair($("class"), $("over"), drawWaterfall, data.judgeFirst ? "choose a class" : null);
fillPair($("dependence-class"), $("dependence-over"), drawDependence);
setPair($("dependence-class"), $("dependence-over"), usualPair());
startJudging();
startImage();
$("search").addEventListener("input", () => { state.page = 0; drawTable(); });
$("sort").addEventListener("change", () => { state.page = 0; state.reversed = false; drawTable(); });
document.querySelectorAll("#table th[data-sort]").forEach((head) => head.addEventListener("click", () => {
  state.reversed = $("sort").value === head.dataset.sort && !state.reversed;
  $("sort").value = head.dataset.sort;
  state.page = 0;
  drawTable();
}));
$("back").addEventListener("click", () => { state.page -= 1; drawTable(); });
$("forth").addEventListener("click", () => { state.page += 1; drawTable(); });
$("colour").addEventListener("change", drawPlane);
$("scale").addEventListener("change", drawPlane);
measurePlane();
$("plane").addEventListener("keydown", steer);
$("reset").addEventListener("click", () => { choose(state.row, false); });
$("more").addEventListener("click", () => { state.allSliders = true; drawSliders(); });
$("all-classes").addEventListener("click", () => { state.allClasses = !state.allClasses; drawIntervals(); });
Theme.start();
drawRanking();
drawDependence();
// A link such as report.html#row=17, or #row=pat160, opens with that row.
const linked = decodeURIComponent(window.location.hash.replace(/^#row=/, ""));
choose(data.rows.find((row) => rowId(row) === linked) ?? listed()[0], false);
Theme.onChange((printing) => {
  state.printing = printing;
  drawPlane();
  drawDependence();
});
window.shafer = { Evidence, Words, data, state };
document.documentElement.dataset.ready = "true";
