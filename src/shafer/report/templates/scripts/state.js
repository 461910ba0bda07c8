// The data, the state of the page, and elements made of plain text.
const data = JSON.parse(document.getElementById("data").textContent);
const K = data.classes.length;
const PER_PAGE = 12;
const MOST_BARS = data.limits.bars;
const MOST_INTERVALS = 10;
const MOST_SLIDERS = 12;
const MOST_SETS = 8;
const MOST_INPUTS = 8;
const PALETTE = ["blue", "orange", "green", "pink", "amber", "sky"];
const $ = (id) => document.getElementById(id);
const state = {
  row: null, x: [], page: 0, reversed: false, allClasses: false, allSliders: false,
  component: data.ranking[0], printing: false, logOdds: false, pinned: null,
};

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
const number = (value) => (value !== 0 && Math.abs(value) < 0.0005 ? "<0.001" : value.toFixed(3));
const signed = (value) => (Math.abs(value) < 0.005 ? "0.00" : (value > 0 ? "+" : "−") + Math.abs(value).toFixed(2));
const setName = (members) => (members.length > 6
  ? `${members.length} of ${K} classes` : `{${members.map((k) => Words.shortened(data.classes[k])).join(", ")}}`);
// A name in a narrow place: hovering shows the whole name.
const MOST_LETTERS = 60;
const called = (name) => (name.trim() ? Charts.cut(name, MOST_LETTERS) : "(blank)");
const nameAttributes = (name) => (Array.from(name).length > MOST_LETTERS ? { title: name } : {});
const isWrong = (row) => data.truth && row.truth !== row.answer;
