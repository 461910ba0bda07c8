// The sentence about one instance, as shafer/report/sentences.py writes it.
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

  // The belief that a component with this contrast gives to one of two classes.
  const supportOf = (contrast) => -Math.expm1(-Math.abs(contrast));

  function agreement(disagreement, limits) {
    if (disagreement >= limits.conflicting) return "the components disagree";
    return disagreement >= limits.lacking ? "the components partly disagree" : "the components agree";
  }

  // How far the components disagree, and about which two classes most. `opposed` is the degree of
  // support of the strongest bar against the answer.
  function dispute(result, classes, limits, opposed) {
    // Without two such classes, no component favours another class than the answer.
    if (!result.disputed || result.disagreement < limits.lacking) {
      if (opposed >= limits.moderately) return agreement(limits.lacking, limits);
      return opposed >= limits.barely ? "the components mostly agree" : agreement(0, limits);
    }
    const words = agreement(result.disagreement, limits);
    const about = result.disputed.map((k) => shortened(classes[k])).join(" or ");
    return `${words}${classes.length === 2 ? " about" : ", most about"} ${about}`;
  }

  function phrase(title, contrast, whom, limits) {
    const verb = contrast > 0 ? "supports" : "opposes";
    return `${title} ${strength(supportOf(contrast), limits)} ${verb} ${whom}`;
  }

  function named(pieces, label, limits) {
    const clear = [...pieces]
      .sort((a, b) => Math.abs(b.contrast) - Math.abs(a.contrast))
      .slice(0, limits.named)
      .filter(({ contrast }) => supportOf(contrast) >= limits.barely)
      .sort((a, b) => (a.contrast < 0) - (b.contrast < 0));
    if (!clear.length) return `no component clearly supports or opposes ${label}`;
    return clear.map(({ title, contrast }, position) =>
      phrase(title, contrast, position === 0 ? label : "it", limits)).join(", ");
  }

  const points = (probability) => `${Math.floor(100 * probability + 0.5)} %`;

  // Words for an answer that is hardly more probable than the next class; "" if it is not.
  function closeCall({ decided, probability, rule }, classes, limits) {
    if (rule?.regret || (!rule && decided.length > 1)) return "";
    const named = (k) => `${shortened(classes[k])} ${points(probability[k])}`;
    if (rule) {
      const near = Math.abs(probability[rule.position] - rule.threshold) < limits.close;
      return near ? `close call: ${named(rule.position)}, threshold ${points(rule.threshold)}` : "";
    }
    const [first, second] = probability.map((_, k) => k).sort((a, b) => probability[b] - probability[a] || a - b);
    return probability[first] - probability[second] < limits.close ? `close call: ${named(first)}, ${named(second)}` : "";
  }

  function answer(result, classes, limits, doubtful) {
    const { decided, rule } = result;
    const labels = decided.map((k) => shortened(classes[k]));
    const close = closeCall(result, classes, limits);
    if (close) return close;
    if (rule) {
      const label = shortened(classes[result.answer]);
      return rule.regret ? `the answer is ${label}, which has the least expected loss`
        : `the answer is ${label}, by the threshold ${rule.shown} of ${shortened(classes[rule.position])}`;
    }
    if (labels.length === 1) return `the answer is ${doubtful ? "still " : ""}${labels[0]}`;
    if (labels.length > 5) {
      return `the answer stays open among ${labels.length} of ${classes.length} classes`;
    }
    return `the answer stays open between ${labels.slice(0, -1).join(", ")} and ${labels.at(-1)}`;
  }

  // The degree of support of the strongest bar against the answer, 0 without one.
  function opposed(contrasts, baseRate, limits) {
    const bars = [...contrasts].sort((a, b) => Math.abs(b) - Math.abs(a)).slice(0, limits.bars);
    return [...bars, baseRate ?? 0].reduce((most, c) => Math.max(most, c < 0 ? supportOf(c) : 0), 0);
  }

  // `pieces` are the components, each with a title and its weights for all classes; `baseRate` is
  // the base rate, apart from them, or null.
  function sentence(result, pieces, baseRate, classes, limits) {
    const over = ({ weights }) => weights[result.answer] - weights[result.rival];
    const label = shortened(classes[result.answer]);
    const features = named(pieces.map((piece) => ({ title: piece.title, contrast: over(piece) })), label, limits);
    const parts = [classes.length === 2 ? features
      : `compared with ${shortened(classes[result.rival])}, ${features}`];
    if (baseRate && supportOf(over(baseRate)) >= limits.barely) {
      parts.push(phrase("the base rate", over(baseRate), label, limits));
    }
    const doubtful = result.ignorance >= limits.lacking || result.disagreement >= limits.conflicting;
    parts.push(`ignorance is ${height(result.ignorance, limits)}`,
      dispute(result, classes, limits, opposed(pieces.map(over), baseRate && over(baseRate), limits)),
      answer(result, classes, limits, doubtful));
    return `${parts.join("; ")}.`;
  }

  // By how much a probability lies below its belief, and why; "" if it does not.
  function belowBelief(probability, belief) {
    const gap = belief - probability;
    if (gap <= 1e-9) return "";
    const amount = gap < 0.0005 ? "less than 0.001" : gap.toFixed(3);
    return `p is ${amount} below the belief: in p, mass on several classes counts once for each of them`;
  }

  return { sentence, belowBelief, closeCall, shownValue, shortened };
})();
