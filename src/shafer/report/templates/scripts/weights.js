// The weights of an instance: rebuilt from its inputs, or as stored.
let reachedBy = [];
let columnOf = []; // the column of the page behind each component, −1 if there is none

// Find which inputs reach each component of the view.
function link() {
  reachedBy = data.components.map(() => []);
  data.whatIf?.inputs.forEach((input, j) =>
    input.components.forEach((g, position) => reachedBy[g].push([j, position])));
  columnOf = data.components.map((name, g) => {
    if (g === data.baseRate) return -1;
    const at = data.columns.indexOf(name);
    return at < 0 && reachedBy[g].length === 1 ? reachedBy[g][0][0] : at;
  });
}
link();

// The weights (G, K) of an instance with the inputs x. Several parts of the page ask for the same.
let latest = { x: null, weights: null };
function rebuiltWeights(whatIf, x) {
  if (latest.x?.length !== x.length || x.some((value, j) => value !== latest.x[j])) {
    latest = { x: [...x], weights: Terms.weights(whatIf, x) };
  }
  return latest.weights;
}

function weightsOf(row, x) {
  // Rows at rest may have stored weights too, where the model takes long.
  if (!data.whatIf || (row.stored && x === row.x)) {
    const pieces = row.stored.g.map((g, at) => ({ g, w: row.stored.w[at] }));
    const { g, w, restFor, restAgainst, weightsFor, weightsAgainst } = row.stored;
    return {
      pieces: g.map((component, at) => ({ g: component, w: w[at] })),
      others: data.components.length - g.length,
      othersFor: restFor,
      othersAgainst: restAgainst,
      weightsFor,
      weightsAgainst,
      weightOfDisagreement: () => row.stored.weightOfDisagreement,
      disputed: () => row.stored.disputed,
    };
  }
  const weights = rebuiltWeights(data.whatIf, x);
  const none = data.classes.map(() => 0);
  return {
    pieces: weights.map((w, g) => ({ g, w })),
    others: 0, othersFor: none, othersAgainst: none,
    ...Evidence.pool(weights, K),
    weightOfDisagreement: (whole) => Evidence.weightOfDisagreement(weights, whole),
    disputed: () => Evidence.disputed(weights),
  };
}

// The weights of one component in a row, for all classes; null where they are not stored.
function weightsIn(row, g) {
  if (row.stored) {
    const at = row.stored.g.indexOf(g);
    return at < 0 ? null : row.stored.w[at];
  }
  if (data.whatIf.outcome) return rebuiltWeights(data.whatIf, row.x)[g];
  const weights = [...data.whatIf.base[g]];
  reachedBy[g].forEach(([j, position]) =>
    Terms.effect(data.whatIf.inputs[j], row.x[j], position).forEach((added, k) => { weights[k] += added; }));
  return weights;
}

const valueOf = (g, x) => (columnOf[g] < 0 ? "" : Words.shownValue(x[columnOf[g]]));

// The components as a sentence names them.
function namedPieces(row, x) {
  const { whatIf, components, baseRate } = data;
  const pieces = whatIf ? rebuiltWeights(whatIf, x).map((weights, g) => ({ g, weights }))
    : row.stored.g.map((g, at) => ({ g, weights: row.stored.w[at], inText: row.stored.inText?.[at] }));
  return pieces.map(({ g, weights, inText }) => {
    const name = Words.shortened(components[g]);
    const at = g === baseRate ? -1 : data.columns.indexOf(components[g]);
    const value = at < 0 ? "" : ` ${Words.shownValue(x[at])}`;
    const word = `“${name}”${inText ? "" : " (not in the text)"}`;
    return { base: g === baseRate, title: typeof inText === "boolean" ? word : name + value, weights };
  });
}
