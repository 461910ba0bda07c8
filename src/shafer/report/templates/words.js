// One instance in plain words: what shafer/report/words.py says, for numbers that change.
const Words = (() => {
  const LONGEST = 40;

  function shortened(text) {
    if (!text.trim()) return "(blank)";
    const characters = Array.from(text); // as Python counts them
    return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join("")}…`;
  }

  function shownValue(value) {
    if (value === null) return "missing";
    if (typeof value === "string") return shortened(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
    return String(Number(value.toPrecision(4)));
  }

  const support = (weight) => -Math.expm1(-Math.abs(weight));

  function strength(weight, limits) {
    if (support(weight) < limits.weakly) return "weakly";
    return support(weight) < limits.moderately ? "moderately" : "strongly";
  }

  function unknown(ignorance, limits) {
    if (ignorance >= 0.5) return "most is unknown";
    if (ignorance >= limits.lacking) return "much is unknown";
    return ignorance >= 0.05 ? "some is unknown" : "little is unknown";
  }

  function agreement(conflict, limits) {
    if (conflict >= limits.conflicting) return "the evidence conflicts";
    return conflict >= limits.lacking ? "the evidence partly disagrees" : "the evidence agrees";
  }

  function named(pieces, label, limits) {
    const clear = [...pieces]
      .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
      .slice(0, limits.named)
      .filter((piece) => support(piece.weight) >= limits.barely)
      .sort((a, b) => (a.weight < 0) - (b.weight < 0));
    if (!clear.length) return `nothing speaks clearly for or against ${label}`;
    return clear.map((piece, position) => {
      const verb = position === 0 ? "speaks " : "";
      const side = piece.weight > 0 ? "for" : "against";
      const whom = position === 0 ? ` ${label}` : "";
      return `${piece.title} ${verb}${strength(piece.weight, limits)} ${side}${whom}`;
    }).join(", ");
  }

  function answer(decided, classes) {
    const labels = decided.map((k) => shortened(classes[k]));
    if (labels.length === 1) return `the answer is ${labels[0]}`;
    if (labels.length > 5) {
      return `the answer stays open among ${labels.length} of ${classes.length} classes`;
    }
    return `the answer stays open between ${labels.slice(0, -1).join(", ")} and ${labels.at(-1)}`;
  }

  // `pieces` are the components with a title and their weight for the most plausible class.
  function sentence(result, pieces, classes, limits) {
    return `${[
      named(pieces, shortened(classes[result.answer]), limits),
      unknown(result.ignorance, limits),
      agreement(result.conflict, limits),
      answer(result.decided, classes),
    ].join("; ")}.`;
  }

  return { sentence, shownValue, shortened };
})();
