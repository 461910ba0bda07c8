// The image of an instance, and the evidence of its locations over it.
const MAP_PIXELS = 336; // of the longer side
const GHOST = 0.82; // brightness of the darkest pixel of the image under the colours
const MAP_COLORS = { for: [0, 114, 178], against: [213, 94, 0], ignorance: [0, 84, 61], disagreement: [122, 47, 87] };
const pictures = new Map();

// The component of each cell, row by row.
function cellsOf(image) {
  const labels = image.labels ?? data.images.labels;
  if (labels) return unpacked(labels, Uint16Array);
  return Uint16Array.from({ length: data.images.size[0] * data.images.size[1] }, (_, g) => g);
}

// The weights (cells, K) of a row; a class whose map is not stored has none.
function mapWeights(image) {
  const packed = unpacked(image.w, Int16Array);
  const { cells, levels } = data.images;
  return Array.from({ length: cells }, (_, g) => {
    const weights = new Array(K).fill(null);
    image.k.forEach((k, at) => { weights[k] = packed[at * cells + g] / levels * image.most; });
    return weights;
  });
}

// The values of the cells to draw, or null where the maps of the classes are not stored.
function mapValues(image, kind, pair) {
  if (kind !== "evidence") return Array.from(unpacked(image[kind], Int16Array), (v) => v / data.images.levels);
  const asked = pair.b === REST ? data.classes.map((_, k) => k) : [pair.a, pair.b];
  if (!asked.every((k) => image.k.includes(k))) return null;
  return mapWeights(image).map((weights) => contrastOf(weights, pair));
}

const mixed = (color, share) => color.map((part) => 255 + (part - 255) * share);
function mapColor(kind, value, low, high) {
  if (kind !== "evidence") {
    const share = Math.max(0, (value - low) / (high - low));
    return mixed(MAP_COLORS[kind], kind === "ignorance" ? 1 - share : share); // white: no evidence
  }
  return mixed(value < 0 ? MAP_COLORS.against : MAP_COLORS.for, Math.abs(value) / high);
}

// From where to where the colours go; evidence is symmetric around zero.
function mapRange(kind, values) {
  if (kind === "evidence") { const most = Math.max(...values.map(Math.abs)) || 1; return [-most, most]; }
  if (kind === "ignorance") return [Math.min(Math.floor(20 * Math.min(...values)) / 20, 0.95), 1];
  return [0, Math.max(...values, 0.05)];
}

// The picture, once it is read; null while it is not, or if there is none.
function pictureOf(row) {
  if (!row.image.src) return null;
  if (!pictures.has(row.i)) {
    pictures.clear(); // one at a time is enough
    const picture = new Image();
    pictures.set(row.i, picture);
    picture.onload = () => { if (state.row === row) drawImage(); };
    picture.src = row.image.src;
  }
  const picture = pictures.get(row.i);
  return picture.complete && picture.naturalWidth ? picture : null;
}

function sizedCanvas(id, picture) {
  const [height, width] = picture ? [picture.naturalHeight, picture.naturalWidth] : data.images.size;
  const canvas = $(id);
  const times = MAP_PIXELS / Math.max(height, width);
  canvas.width = Math.max(1, Math.round(width * times));
  canvas.height = Math.max(1, Math.round(height * times));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingEnabled = false;
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (picture) context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return { canvas, context };
}

// The cell of a pixel of the canvas.
function cellAt(canvas, cells, x, y) {
  const [height, width] = data.images.size;
  const row = Math.min(height - 1, Math.floor((y + 0.5) * height / canvas.height));
  const column = Math.min(width - 1, Math.floor((x + 0.5) * width / canvas.width));
  return cells[row * width + column];
}

const brightness = (r, g, b) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
// A dark image is drawn as its negative, so that most of it leaves the colours as they are.
function isDark(pixels) {
  let total = 0;
  for (let at = 0; at < pixels.length; at += 4) total += brightness(pixels[at], pixels[at + 1], pixels[at + 2]);
  return 4 * total < 0.5 * pixels.length;
}

function paintMap(image, kind, values, [low, high], borders) {
  const { canvas, context } = sizedCanvas("map", pictureOf(state.row));
  const cells = cellsOf(image);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
  const negative = isDark(pixels.data);
  const colors = values.map((value) => mapColor(kind, value, low, high));
  for (let y = 0; y < canvas.height; y += 1) for (let x = 0; x < canvas.width; x += 1) {
    const at = 4 * (y * canvas.width + x);
    const cell = cellAt(canvas, cells, x, y);
    const edge = borders && (cellAt(canvas, cells, x + 1, y) !== cell || cellAt(canvas, cells, x, y + 1) !== cell);
    const [r, g, b] = pixels.data.subarray(at, at + 3);
    const grey = brightness(r, g, b);
    const shade = edge ? 0.35 : GHOST + (1 - GHOST) * (negative ? 1 - grey : grey);
    colors[cell].forEach((part, c) => { pixels.data[at + c] = part * shade; });
  }
  context.putImageData(pixels, 0, 0);
  canvas.onmousemove = ({ offsetX, offsetY }) => {
    const scale = canvas.width / canvas.clientWidth;
    const cell = cellAt(canvas, cells, Math.floor(offsetX * scale), Math.floor(offsetY * scale));
    $("map-cell").textContent = `${data.components[cell]}: ${kind === "evidence" ? signed(values[cell]) : number(values[cell])}`;
  };
  canvas.onmouseleave = () => { $("map-cell").textContent = ""; };
}

// The whole sum: base rate, locations for and against, log-odds.
function sumText(pair, [forFirst, forSecond]) {
  const base = state.weights.pieces.find(({ g }) => g === data.baseRate);
  const own = base ? contrastOf(base.w, pair) : 0;
  const start = base ? `base rate ${signed(own)}, ` : data.sharesBaseRate ? "with shares of the base rate: " : "";
  const sum = concealed(state.row) ? "" : `: log-odds ${signed(own + forFirst - forSecond)}`;
  const text = `${start}for ${nameOf(pair.a)} ${signed(forFirst)}, for ${nameOf(pair.b)} ${signed(-forSecond)}${sum}`;
  return text[0].toUpperCase() + text.slice(1);
}

const MAP_WORDS = {
  evidence: (pair, sums) => ({
    title: `Evidence for ${nameOf(pair.a)} over ${nameOf(pair.b)}`, ends: [`for ${nameOf(pair.b)}`, `for ${nameOf(pair.a)}`],
    note: `${sumText(pair, sums)} (${UNIT}). The image is a pale ghost under the colours. A location is what the network read there; it saw a larger part of the image. The menus beside the bars choose the classes.`,
  }),
  ignorance: () => ({
    title: "Ignorance of each location", ends: ["strong evidence", "no evidence"],
    note: "The ignorance of each location by itself: 1, and white, where it gives no evidence for or against any class.",
  }),
  disagreement: () => ({
    title: "Conflict with the other locations", ends: ["agrees", "contradicts"],
    note: "The conflict between each location and all others together, over all classes.",
  }),
};

function describeMap(kind, pair, values, [low, high]) {
  const sums = [1, -1].map((side) => values.reduce((total, v) => total + Math.max(0, side * v), 0));
  const { title, ends, note } = MAP_WORDS[kind](pair, sums);
  const color = (value) => `rgb(${mapColor(kind, value, low, high).map(Math.round).join(",")})`;
  $("map-title").textContent = title;
  $("map-low").textContent = `${ends[0]} ${Math.abs(low).toFixed(2)}`;
  $("map-high").textContent = `${high.toFixed(2)} ${ends[1]}`;
  $("map-bar").style.background = `linear-gradient(90deg, ${[low, (low + high) / 2, high].map(color).join(", ")})`;
  $("map-note").textContent = note;
  const best = values.indexOf(Math.max(...values)); // of ignorance, the least evidence
  $("map").setAttribute("aria-label", `${title}. The largest value is at ${data.components[best]}.`);
  Object.assign($("map").dataset, { kind, high, for: sums[0], against: sums[1], best });
}

function drawImage() {
  if (!data.images) return;
  const { image } = state.row;
  const pair = pairIn($("class"), $("over"));
  const kind = $("map-kind").value;
  sizedCanvas("picture", pictureOf(state.row));
  $("picture").hidden = image.src === null;
  $("picture-note").textContent = image.note;
  const values = pair && mapValues(image, kind, pair);
  $("map").parentElement.hidden = !pair;
  for (const id of ["map", "map-bar", "map-low", "map-high"]) $(id).hidden = !values;
  if (pair && !values) {
    $("map-title").textContent = "";
    $("map-note").textContent = `The page has the maps of the ${image.k.length} most probable classes of this row. Choose two of them.`;
  }
  if (!values) return;
  const range = mapRange(kind, values);
  paintMap(image, kind, values, range, $("map-grid").checked);
  describeMap(kind, pair, values, range);
}

function startImage() {
  if (!data.images) return;
  $("map-kind").addEventListener("change", drawImage);
  $("map-grid").addEventListener("change", drawImage);
}
