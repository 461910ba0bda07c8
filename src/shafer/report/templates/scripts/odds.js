// Numbers as the page writes them: factors on the odds, or log-odds; chances; ranges.
const Odds = (() => {
  // How often the odds are multiplied (×) or divided (÷).
  function factor(logOdds) {
    const size = Math.exp(Math.abs(logOdds));
    const sign = logOdds < 0 ? "÷" : "×";
    if (size >= 999999.5) return `more than ${sign}1,000,000`;
    if (size >= 99.5) return `${sign}${Number(size.toPrecision(2)).toLocaleString("en")}`;
    return sign + size.toFixed(size < 1.095 ? 2 : size < 9.95 ? 1 : 0);
  }

  const shown = (logOdds) => (state.logOdds ? signed(logOdds) : factor(logOdds));

  // A chance in percent; with a decimal where it is near a limit.
  function chance(value, limit = null) {
    if (limit !== null && value !== limit && Math.abs(value - limit) < 0.01) return `${(100 * value).toFixed(1)} %`;
    if (value > 0 && value < 0.005) return "<1 %";
    return value < 1 && value > 0.995 ? ">99 %" : `${Math.floor(100 * value + 0.5)} %`;
  }

  // From where to where a value is usual; "" if that is not known.
  function usual(j) {
    const range = data.usual[j]?.range;
    return range ? `usual ${Words.shownValue(range[0])} to ${Words.shownValue(range[1])}` : "";
  }
  function isUnusual(j, value) {
    const range = data.usual[j]?.range;
    return Boolean(range) && typeof value === "number" && (value < range[0] || value > range[1]);
  }

  return { factor, shown, chance, usual, isUnusual };
})();
