// The answer: the most probable class, or the one of the user's threshold or losses.
const Answers = (() => {
  const ROUNDING = 1e-13;

  function position({ logits, probability }) {
    const rule = data.answerRule;
    if (!rule) return logits.indexOf(Math.max(...logits));
    if (rule.regret) {
      const expected = rule.regret.map((losses) => losses.reduce((sum, loss, k) => sum + loss * probability[k], 0));
      return expected.indexOf(Math.min(...expected));
    }
    const other = 1 - rule.position;
    const at = (k) => logits[k] + rule.shift[k];
    const size = 1 + Math.max(...logits.map(Math.abs), ...rule.shift.map(Math.abs));
    return at(rule.position) - at(other) >= -ROUNDING * size ? rule.position : other;
  }

  // The result of an instance with its answer, the runner-up, and the words of the answer.
  function added(result) {
    const answer = position(result);
    return { ...result, answer, rival: Evidence.mostBut(result.logits, answer), rule: data.answerRule };
  }

  return { added, position };
})();
