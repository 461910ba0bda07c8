// What the inputs of an instance make of its weights: the twin of report/what_if and
// models/formula.py. Inputs give sums; these are the weights, or the numbers that terms read.
const Terms = (() => {
  const KINDS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array };
  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  // An array that is written in base64 under the name of its type.
  function decoded(stored) {
    const [[kind, text]] = Object.entries(stored);
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new KINDS[kind](bytes.buffer);
  }

  // How many of the increasing edges are not above a number.
  function countBelow(edges, x) {
    let [low, high] = [0, edges.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (edges[middle] <= x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // What a value adds to the sum at a position among those that the input changes.
  function effect(input, value, position) {
    if (value === null) return input.missing[position];
    if (input.slope === null) return input.effects[input.choices.indexOf(value)][position];
    if (input.copied?.includes(position)) return [value];
    const line = input.slope[position].map((slope) => slope * (value - input.anchor));
    if (!input.levels) return line;
    const level = input.levels[countBelow(input.edges, value)][position];
    return line.map((added, k) => added + (level[k] ?? NaN));
  }

  function summed(whatIf, x) {
    const sums = whatIf.base.map((base) => base.map((value) => value ?? NaN));
    whatIf.inputs.forEach((input, j) => (input.columns ?? input.components).forEach((place, position) =>
      effect(input, x[j], position).forEach((added, k) => { sums[place][k] += added ?? NaN; })));
    return sums;
  }

  // A polynomial of one number in each interval.
  function pieces({ columns, edges, centres, coefficients, outputs }) {
    const parts = columns.map((column, g) => ({
      column, edges: decoded(edges[g]), centres: decoded(centres[g]), values: decoded(coefficients[g]),
    }));
    return (numbers) => parts.map((part) => {
      const x = numbers[part.column];
      if (Number.isNaN(x)) return Array(outputs).fill(NaN);
      const place = countBelow(part.edges, x);
      const size = part.values.length / part.centres.length;
      const own = part.values.subarray(place * size, (place + 1) * size);
      const away = x - part.centres[place];
      return Array.from({ length: outputs }, (_, k) => {
        let sum = 0;
        for (let at = size - outputs + k; at >= 0; at -= outputs) sum = sum * away + own[at];
        return sum;
      });
    });
  }

  // A table over the bins of one or several numbers; bin 0 is a missing number.
  function tables({ columns, edges, shapes, scores }) {
    const ends = edges.map(decoded);
    const values = scores.map(decoded);
    return (numbers) => {
      const bins = ends.map((own, c) => (Number.isNaN(numbers[c]) ? 0 : 1 + countBelow(own, numbers[c])));
      return columns.map((own, g) => {
        const outputs = shapes[g][own.length];
        const line = own.reduce((at, c, axis) => at * shapes[g][axis] + bins[c], 0);
        return Array.from(values[g].subarray(line * outputs, (line + 1) * outputs));
      });
    };
  }

  const READERS = { pieces, tables, trees: (stored) => Trees.read(stored, decoded) };
  const readers = new WeakMap(); // what is decoded is kept

  function contributions(terms, numbers) {
    if (!readers.has(terms)) readers.set(terms, READERS[terms.kind](terms));
    return readers.get(terms)(numbers);
  }

  // The contributions of a component with one logit for each class, their mean at 0.
  function centred(given) {
    const both = given.length === 1 ? [-given[0] / 2, given[0] / 2] : given;
    const mean = total(both) / both.length;
    return both.map((value) => value - mean);
  }

  // The weights (G, K) of an instance with the inputs x: a number, a text or null for each.
  function weights(whatIf, x) {
    const sums = summed(whatIf, x);
    if (!whatIf.outcome) return sums;
    const { terms, scale, groups, constant } = whatIf.outcome;
    const parts = contributions(terms, sums.map(([value]) => value)).map(centred);
    const members = groups ?? parts.map((_, g) => [g]);
    return constant.map((base, g) => base.map((value, k) =>
      value + scale * total((members[g] ?? []).map((part) => parts[part][k]))));
  }

  // The logits (K), up to what they share, and the weights (G, K).
  function evaluate(whatIf, x) {
    const found = weights(whatIf, x);
    return { logits: found[0].map((_, k) => total(found.map((w) => w[k]))), weights: found };
  }

  return { effect, weights, evaluate };
})();
