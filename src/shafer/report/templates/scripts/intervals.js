// The interval from belief to plausibility of each class, and why a probability lies outside it.
function drawIntervals() {
  const { belief, plausibility, probability, pignistic, decided } = state.result;
  const order = data.classes.map((_, k) => k);
  const crowded = K > MOST_INTERVALS + 1;
  if (crowded) order.sort((a, b) => plausibility[b] - plausibility[a] || a - b);
  const shown = crowded && !state.allClasses ? order.slice(0, MOST_INTERVALS) : order;
  $("intervals").tBodies[0].replaceChildren(...shown.flatMap((k) => {
    const kept = decided.includes(k);
    const why = Words.belowBelief(probability[k], belief[k]);
    const row = make("tr", {
      class: kept ? "chosen" : "dominated", "data-class": k, "data-belief": belief[k],
      "data-plausibility": plausibility[k], "data-probability": probability[k], "data-pignistic": pignistic[k],
    },
    make("td", nameAttributes(data.classes[k]), called(data.classes[k])),
    make("td", {}, make("div", { class: "track" }, bar(belief[k], plausibility[k], kept ? "" : "dim"),
      mark("tick", probability[k]), mark("dot", pignistic[k]))),
    make("td", {}, `${number(probability[k])} `, make("span", { class: "value" }, `[${number(belief[k])}, ${number(plausibility[k])}]`)));
    return why ? [row, make("tr", { class: "why", "data-why": k }, make("td", { colspan: 3 }, why))] : [row];
  }));
  $("all-classes").hidden = !crowded;
  $("all-classes").textContent = state.allClasses ? "Show the most plausible" : `Show all ${K} classes`;
}
