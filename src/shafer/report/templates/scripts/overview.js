// How good the model is, for all cases or a cohort: at the policy, or at the reader's settings.
const Overview = (() => {
  const BINS = 8;
  const MOST_CELLS = 8; // classes of the confusion table
  const [asked, other] = [data.asked, 1 - data.asked];
  const stated = data.answerRule && !data.answerRule.regret ? data.answerRule.threshold : 0.5;
  const setting = { threshold: stated, share: 1 };
  const ROUND = 1e-9;

  const FAR = 700; // log-odds of a certain answer
  const logit = (p) => Math.max(-FAR, Math.min(FAR, Math.log(p) - Math.log1p(-p)));
  const chanceOf = (row) => (K === 2 ? row.probability[asked] : row.p);
  const isStated = () => setting.threshold === stated;
  // At the policy the answers are Python's own.
  const answerOf = (row) => (K !== 2 || isStated() ? row.answer : chanceOf(row) >= setting.threshold ? asked : other);
  // How far a case is from another answer: cases are handed to a person from the nearest on.
  const margin = (row) => (K === 2 ? Math.abs(logit(chanceOf(row)) - logit(setting.threshold)) : row.closeness);

  // The numbers of the section.
  function measured() {
    const rows = data.rows.filter((row) => row.even && (data.judgeFirst || Cohort.keeps(row))); // a small cohort would tell
    const order = rows.map((row) => ({ row, answer: answerOf(row), margin: margin(row) })).sort((a, b) => b.margin - a.margin || a.row.i - b.row.i);
    const decided = order.slice(0, Math.round(setting.share * order.length));
    const wrong = (entries) => entries.filter(({ row, answer }) => row.truth !== answer).length;
    const numbers = { n: rows.length, decided: decided.length };
    if (!data.truth) return { ...numbers, order, entries: decided };
    const confusion = data.classes.map(() => data.classes.map(() => 0)); // true class, answer
    decided.forEach(({ row, answer }) => { confusion[row.truth][answer] += 1; });
    return { ...numbers, order, entries: decided, confusion, wrong: wrong(decided), ...curves(order), calibration: calibration(rows) };
  }

  // Wilson's interval of a share, at 95 %: a share of 0 or 1 is not certain either.
  function interval(s, n) {
    const z = 1.96;
    const half = z * Math.sqrt((s * (1 - s)) / n + (z / (2 * n)) ** 2);
    return [-1, 1].map((sign) => Math.min(1, Math.max(0, (s + z ** 2 / (2 * n) + sign * half) / (1 + z ** 2 / n))));
  }

  // Bins of equal size: the mean probability, and the share that is of the class (or right).
  function calibration(rows) {
    const pairs = rows.map((row) => ({ p: chanceOf(row), hit: K === 2 ? row.truth === asked : row.truth === row.answer })).sort((a, b) => a.p - b.p);
    const count = Math.max(1, Math.min(BINS, Math.floor(pairs.length / 10)));
    const ends = Array.from({ length: count + 1 }, (_, bin) => Math.round((bin * pairs.length) / count));
    return ends.slice(1).map((end, bin) => {
      const inside = pairs.slice(ends[bin], end);
      const mean = (of) => inside.reduce((total, entry) => total + of(entry), 0) / inside.length;
      const held = mean(({ hit }) => Number(hit));
      const [low, high] = interval(held, inside.length);
      return { n: inside.length, p: mean(({ p }) => p), share: held, low, high };
    }).filter(({ n }) => n > 0);
  }

  // The error against the share that is decided; with two classes the ROC curve and its area.
  function curves(order) {
    let wrong = 0;
    const errors = order.map(({ row, answer }, at) => { wrong += Number(row.truth !== answer); return [(at + 1) / order.length, wrong / (at + 1)]; });
    if (K !== 2) return { errors };
    const rows = order.map(({ row }) => row).sort((a, b) => chanceOf(b) - chanceOf(a));
    const all = rows.filter((row) => row.truth === asked).length;
    let [hits, false_, area] = [0, 0, 0];
    const roc = [[0, 0]];
    rows.forEach((row, at) => {
      if (row.truth === asked) hits += 1; else false_ += 1;
      if (at + 1 < rows.length && chanceOf(rows[at + 1]) === chanceOf(row)) return;
      const [x, y] = [false_ / Math.max(1, rows.length - all), hits / Math.max(1, all)];
      const [x0, y0] = roc.at(-1);
      area += ((x - x0) * (y + y0)) / 2;
      roc.push([x, y]);
    });
    return { errors, roc, area: all && all < rows.length ? area : null };
  }

  const share = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");
  const fact = (id, name, value, ...notes) => make("div", { "data-figure": id }, make("dt", {}, name, ...notes.map((note) => make("span", {}, note))), make("dd", {}, value));
  // What an error is to be compared with: the errors of always giving the most frequent answer.
  function without({ confusion, decided }) {
    const counts = confusion.map((row) => row.reduce((sum, n) => sum + n, 0));
    const most = counts.indexOf(Math.max(...counts));
    return `(${(decided - counts[most]).toLocaleString("en")} if it always answered ${called(data.classes[most])})`;
  }

  function drawFigures(found) {
    const facts = [fact("n", Cohort.isWhole() ? "cases" : "cases in the cohort", found.n.toLocaleString("en"))];
    if (data.truth) {
      facts.push(fact("error", "of the decided cases are wrong", share(found.wrong, found.decided), `${found.wrong.toLocaleString("en")} of ${found.decided.toLocaleString("en")}`, without(found)));
      if (K === 2) {
        const [missed, ill] = [found.confusion[asked][other], found.confusion[asked][0] + found.confusion[asked][1]];
        const [alarms, well] = [found.confusion[other][asked], found.confusion[other][0] + found.confusion[other][1]];
        facts.push(fact("missed", `of ${called(data.classes[asked])} are missed`, share(missed, ill), `${missed} of ${ill}`),
          fact("alarms", `of ${called(data.classes[other])} are taken for ${called(data.classes[asked])}`, share(alarms, well), `${alarms} of ${well}`));
      }
    } else {
      data.classes.slice(0, 3).forEach((name, k) => {
        const count = found.entries.filter(({ answer }) => answer === k).length;
        facts.push(fact(`answer-${k}`, `are answered ${called(name)}`, share(count, found.decided), `${count} of ${found.decided}`));
      });
    }
    const left = found.n - found.decided;
    facts.push(fact("left", "go to a person", share(left, found.n), `${left.toLocaleString("en")} of ${found.n.toLocaleString("en")}`));
    $("figures").replaceChildren(...facts);
  }

  function drawConfusion(found) {
    $("confusion-figure").hidden = !data.truth;
    $("confusion-figure").classList.toggle("wide", K > 3);
    if (!data.truth) return;
    const counts = found.confusion.map((row) => row.reduce((sum, n) => sum + n, 0));
    const order = data.classes.map((_, k) => k);
    if (K > MOST_CELLS) order.sort((a, b) => counts[b] - counts[a] || a - b).splice(MOST_CELLS);
    const most = Math.max(1, ...found.confusion.flat());
    $("confusion").replaceChildren(
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "true ↓ answer →"), ...order.map((k) => make("th", { scope: "col", ...nameAttributes(data.classes[k]) }, called(data.classes[k]))))),
      make("tbody", {}, ...order.map((t) => make("tr", {}, make("th", { scope: "row" }, called(data.classes[t])), ...order.map((k) => {
        const n = found.confusion[t][k];
        const cell = make("td", { class: t === k ? "right" : "wrong", "data-true": t, "data-answer": k }, n.toLocaleString("en"));
        cell.style.setProperty("--shade", (n / most).toFixed(3));
        return cell;
      })))));
    $("confusion-note").textContent = `Blue is right, orange is wrong.${K > MOST_CELLS ? ` The ${MOST_CELLS} most frequent of ${K} classes.` : ""}`;
  }

  const unit = [0, 1];
  const paper = () => (state.printing ? { width: 330, height: 200 } : {});
  function drawCalibration({ calibration: bins, n }) {
    $("calibration").parentElement.hidden = !data.truth;
    if (!data.truth) return;
    const name = K === 2 ? called(data.classes[asked]) : "";
    const dots = bins.map(({ p, share: s, low, high, n: size }) => (
      { x: p, y: s, kind: "point", low, high, title: `probability ${Odds.chance(p)}: true for ${Odds.chance(s)} of ${size}` }));
    Curves.draw($("calibration"), {
      x: { title: K === 2 ? `probability of ${Charts.cut(name, 16)}` : "probability of the answer", range: unit },
      y: { title: K === 2 ? `share that is ${Charts.cut(name, 16)}` : "share that is right", range: unit },
      lines: [{ kind: "dashed", points: [[0, 0], [1, 1]] }, { kind: "curve", points: dots.map(({ x, y }) => [x, y]) }], dots, ...paper(),
    });
    $("calibration").setAttribute("aria-label", `Calibration: ${dots.map(({ title }) => title).join("; ")}`);
    $("calibration-note").textContent = `${bins.length} groups of equal size, of ${n.toLocaleString("en")} cases, with 95 % intervals. On the dashed line probabilities hold; below it they are too high, above it too low.`;
  }

  function drawCurve(found) {
    $("curve").parentElement.hidden = !data.truth;
    if (!data.truth || !found.n) return;
    const whole = found.decided === found.n && found.roc;
    if (whole) {
      const [ill, well] = [found.confusion[asked], found.confusion[other]];
      const at = { x: well[asked] / Math.max(1, well[0] + well[1]), y: ill[asked] / Math.max(1, ill[0] + ill[1]), r: 5, kind: "here" };
      $("curve-title").textContent = "What a threshold trades";
      Curves.draw($("curve"), {
        x: { title: `${Charts.cut(called(data.classes[other]), 14)} taken for ${Charts.cut(called(data.classes[asked]), 14)}`, range: unit },
        y: { title: `${Charts.cut(called(data.classes[asked]), 14)} found`, range: unit },
        lines: [{ kind: "dashed", points: [[0, 0], [1, 1]] }, { kind: "curve", points: found.roc }], dots: [at], ...paper(),
      });
      $("curve-note").textContent = `The ROC curve${found.area === null ? "" : `; its area is ${found.area.toFixed(3)} (1 is perfect, 0.5 is chance)`}. The dot is where the model decides now.`;
    } else {
      const top = Math.max(0.02, ...found.errors.map(([, error]) => error)) * 1.05;
      const error = found.decided ? found.wrong / found.decided : 0;
      $("curve-title").textContent = "What handing cases to a person gains";
      Curves.draw($("curve"), {
        x: { title: "share that the model decides", range: unit }, y: { title: "share of these that is wrong", range: [0, Math.min(1, top)] },
        lines: [{ kind: "curve", points: found.errors }], dots: [{ x: found.decided / found.n, y: error, r: 5, kind: "here" }], ...paper(),
      });
      $("curve-note").textContent = "The cases nearest to another answer go to a person first. The dot is where the slider stands.";
    }
    $("curve").setAttribute("aria-label", $("curve-note").textContent);
  }

  function drawPromise(found) {
    const parts = [];
    if (data.promise) {
      const kept = found.order.filter(({ row }) => !row.deferred);
      const wrong = kept.filter(({ row }) => row.truth !== row.answer).length;
      parts.push(make("b", {}, "Promised"), `, calibrated on ${data.promise.rows.toLocaleString("en")} other rows: ${data.promise.text}. On these rows it decides ${share(kept.length, found.n)}`,
        data.truth ? `, and ${share(wrong, kept.length)} of those are wrong. ` : ". ");
    }
    const why = data.promise ? "They show what happened on these rows. They promise nothing." : "The figures are about the rows of this page. Nothing is promised about others: no rows were set aside for that.";
    $("promise").replaceChildren(...parts, `The sliders change this section only. ${why}`);
  }

  function drawSettings() {
    $("as-stated").disabled = isStated() && setting.share === 1;
    $("share-shown").textContent = `${Math.round(100 * setting.share)} %`;
    $("share-means").textContent = setting.share === 1 ? "all cases" : "of the cases; those nearest to another answer go to a person";
    if (K !== 2) return;
    $("threshold-shown").textContent = `${Number((100 * setting.threshold).toPrecision(3))} %`;
    const cost = (1 - setting.threshold) / setting.threshold;
    const [one, two] = [called(data.classes[asked]), called(data.classes[other])];
    const [missed, alarm] = [`missing ${one}`, `taking ${two} for ${one}`];
    $("threshold-costs").textContent = Math.abs(cost - 1) < 0.005 ? "as if both errors cost the same"
      : cost > 1 ? `as if ${missed} cost ${Number(cost.toPrecision(2))} times as much as ${alarm}` : `as if ${alarm} cost ${Number((1 / cost).toPrecision(2))} times as much as ${missed}`;
    if (isStated()) $("threshold-costs").textContent += data.answerRule ? " (the policy)" : " (the usual rule)";
  }

  function draw() {
    if (data.alone || !started) return;
    const found = measured();
    drawSettings();
    $("cohort").textContent = Cohort.isWhole() || data.judgeFirst ? "" : `Only cases with ${Cohort.text()}. Remove filters under “All cases”.`;
    drawFigures(found);
    drawConfusion(found);
    drawCalibration(found);
    drawCurve(found);
    drawPromise(found);
    last = found;
  }

  let [started, last] = [false, null];
  function start() {
    if (data.alone) return;
    started = true;
    if (K === 2) {
      $("asked-class").textContent = called(data.classes[asked]);
      $("threshold").value = 100 * stated;
      $("threshold").addEventListener("input", () => {
        const value = Number($("threshold").value) / 100;
        setting.threshold = Math.abs(value - stated) < 0.005 - ROUND ? stated : value;
        draw();
      });
    }
    $("share").addEventListener("input", () => { setting.share = Number($("share").value) / 100; draw(); });
    $("as-stated").addEventListener("click", () => {
      Object.assign(setting, { threshold: stated, share: 1 });
      if (K === 2) $("threshold").value = 100 * stated;
      $("share").value = 100;
      draw();
    });
    draw();
  }

  const numbers = () => { const { order, entries, ...rest } = last; return rest; };
  return { start, draw, numbers };
})();
