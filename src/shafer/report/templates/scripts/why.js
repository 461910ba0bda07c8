// Why this class: the reasons on both sides, the strongest first, and where they start from.
const MOST_REASONS = 10;
const LEAST_REASON = Math.log(1.05); // a weaker reason is counted with the others
const NOTHING = 0.005; // in log-odds: a factor of 1.00
const RARE = 0.05; // below this typicality a case is called unusual

// The column of the table behind a component, −1 without one.
const inputOf = (g) => (g === data.baseRate ? -1 : columnOf[g]);
const isMissing = (g) => inputOf(g) >= 0 && state.x[inputOf(g)] === null;

function reasonName(g) {
  const inText = state.row.stored?.inText?.[state.row.stored.g.indexOf(g)];
  const name = called(data.components[g]);
  if (typeof inText !== "boolean") return name;
  return inText ? `“${name}”` : `“${name}” (not in the text)`;
}

// The reasons for a over b, and those against: [{ g, name, weight, half }] each, the strongest first.
function reasonsOf(pair) {
  const { pieces, others, othersFor, othersAgainst } = state.weights;
  const all = pieces.filter(({ g }) => g !== data.baseRate)
    .map(({ g, w }) => ({ g, name: reasonName(g), weight: contrastOf(w, pair), half: halfWidth(g, pair) }))
    .sort((x, y) => Math.abs(y.weight) - Math.abs(x.weight) || x.g - y.g);
  const named = all.slice(0, MOST_REASONS).filter(({ weight }) => Math.abs(weight) >= LEAST_REASON);
  const rest = all.slice(named.length);
  const sides = [1, -1].map((sign) => {
    const small = rest.filter(({ weight }) => sign * weight > 0);
    const sum = small.reduce((total, { weight }) => total + weight, 0);
    return { named: named.filter(({ weight }) => sign * weight > 0), count: small.length, sum };
  });
  if (others && K === 2 && pair.b !== REST) {
    sides[0].sum += othersFor[pair.a] + othersAgainst[pair.b];
    sides[1].sum -= othersAgainst[pair.a] + othersFor[pair.b];
  } else if (others) {
    const net = contrastOf(othersFor.map((w, k) => w - othersAgainst[k]), pair);
    sides[net > 0 ? 0 : 1].sum += net;
  }
  return sides.map((side) => {
    const count = others ? "" : `${side.count} `;
    const name = side.count === 1 && !others ? "one other input" : `the other ${count}inputs`;
    const more = Math.abs(side.sum) < NOTHING ? [] : [{ g: "rest", name: named.length ? name : name.replace("other ", ""), weight: side.sum, half: null }];
    return [...side.named, ...more];
  });
}

function reasonRow({ g, name, weight, half }, most) {
  const j = g === "rest" ? -1 : inputOf(g);
  const unclear = half !== null && Math.abs(weight) <= half;
  const value = j < 0 ? null : make("b", { class: Odds.isUnusual(j, state.x[j]) ? "value odd" : "value" }, Words.shownValue(state.x[j]));
  const usual = j < 0 || isMissing(g) ? "" : Odds.usual(j);
  const whole = g === "rest" ? {} : nameAttributes(data.components[g]);
  return make("tr", { "data-component": g, "data-weight": weight, class: unclear ? "unclear" : false },
    make("th", { scope: "row", ...whole }, make("span", { class: "name" }, name), value && " ", value,
      usual && make("span", { class: "usual" }, ` ${usual}`), unclear ? make("span", { class: "usual" }, " · direction unclear") : null,
      make("i", { class: weight < 0 ? "strength against" : "strength", style: { width: percent(Math.abs(weight) / most) } })),
    make("td", {}, Odds.shown(weight)));
}

function drawWhy(pair) {
  const hidden = !pair || concealed(state.row);
  $("why").hidden = hidden;
  $("scales").hidden = hidden;
  $("start").hidden = hidden;
  $("running").hidden = !(state.logOdds || concealed(state.row)) || !pair;
  if (hidden) return;
  const sides = reasonsOf(pair);
  const most = Math.max(...sides.flat().map(({ weight }) => Math.abs(weight))) || 1;
  for (const [id, side, k] of [["why-for", sides[0], pair.a], ["why-against", sides[1], pair.b]]) {
    $(`${id}-title`).textContent = `Why ${nameOf(k)}`;
    $(id).tBodies[0].replaceChildren(...(side.length ? side.map((reason) => reasonRow(reason, most))
      : [make("tr", {}, make("td", { colspan: 2, class: "usual" }, "no reason"))]));
  }
  drawStart(pair);
}

// Where the reasons start: the model's answer at the averages of all inputs.
function drawStart({ a, b }) {
  if (data.baseRate === null) {
    $("start").textContent = data.sharesBaseRate ? "Each reason includes an equal share of the starting point." : "";
    return;
  }
  const base = state.weights.pieces.find(({ g }) => g === data.baseRate)?.w;
  if (!base) return;
  const start = softmax(base);
  const { probability } = state.result;
  const shown = K === 2 || b === REST ? [a] : [a, b]; // of more classes, one chance does not give the odds of two
  const means = state.logOdds ? "" : ` × multiplies the odds of ${nameOf(a)}${K === 2 ? "" : ` against ${nameOf(b)}`}, ÷ divides them.`;
  $("start").textContent = `Starting point: the average case, ${shown.map((k) => `${Odds.chance(start[k])} for ${nameOf(k)}`).join(" and ")}.${means} All reasons together make it ${shown.map((k) => Odds.chance(probability[k], nearLimit(k))).join(" and ")}.`;
}

const softmax = (logits) => {
  const top = Math.max(...logits);
  const odds = logits.map((z) => Math.exp(z - top));
  const total = odds.reduce((sum, value) => sum + value, 0);
  return odds.map((value) => value / total);
};

// The answer: the chances of the classes, the policy, and how sure it is.
const MOST_CHANCES = 3;

// Where the policy decides, on the bar of its class; null if no single bar shows it.
function limitOf(k) {
  if (K !== 2 || data.answerRule?.regret || k !== data.asked) return null;
  return data.answerRule ? data.answerRule.threshold : 0.5;
}

// The limit that the chance of a class is compared with: its own, or what that of the other class leaves.
function nearLimit(k) {
  const other = K === 2 ? limitOf(1 - k) : null;
  return limitOf(k) ?? (other === null ? null : 1 - other);
}

function chanceRow(name, value, limit, chosen, near = limit) {
  return make("div", { class: chosen ? "chance chosen" : "chance" }, make("span", { class: "name" }, name),
    make("b", {}, Odds.chance(value, near)),
    make("span", { class: "gauge" }, make("i", { class: "part", style: { width: percent(value) } }),
      limit === null ? null : make("i", { class: "limit", style: { left: percent(limit) } })));
}

function drawChances({ probability, answer }) {
  const order = data.classes.map((_, k) => k);
  if (K === 2) order.sort((a) => (a === data.asked ? -1 : 1));
  else order.sort((a, b) => probability[b] - probability[a] || a - b);
  const shown = order.slice(0, K === MOST_CHANCES + 1 ? K : MOST_CHANCES);
  const rows = shown.map((k) => {
    return chanceRow(called(data.classes[k]), probability[k], limitOf(k), k === answer, nearLimit(k));
  });
  const rest = order.slice(shown.length);
  if (rest.length) rows.push(chanceRow(`${rest.length} others`, rest.reduce((sum, k) => sum + probability[k], 0), null, false));
  $("chances").replaceChildren(...rows);
  $("chances").setAttribute("aria-label", shown.map((k) => `${called(data.classes[k])} ${Odds.chance(probability[k])}`).join(", "));
}

function drawDecision({ answer }) {
  const rule = data.answerRule;
  let how = K === 2 ? "the model answers the more probable class" : "the model answers the most probable class";
  if (rule) how = rule.regret ? "the policy decides by the least expected loss" : `the policy decides for ${called(data.classes[rule.position])} from ${Odds.chance(rule.threshold)} on`;
  const parts = [`${how} → `, make("b", {}, called(data.classes[answer]))];
  if (state.row.deferred && !isChanged()) parts.push(make("span", { class: "deferred" }, " · left to a person, by the promise"));
  $("decision").replaceChildren(...parts);
}

const isChanged = () => state.row.isNew || state.x.some((value, j) => value !== state.row.x[j]);

function drawSure(result) {
  const parts = [nearness(result)];
  const { typicality } = state.row;
  if (typicality !== undefined && !isChanged()) {
    parts.push(`${typicality < RARE ? "unusual" : "usual"} as a whole (typicality ${typicality < 0.01 ? "below 0.01" : typicality.toFixed(2)})`);
  }
  const pair = { a: result.answer, b: result.rival };
  const [reasons, against] = reasonsOf(pair).map((side) => side.reduce((sum, { weight }) => sum + weight, 0));
  const pro = reasons < NOTHING ? "none" : Odds.factor(reasons);
  parts.push(`reasons for ${called(data.classes[result.answer])} ${pro}, against it ${against > -NOTHING ? "none" : Odds.factor(against)}`);
  $("sure").textContent = parts.join(" · ");
}

// How near another answer is, in words.
function nearness({ probability, answer, rival }) {
  const rule = data.answerRule;
  const far = rule && !rule.regret ? Math.abs(probability[rule.position] - rule.threshold) : Math.abs(probability[answer] - probability[rival]);
  if (isNear(far)) return "Close call";
  return far < 0.2 ? "Not far from another answer" : "Far from another answer";
}

function drawTruth() {
  const known = data.truth && !state.row.isNew && !isChanged() && !concealed(state.row);
  $("truth").replaceChildren(...(known ? ["True class: ", make("b", {}, called(data.classes[state.row.truth])),
    ...(isWrong(state.row) ? [" · ", make("span", { class: "is-wrong" }, "the model is wrong")] : [])] : []));
}
