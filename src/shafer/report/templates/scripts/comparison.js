// Why this class rather than that one: the two menus, and the weights of one class over another.
const REST = "rest"; // all other classes: their geometric mean
const UNIT = "+1 multiplies the odds by 2.7";

function contrastOf(weights, { a, b }) {
  if (b !== REST) return weights[a] - weights[b];
  return weights[a] - weights.reduce((total, w, k) => (k === a ? total : total + w), 0) / (K - 1);
}
const nameOf = (k) => (k === REST ? "the other classes" : called(data.classes[k]));

// Fill a pair of menus. `onPick` is called when the reader has picked; `unset` is a first entry
// of the first menu that picks nothing.
function fillPair(first, second, onPick, unset = null) {
  const options = () => data.classes.map((name, k) => make("option", { value: k }, called(name)));
  first.replaceChildren(...(unset ? [make("option", { value: "" }, unset)] : []), ...options());
  second.replaceChildren(...options(), ...(K > 2 ? [make("option", { value: REST }, "the others")] : []));
  const picked = (changed, other) => () => {
    const free = data.classes.findIndex((_, k) => String(k) !== changed.value);
    // The same class twice: the other menu takes what this one had.
    if (changed.value === other.value) other.value = changed.dataset.before || String(free);
    if (changed === first && other.value === "") other.value = String(free);
    remember(first, second);
    onPick();
  };
  first.addEventListener("change", picked(first, second));
  second.addEventListener("change", picked(second, first));
}
function remember(...menus) {
  menus.forEach((menu) => { menu.dataset.before = menu.value; });
}
function setPair(first, second, { a, b }) {
  first.value = String(a);
  second.value = String(b);
  remember(first, second);
}
// The pair of two menus, or null if the reader has not picked yet.
function pairIn(first, second) {
  if (first.value === "") return null;
  return { a: Number(first.value), b: second.value === REST ? REST : Number(second.value) };
}
