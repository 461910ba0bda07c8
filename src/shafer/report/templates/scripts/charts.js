// The two scatter plots, drawn by plotly: many points, hovering, zooming.
const Charts = (() => {
  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
  const TOUCH = window.matchMedia("(pointer: coarse)").matches;
  const SYMBOLS = ["circle", "diamond", "square", "triangle-up", "cross", "star"];

  // plotly reads some tags in texts; the user's names must stay plain text.
  const literal = (text) => String(text)
    .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const cut = (text, most = 48) => {
    const characters = Array.from(String(text));
    return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : String(text);
  };

  function layout(extra) {
    const ink = Theme.color("ink");
    const axis = {
      gridcolor: Theme.color("hairline"), zerolinecolor: Theme.color("line"), linecolor: Theme.color("line"),
      ticks: "outside", tickcolor: Theme.color("line"), ticklen: 4, automargin: true,
    };
    const { xaxis = {}, yaxis = {}, ...rest } = extra;
    return {
      autosize: true,
      margin: { l: 52, r: 12, t: 12, b: 46 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: ink },
      hoverlabel: {
        bgcolor: Theme.color("card"), bordercolor: Theme.color("line"),
        font: { color: ink }, align: "left",
      },
      showlegend: false,
      hovermode: "closest",
      dragmode: TOUCH ? false : "zoom",
      xaxis: { ...axis, ...xaxis },
      yaxis: { ...axis, ...yaxis },
      ...rest,
    };
  }

  // groups: [{ name, color, symbol, points: [{ x, y, text, row }] }]
  function scatter(element, groups, selected, extra, onPick) {
    const traces = groups.map((group) => ({
      type: "scatter",
      mode: "markers",
      name: literal(group.name),
      x: group.points.map((point) => point.x),
      y: group.points.map((point) => point.y),
      customdata: group.points.map((point) => point.row),
      text: group.points.map((point) => point.text),
      hovertemplate: "%{text}<extra></extra>",
      marker: {
        size: 8, opacity: 0.72, color: Theme.color(group.color), symbol: group.symbol,
        line: { width: 0.75, color: Theme.color("page") },
      },
    }));
    if (selected) {
      traces.push({
        type: "scatter", mode: "markers", x: [selected.x], y: [selected.y], hoverinfo: "skip",
        marker: {
          size: 17, color: "rgba(0,0,0,0)", symbol: "circle",
          line: { width: 2.5, color: Theme.color("ink") },
        },
      });
    }
    Plotly.react(element, traces, layout(extra), CONFIG);
    element.removeAllListeners?.("plotly_click");
    if (onPick) {
      element.on("plotly_click", (event) => {
        const hit = event.points.find((point) => point.customdata !== undefined);
        if (hit) onPick(hit.customdata);
      });
    }
  }

  return { scatter, literal, cut, SYMBOLS };
})();
