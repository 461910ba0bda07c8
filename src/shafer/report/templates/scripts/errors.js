// Error bars: intervals of the bars, from standard errors of the contrasts of pairs of classes.
const pairNumbers = new Map();
data.classes.forEach((_, a) => data.classes.slice(a + 1).forEach((__, at) => {
  if (data.errors?.allPairs) pairNumbers.set(`${a},${a + 1 + at}`, pairNumbers.size);
}));

// The standard error of the contrast of a pair of classes, from those of the pairs that are stored;
// null if it is not known.
function pairError(std, { a, b }, row) {
  if (!data.errors.allPairs) {
    const { answer, rival } = state.result;
    const stored = row === state.row && b !== REST && [a, b].every((k) => k === answer || k === rival);
    return stored ? std[0] : null;
  }
  const squared = (k, l) => (k === l ? 0 : std[pairNumbers.get(`${Math.min(k, l)},${Math.max(k, l)}`)] ** 2);
  if (b !== REST) return Math.sqrt(squared(a, b));
  // The variance of a class against the mean of all, from the variances of all differences.
  const all = data.classes.map((_, k) => k);
  const near = all.reduce((total, l) => total + squared(a, l), 0) / K;
  const every = all.reduce((total, k) => total + all.reduce((sum, l) => sum + squared(k, l), 0), 0) / (2 * K * K);
  return (K / (K - 1)) * Math.sqrt(Math.max(0, near - every));
}

// Half the width of the interval of a bar: of a component, or of the sum. Inputs that were changed
// have other errors, which are not known here.
function halfWidth(g, pair) {
  const { errors, stored } = state.row;
  if (!errors || g === "rest" || state.x.some((value, j) => value !== state.row.x[j])) return null;
  const at = stored ? stored.g.indexOf(g) : g;
  if (at < 0) return null;
  const std = pairError(g === "sum" ? errors.sum : errors.std[at], pair, state.row);
  return std === null ? null : data.errors.times * std;
}

function errorsNote(bars) {
  if (!data.errors) return "";
  const level = Math.round(100 * data.errors.level);
  if (bars.every(({ half }) => half === null)) {
    return state.x.some((value, j) => value !== state.row.x[j])
      ? " Error bars are known for the instance as it is, not for changed inputs."
      : " Error bars are known for the answer over the runner-up.";
  }
  return ` Thin lines are ${level} % intervals: how far the bar could move with other training data. A pale bar cannot be told from zero.`;
}
