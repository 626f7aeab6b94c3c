"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const office = data.edition === "office";
const find = (id) => document.getElementById(id);
const KINDS = office ? ["published", "primary", "secondary"] : ["published", "suppressed"];
const MORE = 100, PRINTED = 5000;

// Everything that is shown goes in as text: labels are never read as markup.
function make(tag, properties = {}, ...inside) {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...inside);
  return made;
}

function draw(tag, attributes = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
}

const codes = (cell) => (data.at.length ? data.at[cell].map((c, d) => data.dimensions[d].codes[c]) : [data.names[cell]]);
const heads = data.dimensions.length ? data.dimensions.map((d) => d.name) : ["cell"];
const short = (text, most = 26) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
const grouped = (text) => text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, "\u202f"));

function shownInterval(cell) {
  const known = (data.interval || {})[cell];
  if (!known) return "";
  const end = (x) => (x === null ? "no limit" : grouped(String(Number(x.toFixed(6)))));
  return `${end(known[0])} – ${end(known[1])}${known[2] ? "" : " or wider"}`;
}

function width(cell) {
  const known = (data.interval || {})[cell];
  if (!known) return -1;
  return known[0] === null || known[1] === null ? Infinity : known[1] - known[0];
}

// ---- the list of cells ----

const columns = heads.map((name, d) => ({ name, text: (cell) => codes(cell)[d] }));
columns.push({ name: "state", fixed: true, text: (cell) => KINDS[data.kind[cell]], kind: true });
columns.push({
  name: "value", number: true, text: (cell) => (data.value[cell] === null ? "" : grouped(data.value[cell])),
  order: (cell) => (data.value[cell] === null ? -Infinity : Number(data.value[cell])),
});
if (office) {
  columns.push({ name: "attacker's interval", number: true, text: shownInterval, order: width });
  columns.push({
    name: "levels", number: true,
    text: (cell) => ((data.level[cell] && data.kind[cell] === 1) ? `−${data.level[cell][0]} +${data.level[cell][1]}` : ""),
    order: (cell) => (data.level[cell] ? Number(data.level[cell][1]) : -1),
  });
  columns.push({
    name: "cost", number: true, text: (cell) => (data.weight[cell] ? grouped(data.weight[cell]) : ""),
    order: (cell) => Number(data.weight[cell] || -1),
  });
  columns.push({ name: "reason", text: (cell) => data.reason[cell] || "", reason: true });
}

const unsafe = new Set(data.unsafe || []);
const haystack = data.kind.map((_, cell) => codes(cell).join("\u0000").toLowerCase());
const list = { sort: null, down: false, shown: MORE };

function chosenCells() {
  const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const which = find("which").value;
  const cells = [];
  data.kind.forEach((kind, cell) => {
    const wanted = which === "all" || (which === "suppressed" ? kind > 0 : KINDS[kind] === which);
    if (wanted && words.every((word) => haystack[cell].includes(word))) cells.push(cell);
  });
  if (list.sort === null) return cells;
  const { order, text } = columns[list.sort];
  const compare = order
    ? (a, b) => (order(a) === order(b) ? a - b : order(a) < order(b) ? -1 : 1)
    : (a, b) => text(a).localeCompare(text(b), undefined, { numeric: true }) || a - b;
  return cells.sort((a, b) => (list.down ? compare(b, a) : compare(a, b)));
}

function row(cell, shown) {
  const made = make("tr", { className: unsafe.has(cell) ? "unsafe" : "" });
  for (const column of shown) {
    const classes = [column.number && "number", column.reason && "reason", column.fixed && "fixed", column.kind && `kind${data.kind[cell]}`];
    made.append(make("td", { className: classes.filter(Boolean).join(" "), textContent: column.text(cell) }));
  }
  return made;
}

function fillList() {
  const cells = chosenCells();
  const head = make("tr");
  columns.forEach((column, at) => {
    const sign = list.sort === at ? (list.down ? " ▾" : " ▴") : "";
    const button = make("button", { type: "button", textContent: column.name + sign });
    button.addEventListener("click", () => {
      list.down = list.sort === at ? !list.down : Boolean(column.number);
      list.sort = at;
      fillList();
    });
    const th = make("th", { className: column.number ? "number" : "", scope: "col" }, button);
    if (list.sort === at) th.ariaSort = list.down ? "descending" : "ascending";
    head.append(th);
  });
  const body = make("tbody", {}, ...cells.slice(0, list.shown).map((cell) => row(cell, columns)));
  find("list").replaceChildren(make("thead", {}, head), body);
  find("count").textContent = `${cells.length.toLocaleString("en")} cells`;
  find("more").hidden = cells.length <= list.shown;
}

function startList() {
  for (const [value, text] of [["all", "all cells"], ["suppressed", "suppressed"], ...(office ? [["primary", "primary"], ["secondary", "secondary"]] : [])]) {
    find("which").append(make("option", { value, textContent: text }));
  }
  if (data.kind.some((kind) => kind > 0)) find("which").value = "suppressed";
  const again = () => { list.shown = MORE; fillList(); };
  find("search").addEventListener("input", again);
  find("which").addEventListener("change", again);
  find("more").addEventListener("click", () => { list.shown += 5 * MORE; fillList(); });
  window.addEventListener("beforeprint", () => { list.shown = Math.max(list.shown, PRINTED); fillList(); });
  find("cells").hidden = false;
  fillList();
}

function startTight() {
  if (!office || !data.tight.length) return;
  const ratio = new Map(data.tight);
  const shown = [...columns.filter((c) => !["state", "cost", "reason"].includes(c.name)),
    { name: "room over level", number: true, text: (cell) => `${ratio.get(cell).toFixed(2)} ×` }];
  const head = make("tr", {}, ...shown.map((c) => make("th", { className: c.number ? "number" : "", textContent: c.name })));
  const body = make("tbody", {}, ...data.tight.map(([cell]) => row(cell, shown)));
  find("tightest").replaceChildren(make("thead", {}, head), body);
  find("tight").hidden = false;
}

// ---- the map ----

const SIZE = 18;
const map = { rows: 0, columns: 1, fixed: [], open: [] };

function tree(dimension) {
  const below = dimension.codes.map(() => []);
  let root = 0;
  dimension.parent.forEach((parent, code) => { if (parent < 0) root = code; else below[parent].push(code); });
  return { below, root };
}

const trees = data.dimensions.map(tree);

function visible(axis) {
  const found = [];
  const waiting = [[trees[axis].root, 0]];
  while (waiting.length) {
    const [code, depth] = waiting.pop();
    found.push({ code, depth });
    const parts = trees[axis].below[code];
    if (map.open[axis].has(code)) for (let p = parts.length - 1; p >= 0; p--) waiting.push([parts[p], depth + 1]);
  }
  return found;
}

function above(axis, code) {
  const chain = [];
  for (let at = code; at >= 0; at = data.dimensions[axis].parent[at]) chain.push(at);
  return chain;
}

// For every pair of a row's and a column's code: its own cell, and how many cells below it there are and are suppressed.
function counted() {
  const found = new Map();
  data.at.forEach((at, cell) => {
    if (at.some((code, d) => d !== map.rows && d !== map.columns && code !== map.fixed[d])) return;
    const hidden = data.kind[cell] > 0;
    for (const r of above(map.rows, at[map.rows])) {
      for (const c of above(map.columns, at[map.columns])) {
        const key = r + "," + c;
        if (!found.has(key)) found.set(key, { cell: -1, cells: 0, hidden: 0 });
        const here = found.get(key);
        if (r === at[map.rows] && c === at[map.columns]) here.cell = cell;
        else { here.cells += 1; here.hidden += hidden; }
      }
    }
  });
  return found;
}

function label(axis, { code, depth }, attributes) {
  const parts = trees[axis].below[code].length > 0;
  const sign = parts ? (map.open[axis].has(code) ? "▾ " : "▸ ") : "";
  const text = draw("text", { ...attributes, class: parts ? "open" : "" });
  text.append(sign + short(data.dimensions[axis].codes[code], 24 - depth), draw("title", {}, data.dimensions[axis].codes[code]));
  if (parts) {
    const toggle = () => {
      if (!map.open[axis].delete(code)) map.open[axis].add(code);
      fillMap();
    };
    text.setAttribute("tabindex", "0");
    text.setAttribute("role", "button");
    text.addEventListener("click", toggle);
    text.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } });
  }
  return text;
}

function square(here, x, y) {
  if (!here || here.cell < 0) return [];
  const kind = data.kind[here.cell];
  const value = data.value[here.cell] === null ? "" : ` ${grouped(data.value[here.cell])}`;
  const beneath = here.cells ? `; below: ${here.hidden} of ${here.cells} suppressed` : "";
  const words = `${codes(here.cell).join(", ")}: ${KINDS[kind]}${value}${beneath}`;
  const box = draw("rect", { x, y, width: SIZE, height: SIZE, class: kind ? `kind${kind}` : "published" });
  box.append(draw("title", {}, words));
  if (kind || !here.hidden) return [box];
  const high = Math.max(1, Math.round((SIZE - 2) * here.hidden / here.cells));
  return [box, draw("rect", { x: x + 1, y: y + SIZE - 1 - high, width: SIZE - 2, height: high, class: "below", opacity: 0.55 })];
}

function fillMap() {
  const rows = visible(map.rows), across = visible(map.columns), cells = counted();
  const longest = (axis, seen) => Math.max(...seen.map(({ code, depth }) => 2 * depth + Math.min(26, data.dimensions[axis].codes[code].length)));
  const left = 40 + 7 * longest(map.rows, rows), top = 40 + 5.5 * longest(map.columns, across);
  const picture = draw("svg", { class: "heat", width: left + across.length * SIZE + 110, height: top + rows.length * SIZE + 8, role: "img",
    "aria-label": "map of published and suppressed cells" });
  across.forEach((one, at) => {
    const x = left + at * SIZE + SIZE / 2 + 4, y = top - 8;
    picture.append(label(map.columns, one, { x, y, transform: `rotate(-55 ${x} ${y})` }));
  });
  rows.forEach((one, at) => {
    const y = top + at * SIZE;
    picture.append(label(map.rows, one, { x: 4 + one.depth * 12, y: y + SIZE - 5 }));
    across.forEach((other, to) => picture.append(...square(cells.get(one.code + "," + other.code), left + to * SIZE, y)));
  });
  find("heat").replaceChildren(picture);
}

function chooser(name, options, value, change) {
  const select = make("select", {}, ...options.map(([v, text]) => make("option", { value: v, textContent: short(text, 40) })));
  select.value = value;
  select.addEventListener("change", () => change(Number(select.value)));
  return make("label", {}, name + " ", select);
}

function fillAxes() {
  const names = data.dimensions.map((d, at) => [at, d.name]);
  const swap = (mine, other) => (to) => { if (map[other] === to) map[other] = map[mine]; map[mine] = to; fillAxes(); };
  const controls = [chooser("Rows", names, map.rows, swap("rows", "columns")), chooser("Columns", names, map.columns, swap("columns", "rows"))];
  data.dimensions.forEach((dimension, at) => {
    if (at === map.rows || at === map.columns) return;
    controls.push(chooser(dimension.name, dimension.codes.map((c, i) => [i, c]), map.fixed[at], (to) => { map.fixed[at] = to; fillMap(); }));
  });
  find("axes").replaceChildren(...controls);
  fillMap();
}

function startMap() {
  if (data.dimensions.length < 2) return;
  data.dimensions.forEach((dimension, at) => {
    map.fixed.push(trees[at].root);
    const open = new Set([trees[at].root]);
    if (dimension.codes.length <= 40) dimension.codes.forEach((_, code) => open.add(code));
    map.open.push(open);
  });
  const entries = [["published", "published"], ...(office ? [["kind1", "primary suppression"], ["kind2", "secondary suppression"]] : [["kind1", "suppressed"]]),
    ["below", "suppressed cells below a published one"]];
  find("legend").append(...entries.map(([kind, text]) => make("span", {},
    draw("svg", { class: "heat", viewBox: "0 0 10 10" }, draw("rect", { width: 10, height: 10, class: kind, opacity: kind === "below" ? 0.55 : 1 })), text)));
  find("map").hidden = false;
  fillAxes();
}

startMap();
startList();
startTight();
