// The closed forms of shafer.kernels, for one instance: arrays over the classes in, numbers out.
// Everything runs on logarithms relative to the largest logit, as there (docs/background/theory.md).
"use strict";
const Evidence = (() => {
  const LN2 = Math.LN2;
  const TAIL = 20;
  const NEVER = 4000; // −ln v of a class that no evidence opposes: as good as infinity
  const LOG_NEVER = Math.log(NEVER);
  const MOST_DISPUTED = 64; // classes of which all pairs are compared

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const largest = (values) => values.reduce((top, value) => Math.max(top, value), -Infinity);
  const log1mexp = (x) => (x < LN2 ? Math.log(-Math.expm1(-x)) : Math.log1p(-Math.exp(-x)));
  const negLog1mexp = (x) => (x > 0 ? -log1mexp(x) : NEVER);

  function logNegLog1mexp(x) {
    if (x === 0) return LOG_NEVER;
    return x > TAIL ? 0.5 * Math.exp(-x) - x : Math.log(-log1mexp(x));
  }

  function log1mexpexp(y, shift) {
    const whole = y + shift;
    return whole < -TAIL ? y - 0.5 * Math.exp(whole) : log1mexp(Math.exp(whole)) - shift;
  }

  function logsumexp(values) {
    const top = largest(values);
    if (!Number.isFinite(top)) return top;
    return Math.log(sum(values.map((value) => Math.exp(value - top)))) + top;
  }

  // Sum of all but one, for values ≥ 0: the largest is left out of a fresh sum, so nothing cancels.
  function leaveOneOutSum(values) {
    const top = values.indexOf(largest(values));
    const rest = sum(values.filter((_, k) => k !== top));
    const total = sum(values);
    return values.map((value, k) => (k === top ? rest : total - value));
  }

  // Chance that at least two of the independent events of weight w happen.
  function twoOrMoreFire(weights) {
    const w = [...weights].sort((a, b) => b - a);
    let oneBefore = 0;
    let silent = 0;
    let chance = 0;
    for (let r = 1; r < w.length; r += 1) {
      oneBefore += -Math.expm1(-w[r - 1]) * Math.exp(w[r - 1] - w[0]);
      if (r > 1) silent += w[r - 1];
      chance += -Math.expm1(-w[r]) * oneBefore * Math.exp(-silent);
    }
    return chance;
  }

  function terms(weightsFor, weightsAgainst) {
    const logits = weightsFor.map((w, k) => w - weightsAgainst[k]);
    const shift = largest(logits);
    const relative = logits.map((z) => z - shift);
    const logS = relative.map((z, k) => z + log1mexp(weightsFor[k]));
    const early = Math.min(shift, 0);
    const open = logsumexp(weightsAgainst.map((w) => logNegLog1mexp(w) - early));
    const log1mP = log1mexpexp(open, early) - (shift - early);
    return {
      weightsFor, weightsAgainst, logits, shift, relative,
      negLogV: weightsAgainst.map(negLog1mexp),
      logD: logsumexp([logsumexp(logS), log1mP]),
    };
  }

  function conflict(t) {
    const others = leaveOneOutSum(t.weightsFor);
    const contradicted = sum(t.weightsFor.map((w, k) =>
      -Math.expm1(-w) * Math.exp(-others[k]) * -Math.expm1(-t.weightsAgainst[k])));
    const allDenied = Math.exp(-sum(t.weightsFor) - sum(t.negLogV));
    return Math.min(twoOrMoreFire(t.weightsFor) + contradicted + allDenied, 1);
  }

  // −ln(1 − κ), also where κ rounds to one.
  function weightOfConflict(t, kappa) {
    if (kappa < 0.5) return -Math.log1p(-kappa);
    return Math.max(0, sum(t.weightsFor) - t.shift - t.logD);
  }

  // `quadrature` holds the nodes (as 1 − t) and weights of the exact rule for this many classes.
  function pignistic(t, plausibility, belief, quadrature) {
    const u = t.weightsAgainst.map((w) => Math.exp(-w));
    const integral = u.map(() => 0);
    quadrature.nodes.forEach((oneMinusT, q) => {
      const factors = u.map((value) => Math.log1p(-value * oneMinusT));
      const total = sum(factors);
      factors.forEach((f, k) => { integral[k] += quadrature.weights[q] * Math.exp(total - f); });
    });
    return t.weightsFor.map((w, k) => {
      const ratio = -Math.expm1(-w) + Math.exp(-w) * integral[k];
      return Math.max(Math.min(plausibility[k] * ratio, plausibility[k]), belief[k]);
    });
  }

  // Best-first search over flips of the best set, as in shafer.kernels.focal.
  function focalSets(t, logBelief, top) {
    const logU = t.weightsAgainst.map((w) => -w);
    const logV = t.weightsAgainst.map((w, k) => (w === 0 ? -Infinity : -t.negLogV[k]));
    const undenied = t.weightsAgainst.filter((w) => w === 0).length;
    const found = [];
    logBelief.forEach((logMass, k) => {
      const othersUndenied = undenied > (t.weightsAgainst[k] === 0 ? 1 : 0);
      if (t.weightsFor[k] > 0 || !othersUndenied) found.push({ logMass, members: [k] });
    });
    const best = logU.map((value, k) => value >= logV[k]);
    const order = best.map((_, k) => k)
      .filter((k) => Number.isFinite(logV[k]))
      .sort((a, b) => Math.abs(logU[a] - logV[a]) - Math.abs(logU[b] - logV[b]) || a - b);
    const cost = order.map((k) => Math.abs(logU[k] - logV[k]));
    const logBest = sum(best.map((inside, k) => (inside ? logU[k] : logV[k]))) - t.logD - t.shift;
    let wanted = top;
    const visit = (total, flips) => {
      const members = best
        .map((inside, k) => (flips.has(k) ? !inside : inside))
        .flatMap((inside, k) => (inside ? [k] : []));
      if (members.length > 1) {
        found.push({ logMass: Math.min(logBest - total, 0), members });
        wanted -= 1;
      }
    };
    visit(0, new Set());
    let queue = order.length ? [{ total: cost[0], flipped: [0] }] : [];
    while (queue.length && wanted > 0) {
      const next = queue.reduce((low, entry, q) => (entry.total < queue[low].total ? q : low), 0);
      const [{ total, flipped }] = queue.splice(next, 1);
      visit(total, new Set(flipped.map((position) => order[position])));
      const last = flipped[flipped.length - 1];
      if (last + 1 < order.length) {
        queue.push({ total: total + cost[last + 1], flipped: [...flipped, last + 1] });
        queue.push({
          total: total - cost[last] + cost[last + 1],
          flipped: [...flipped.slice(0, -1), last + 1],
        });
      }
    }
    return found
      .filter((set) => set.logMass > -Infinity)
      .sort((a, b) => b.logMass - a.logMass || a.members.length - b.members.length)
      .slice(0, top)
      .map(({ logMass, members }) => ({ mass: Math.exp(logMass), members }));
  }

  function bounds(t) {
    const logPlausibility = t.relative.map((z) => Math.min(z - t.logD, 0));
    const denials = leaveOneOutSum(t.negLogV);
    const logBelief = logPlausibility.map((logPl, k) => logPl + Math.min(0,
      logsumexp([log1mexp(t.weightsFor[k]), -t.weightsFor[k] - denials[k]])));
    return { logPlausibility, logBelief };
  }

  // Weight of the conflict between components, (G, K): what is left of the whole weight of conflict
  // without the components' own.
  function weightOfDisagreement(weights, whole) {
    if (weights.length < 2) return 0;
    const own = sum(weights.map((w) => {
      const { weightsFor, weightsAgainst } = pool([w], w.length);
      const t = terms(weightsFor, weightsAgainst);
      return weightOfConflict(t, conflict(t));
    }));
    return Math.max(0, whole - own);
  }

  // The two classes that the components, (G, K), dispute most, the more supported first: some favour
  // the one, others the other, and the most weight cancels. Or null.
  function disputed(weights) {
    const logits = weights[0].map((_, k) => sum(weights.map((w) => w[k])));
    const kept = logits.map((_, k) => k).sort((a, b) => logits[b] - logits[a] || a - b)
      .slice(0, MOST_DISPUTED).sort((a, b) => a - b);
    let most = 1e-12 * largest(weights.map((w) => largest(w.map(Math.abs)))); // rounding
    let pair = null;
    kept.forEach((a, at) => kept.slice(at + 1).forEach((b) => {
      const favour = (one, other) => sum(weights.map((w) => Math.max(0, w[one] - w[other])));
      const [ab, ba] = [favour(a, b), favour(b, a)];
      if (Math.min(ab, ba) > most) {
        most = Math.min(ab, ba);
        pair = ba > ab ? [b, a] : [a, b];
      }
    }));
    return pair;
  }

  // The position of the largest value other than the one at `but`.
  function mostBut(values, but) {
    const others = values.map((value, k) => (k === but ? -Infinity : value));
    return others.indexOf(largest(others));
  }

  // Everything the page shows of one instance, from its pooled weights.
  function read(weightsFor, weightsAgainst, quadrature, topSets) {
    const t = terms(weightsFor, weightsAgainst);
    const odds = t.relative.map(Math.exp);
    const total = sum(odds);
    const { logPlausibility, logBelief } = bounds(t);
    const plausibility = logPlausibility.map(Math.exp);
    const belief = logBelief.map(Math.exp);
    const most = largest(belief);
    const kappa = conflict(t);
    return {
      logits: t.logits,
      probability: odds.map((value) => value / total),
      plausibility,
      belief,
      pignistic: pignistic(t, plausibility, belief, quadrature),
      ignorance: Math.exp(Math.min(0, -sum(weightsAgainst) - t.shift - t.logD)),
      conflict: kappa,
      weightOfConflict: weightOfConflict(t, kappa),
      decided: plausibility.flatMap((pl, k) => (pl >= most ? [k] : [])),
      answer: t.logits.indexOf(t.shift),
      rival: mostBut(t.logits, t.logits.indexOf(t.shift)),
      sets: focalSets(t, logBelief, topSets),
    };
  }

  // Sum the weights of the components, (G, K), into evidence for and against each class.
  function pool(weights, classes) {
    const side = (sign) => Array.from({ length: classes }, (_, k) =>
      sum(weights.map((w) => Math.max(0, sign * w[k]))));
    return { weightsFor: side(1), weightsAgainst: side(-1) };
  }

  // Discounting: a share of all mass, one minus the reliability, moves to the set of all classes.
  // The probabilities are those one bets with, and stay.
  function discounted(result, reliability) {
    const rest = 1 - reliability;
    const whole = result.belief.length;
    const belief = result.belief.map((value) => reliability * value);
    const plausibility = result.plausibility.map((value) => reliability * value + rest);
    const most = largest(belief);
    const ignorance = reliability * result.ignorance + rest;
    const sets = result.sets.filter(({ members }) => members.length < whole)
      .map(({ mass, members }) => ({ mass: reliability * mass, members }));
    sets.push({ mass: ignorance, members: belief.map((_, k) => k) });
    return {
      ...result, belief, plausibility, ignorance,
      pignistic: result.pignistic.map((value) => reliability * value + rest / whole),
      decided: plausibility.flatMap((pl, k) => (pl >= most ? [k] : [])),
      sets: sets.filter(({ mass }) => mass > 0).sort((a, b) => b.mass - a.mass),
    };
  }

  return { pool, read, weightOfDisagreement, disputed, mostBut, discounted };
})();
