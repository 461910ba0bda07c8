// Many components are shown in groups, and the reader can unfold them. Both views have the same
// probabilities. The view that is shown is the one in `data` and in its rows.
const OF_DATA = ["components", "ranking", "meanContrasts", "baseRate", "meanBaseRate", "overview", "whatIf"];
const OF_ROW = ["decided", "ignorance", "disagreement", "weightOfDisagreement", "stored", "errors"];
const part = (whole, names) => Object.fromEntries(names.map((name) => [name, whole[name]]));

function foldedWhatIf(whatIf, members) {
  if (!whatIf) return null;
  const groupOf = [];
  members.forEach((inside, group) => inside.forEach((g) => { groupOf[g] = group; }));
  const total = (arrays) => arrays.reduce((sum, array) => sum.map((value, k) => value + array[k]));
  const inputs = whatIf.inputs.map((input) => {
    const reached = [...new Set(input.components.map((g) => groupOf[g]))];
    const fold = (effects) => effects && reached.map((group) =>
      total(effects.filter((_, at) => groupOf[input.components[at]] === group)));
    return {
      ...input, components: reached, slope: fold(input.slope), effects: input.effects.map(fold), missing: fold(input.missing),
    };
  });
  return { base: members.map((inside) => total(inside.map((g) => whatIf.base[g]))), inputs };
}

const single = part(data, OF_DATA);
const grouped = data.groups && { ...part(data.groups, OF_DATA), whatIf: foldedWhatIf(data.whatIf, data.groups.members) };
data.rows.forEach((row) => { row.single = part(row, OF_ROW); });

// Put one of the views into place; nothing is drawn.
function fold(inGroups) {
  state.folded = inGroups;
  Object.assign(data, inGroups ? grouped : single);
  data.rows.forEach((row) => Object.assign(row, inGroups ? row.grouped : row.single));
  state.component = data.ranking[0];
}
if (grouped) fold(true);

const counted = (view) => view.components.length - (view.baseRate === null ? 0 : 1);
function drawFolding() {
  if (!grouped) return;
  const [all, few] = [counted(single), counted(grouped)];
  $("group-count").hidden = !state.folded;
  $("folding-text").textContent = state.folded
    ? `The ${all} components are shown in ${few} groups, each named after its strongest members: components that contradict each other over these instances are joined. The probabilities are the same. Ignorance and disagreement are those of the groups, which are easier to read than those of ${all} components.`
    : `The ${all} components are shown one by one. Ignorance falls and disagreement rises with the number of components; the probabilities are the same as with groups.`;
  document.querySelectorAll(".unfold").forEach((button) => {
    button.hidden = false;
    button.textContent = state.folded ? `Show the ${all} components` : `Show ${few} groups`;
  });
  for (const name of ["decided", "left_open", "lacking", "disagreeing"]) {
    document.querySelector(`[data-share="${name}"] dd`).textContent = `${(100 * data.overview[name]).toFixed(1)}\u2009%`;
  }
}

function startFolding() {
  document.querySelectorAll(".unfold").forEach((button) => button.addEventListener("click", () => {
    fold(!state.folded);
    link();
    measurePlane();
    drawFolding();
    drawRanking();
    drawDependence();
    drawSliders();
    update(true);
    drawTable();
  }));
  drawFolding();
}
