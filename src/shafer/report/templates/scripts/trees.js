// Contributions of trees: the twin of _kernels/trees.py, with the operations of its compiled form.
const Trees = (() => {
  const [NAN_IS_ZERO, ZERO_IS_MISSING] = [0, 1];
  const ZERO = 1e-35;
  const SMALLEST_SHARE = 1e-30;

  // The nodes of all trees. Those of a level come together, the left children before the right ones.
  function structure(asked) {
    const n = asked.length;
    const [left, right, parent] = [new Int32Array(n).fill(-1), new Int32Array(n).fill(-1), new Int32Array(n).fill(-1)];
    const isLeft = new Uint8Array(n);
    const starts = [0];
    for (let low = 0; low < n;) {
      let high = low + 1;
      while (low < high) {
        let splits = 0;
        for (let node = low; node < high; node += 1) splits += asked[node] > 0 ? 1 : 0;
        let next = high;
        for (let node = low; node < high; node += 1) {
          if (asked[node] === 0) continue;
          left[node] = next;
          right[node] = next + splits;
          isLeft[next] = 1;
          parent[next] = node;
          parent[next + splits] = node;
          next += 1;
        }
        [low, high] = [high, high + 2 * splits];
      }
      starts.push(low);
    }
    return { left, right, parent, isLeft, starts };
  }

  function spread(stored, isHere, n, Kind = Float64Array) {
    const whole = new Kind(n);
    let next = 0;
    for (let node = 0; node < n; node += 1) if (isHere(node)) { whole[node] = stored[next]; next += 1; }
    return whole;
  }

  function decodedForest(stored, decoded) {
    const asked = decoded(stored.feature);
    const n = asked.length;
    const isSplit = (node) => asked[node] > 0;
    const forest = {
      ...structure(asked), n, outputs: stored.outputs, output: decoded(stored.output),
      feature: Int32Array.from(asked, (feature) => feature - 1),
      threshold: spread(decoded(stored.threshold), isSplit, n),
      value: spread(decoded(stored.value), (node) => !isSplit(node), n),
      flags: spread(decoded(stored.flags), isSplit, n, Uint8Array),
      cover: stored.cover ? decoded(stored.cover) : null,
      setGoesRight: stored.setGoesRight,
    };
    if (!stored.sets) return { ...forest, sets: null };
    const sets = spread(decoded(stored.sets), isSplit, n, Uint32Array);
    const firstWord = new Uint32Array(n);
    let next = 0;
    sets.forEach((size, node) => { firstWord[node] = next; next += size; });
    return { ...forest, sets, firstWord, words: decoded(stored.words) };
  }

  function goesLeft(forest, node, given) {
    const kind = forest.flags[node] & 3;
    const lost = Number.isNaN(given);
    const x = lost ? 0 : given;
    if ((lost && kind !== NAN_IS_ZERO) || (kind === ZERO_IS_MISSING && Math.abs(x) <= ZERO)) {
      return forest.flags[node] >= 4;
    }
    const size = forest.sets ? forest.sets[node] : 0;
    if (size === 0) return x <= forest.threshold[node];
    if (!(x > -1 && x < 32 * size)) return forest.setGoesRight;
    const category = Math.trunc(x);
    const word = forest.words[forest.firstWord[node] + (category >> 5)];
    return (((word >>> (category & 31)) & 1) === 1) !== forest.setGoesRight;
  }

  function shareOfParent({ cover, left, right, parent }, node) {
    const up = parent[node];
    const both = cover[left[up]] + cover[right[up]];
    return both > 0 ? cover[node] / both : 0.5;
  }

  // What the paths to the nodes have in common for all instances; see forest_paths.
  function paths(forest) {
    const { n, parent, feature, starts } = forest;
    const [share, earlier, count] = [new Float64Array(n).fill(1), new Int32Array(n).fill(-1), new Uint16Array(n)];
    for (let node = 0; node < n; node += 1) {
      if (parent[node] < 0) continue;
      const own = feature[parent[node]];
      let above = parent[node];
      while (parent[above] >= 0 && feature[parent[above]] !== own) above = parent[above];
      earlier[node] = parent[above] >= 0 ? above : -1;
      share[node] = shareOfParent(forest, node) * (earlier[node] >= 0 ? share[earlier[node]] : 1);
      count[node] = count[parent[node]] + (earlier[node] >= 0 ? 0 : 1);
    }
    const points = starts.slice(1).map((end, t) => {
      let deepest = 0;
      for (let node = starts[t]; node < end; node += 1) deepest = Math.max(deepest, count[node]);
      return Math.max(1, Math.ceil(deepest / 2));
    });
    return { share: share.map((value) => Math.max(value, SMALLEST_SHARE)), earlier, points };
  }

  // Shapley values, (columns × outputs), from the quadrature rules on [0, 1].
  function shapley(forest, columns, rules) {
    const { share, earlier, points } = paths(forest);
    const { starts, parent, isLeft, feature, left, right, value, output, outputs } = forest;
    const most = Math.max(...starts.slice(1).map((end, t) => end - starts[t]));
    const product = new Float64Array(most * Math.max(...points));
    const [goes, agrees] = [new Uint8Array(most), new Uint8Array(most)];

    function down(first, end, x, known, size) {
      product.fill(1, 0, size);
      for (let node = first; node < end; node += 1) {
        const here = node - first;
        if (node > first) {
          const [up, before] = [parent[node] - first, earlier[node]];
          agrees[here] = goes[up] === isLeft[node] && (before < 0 || agrees[before - first]) ? 1 : 0;
          for (let q = 0; q < size; q += 1) {
            const unknown = 1 - known[q];
            let next = product[up * size + q] * (unknown * share[node] + known[q] * agrees[here]);
            if (before >= 0) {
              const part = unknown * share[before];
              next *= agrees[before - first] ? 1 / (part + known[q]) : 1 / part;
            }
            product[here * size + q] = next;
          }
        }
        if (feature[node] >= 0) goes[here] = goesLeft(forest, node, x[feature[node]]) ? 1 : 0;
        else for (let q = 0; q < size; q += 1) product[here * size + q] *= value[node];
      }
    }

    function up(first, end, known, weight, size, total, k) {
      for (let node = end - 1; node > first; node -= 1) {
        const [here, before] = [node - first, earlier[node]];
        const place = feature[parent[node]] * outputs + k;
        for (let q = 0; q < size; q += 1) {
          if (feature[node] >= 0) {
            product[here * size + q] = product[(left[node] - first) * size + q] + product[(right[node] - first) * size + q];
          }
          const below = product[here * size + q];
          const unknown = 1 - known[q];
          const factor = (r, met) => (met ? ((1 - r) * weight[q]) / (unknown * r + known[q]) : -weight[q] / unknown);
          total[place] += below * factor(share[node], agrees[here]);
          if (before >= 0) total[place] -= below * factor(share[before], agrees[before - first]);
        }
      }
    }

    return (x) => {
      const total = new Float64Array(columns * outputs);
      output.forEach((k, t) => {
        const [known, weight] = rules[points[t] - 1];
        down(starts[t], starts[t + 1], x, known, points[t]);
        up(starts[t], starts[t + 1], known, weight, points[t], total, k);
      });
      return total;
    };
  }

  // The mean of the leaves below each node.
  function means(forest) {
    const found = Float64Array.from(forest.value);
    for (let node = forest.n - 1; node >= 0; node -= 1) {
      if (forest.feature[node] < 0) continue;
      const share = shareOfParent(forest, forest.left[node]);
      found[node] = share * found[forest.left[node]] + (1 - share) * found[forest.right[node]];
    }
    return found;
  }

  // What each feature changes on the way to a leaf, or what each round adds.
  function walks(forest, columns, how) {
    const { starts, feature, left, right, value, output, outputs } = forest;
    const mean = how === "path" ? means(forest) : null;
    const size = how === "path" ? columns : output.length / outputs;
    return (x) => {
      const total = new Float64Array(size * outputs);
      output.forEach((k, t) => {
        let node = starts[t];
        while (feature[node] >= 0) {
          const child = goesLeft(forest, node, x[feature[node]]) ? left[node] : right[node];
          if (mean) total[feature[node] * outputs + k] += mean[child] - mean[node];
          node = child;
        }
        if (!mean) total[Math.floor(t / outputs) * outputs + k] += value[node];
      });
      return total;
    };
  }

  // The function from numbers to contributions, (G, outputs).
  function read(stored, decoded) {
    const forest = decodedForest(stored, decoded);
    const { columns, how, shared, single, missing, outputs } = stored;
    const found = how === "shapley" ? shapley(forest, columns, stored.rules) : walks(forest, columns, how);
    return (numbers) => {
      const rounded = single ? numbers.map(Math.fround) : numbers;
      const values = found(missing === null ? rounded : rounded.map((x) => (x === missing ? NaN : x)));
      const rows = Array.from({ length: values.length / outputs }, (_, g) =>
        Array.from(values.subarray(g * outputs, (g + 1) * outputs)));
      const own = rows.slice(0, rows.length - shared.length);
      // What a combination of features receives is shared among them.
      shared.forEach((members, c) => members.forEach((j) =>
        rows[own.length + c].forEach((value, k) => { own[j][k] += value / members.length; })));
      return own;
    };
  }

  return { read };
})();
