// The rows of the page. The file has columns, some of them packed; a row reads its own cells.
const KINDS = { f8: Float64Array, f4: Float32Array };
function unpacked(text, Kind) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Kind(bytes.buffer);
}
const floats = (stored) => Object.entries(stored).map(([kind, text]) => unpacked(text, KINDS[kind]))[0];

const Records = (() => {
  const DIGITS = 6; // of a number in single precision

  // A column as a function of the place of a row; null where a cell is missing.
  function column(stored) {
    if (Array.isArray(stored)) return (at) => stored[at];
    if (stored.of) return (at) => (stored.at[at] < 0 ? null : stored.of[stored.at[at]]);
    const values = floats(stored);
    const shown = stored.f4 ? (value) => Number(value.toPrecision(DIGITS)) : (value) => value;
    return (at) => (Number.isNaN(values[at]) ? null : shown(values[at]));
  }

  // The stored weights of the rows: those of their strongest components, and the sums of all.
  function storedWeights(stored) {
    const [numbers, all] = [floats(stored.w), unpacked(stored.g, Uint32Array)];
    const [weightsFor, weightsAgainst] = [floats(stored.weightsFor), floats(stored.weightsAgainst)];
    let from = 0;
    const starts = stored.count.map((count) => { from += count; return from - count; });
    const classesOf = (values, at) => Array.from(values.subarray(at * K, (at + 1) * K));
    return (at) => {
      const places = Array.from({ length: stored.count[at] }, (_, c) => starts[at] + c);
      const w = places.map((place) => classesOf(numbers, place));
      const [all1, all2] = [classesOf(weightsFor, at), classesOf(weightsAgainst, at)];
      const rest = (total, sign) => total.map((whole, k) =>
        Math.max(0, w.reduce((left, one) => left - Math.max(0, sign * one[k]), whole)));
      return {
        g: places.map((place) => all[place]), w, restFor: rest(all1, 1), restAgainst: rest(all2, -1),
        weightsFor: all1, weightsAgainst: all2,
        weightOfDisagreement: stored.weightOfDisagreement[at], disputed: stored.disputed[at],
        inText: stored.inText?.[at],
      };
    };
  }

  function read(stored) {
    const cells = stored.x.map(column);
    const expected = stored.expected?.map(column);
    const weights = stored.stored ? storedWeights(stored.stored) : null;
    const probability = stored.probability ? floats(stored.probability) : null;
    const apart = ["x", "expected", "stored", "probability", "even"];
    const names = Object.keys(stored).filter((name) => !apart.includes(name));
    // Everything is read when it is first asked for: most rows are never opened.
    class Row {
      #x; #stored;
      constructor(at) {
        this.place = at;
        this.even = stored.even === null || stored.even[at] === 1;
      }
      cell(j) { return cells[j](this.place); }
      get x() { return this.#x ??= cells.map((cell) => cell(this.place)); }
      get expected() { return expected?.map((cell) => cell(this.place)); }
      get stored() { return this.#stored ??= weights?.(this.place); }
      get probability() { return probability?.subarray(this.place * K, (this.place + 1) * K); }
    }
    for (const name of names) {
      Object.defineProperty(Row.prototype, name, { get() { return stored[name][this.place]; } });
    }
    return stored.i.map((_, at) => new Row(at));
  }

  return { read };
})();
data.rows = Records.read(data.rows);
