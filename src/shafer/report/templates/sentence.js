// The sentence about one instance, as shafer/report/instance_sentence.py writes it.
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

  function strength(support, limits) {
    if (support < limits.weakly) return "weakly";
    return support < limits.moderately ? "moderately" : "strongly";
  }

  function height(ignorance, limits) {
    if (ignorance >= 0.5) return "very high";
    if (ignorance >= limits.lacking) return "high";
    return ignorance >= 0.05 ? "moderate" : "low";
  }

  function agreement(conflict, limits) {
    if (conflict >= limits.conflicting) return "the evidence conflicts";
    return conflict >= limits.lacking ? "the evidence partly disagrees" : "the evidence agrees";
  }

  function named(pieces, k, label, limits) {
    const clear = [...pieces]
      .sort((a, b) => Math.abs(b.weights[k]) - Math.abs(a.weights[k]))
      .slice(0, limits.named)
      .map(({ title, weights }) => ({ title, weight: weights[k], support: Evidence.support(weights, k) }))
      .filter((piece) => piece.support >= limits.barely)
      .sort((a, b) => (a.weight < 0) - (b.weight < 0));
    if (!clear.length) return `no component clearly supports or opposes ${label}`;
    return clear.map((piece, position) => {
      const verb = piece.weight > 0 ? "supports" : "opposes";
      const whom = position === 0 ? label : "it";
      return `${piece.title} ${strength(piece.support, limits)} ${verb} ${whom}`;
    }).join(", ");
  }

  function answer(decided, classes, doubtful) {
    const labels = decided.map((k) => shortened(classes[k]));
    if (labels.length === 1) return `the answer is ${doubtful ? "still " : ""}${labels[0]}`;
    if (labels.length > 5) {
      return `the answer stays open among ${labels.length} of ${classes.length} classes`;
    }
    return `the answer stays open between ${labels.slice(0, -1).join(", ")} and ${labels.at(-1)}`;
  }

  // `pieces` are the components, each with a title and its weights for all classes.
  function sentence(result, pieces, classes, limits) {
    const doubtful = result.ignorance >= limits.lacking || result.conflict >= limits.conflicting;
    return `${[
      named(pieces, result.answer, shortened(classes[result.answer]), limits),
      `ignorance is ${height(result.ignorance, limits)}`,
      agreement(result.conflict, limits),
      answer(result.decided, classes, doubtful),
    ].join("; ")}.`;
  }

  return { sentence, shownValue, shortened };
})();
