// Fits the map of nodes to the page: the mouse and the arrow keys name a node, Enter or a
// click shows its details. Without this script the map stays as the server drew it.
"use strict";

(() => {
  const place = document.getElementById("node-map");
  const data = document.getElementById("map-data");
  const here = document.getElementById("map-here");
  const details = document.getElementById("node-details");
  if (!place || !data || !details) {
    // There is no machine yet: with the first one the page has another layout.
    document.addEventListener("live", () => {
      if (document.querySelector("#machines > *")) location.reload();
    });
    return;
  }

  const pitch = 13; // of cells, in the units of the outlines
  const space = "http://www.w3.org/2000/svg";
  let nodes = 0;
  let names = []; // the folded names, each with the place of its first node
  let layers = [];
  let columns = 0;
  let at = 0;
  let svg = null;
  let cursor = null;
  let ring = null; // around the chosen node
  let chosen = ""; // its name
  let shown = null; // the text of the details

  // read reads the nodes from the page.
  function read() {
    const legend = data.querySelector("[data-nodes]");
    if (!legend) return false;
    nodes = Number(legend.dataset.nodes);
    names = [];
    let first = 0;
    for (const entry of JSON.parse(legend.dataset.names)) {
      const run = typeof entry === "string" ? { name: entry, length: 1 } : { stem: entry[0], width: entry[1], from: entry[2], length: entry[3] };
      run.first = first;
      first += run.length;
      names.push(run);
    }
    layers = [...legend.querySelectorAll("[data-places]")].map((item) => {
      const numbers = item.dataset.places.split(" ").map(Number);
      const runs = [];
      for (let i = 0; i + 1 < numbers.length; i += 2) runs.push([numbers[i], numbers[i + 1]]);
      return { tone: item.dataset.tone, word: item.dataset.word, cell: item.dataset.cell, runs };
    });
    return true;
  }

  // runAt returns the last run of a list that starts at or before an index.
  function runAt(list, first, index) {
    let low = 0;
    let high = list.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (first(list[middle]) <= index) low = middle;
      else high = middle - 1;
    }
    return list[low];
  }

  function nameOf(index) {
    const run = runAt(names, (each) => each.first, index);
    if (run.name !== undefined) return run.name;
    return run.stem + String(run.from + index - run.first).padStart(run.width, "0");
  }

  function wordOf(index) {
    for (const layer of layers) {
      const run = runAt(layer.runs, (each) => each[0], index);
      if (run && run[0] <= index && index < run[0] + run[1]) return layer.word;
    }
    return "";
  }

  // columnsToFit returns the number of columns that fill the width with cells as large as the
  // height of the window allows.
  function columnsToFit() {
    const width = place.clientWidth - 24;
    const height = Math.max(320, window.innerHeight * 0.6);
    const coarse = window.matchMedia("(pointer: coarse)").matches;
    const size = Math.min(20, Math.max(coarse ? 9 : 7, Math.sqrt((width * height) / Math.max(1, nodes))));
    return Math.max(1, Math.floor(width / size));
  }

  function element(name, attributes) {
    const made = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function draw() {
    if (!read() || nodes === 0) return;
    columns = Math.min(columnsToFit(), Math.max(nodes, 1));
    at = Math.min(at, nodes - 1);
    const width = columns * pitch;
    const height = Math.ceil(nodes / columns) * pitch;
    const size = Math.min(20, (place.clientWidth - 24) / columns);
    svg = svg || place.querySelector("svg");
    svg.replaceChildren();
    svg.setAttribute("viewBox", `-2 -2 ${width + 4} ${height + 4}`);
    svg.setAttribute("width", String(Math.floor(columns * size)));
    for (const layer of layers) {
      const outline = [];
      for (const [from, length] of layer.runs) {
        for (let i = from; i < from + length; i++) outline.push("M", (i % columns) * pitch, " ", Math.floor(i / columns) * pitch, layer.cell);
      }
      svg.append(element("path", { class: "t-" + layer.tone, d: outline.join("") }));
    }
    cursor = element("rect", { class: "cursor", width: 14, height: 14, rx: 2, visibility: "hidden" });
    ring = element("rect", { class: "cursor chosen", width: 14, height: 14, rx: 2, visibility: "hidden" });
    svg.append(ring, cursor);
    mark();
    if (document.activeElement === svg) point(at);
  }

  // point marks a node and names it.
  function point(index) {
    at = Math.min(Math.max(0, index), nodes - 1);
    cursor.setAttribute("x", (at % columns) * pitch - 2);
    cursor.setAttribute("y", Math.floor(at / columns) * pitch - 2);
    cursor.setAttribute("visibility", "visible");
    const text = `${nameOf(at)}: ${wordOf(at)}`;
    if (here.textContent !== text) here.textContent = text; // screen readers read changes only
  }

  function nodeAt(event) {
    const box = svg.getBoundingClientRect();
    const scale = (columns * pitch + 4) / box.width;
    const column = Math.floor(((event.clientX - box.left) * scale - 2) / pitch);
    const row = Math.floor(((event.clientY - box.top) * scale - 2) / pitch);
    const index = row * columns + column;
    return column >= 0 && column < columns && row >= 0 && index < nodes ? index : -1;
  }

  // choose shows the details of a node.
  async function choose(index) {
    chosen = nameOf(index);
    mark();
    details.setAttribute("aria-live", "polite");
    await showDetails();
  }

  // mark marks the chosen node, if it still exists.
  function mark() {
    let at = -1;
    for (const run of chosen === "" ? [] : names) {
      if (run.name === chosen) at = run.first;
      if (run.name !== undefined || !chosen.startsWith(run.stem)) continue;
      const index = run.first + Number(chosen.slice(run.stem.length)) - run.from;
      if (index >= run.first && index < run.first + run.length && nameOf(index) === chosen) at = index;
    }
    ring.setAttribute("visibility", at < 0 ? "hidden" : "visible");
    if (at < 0) return;
    ring.setAttribute("x", (at % columns) * pitch - 2);
    ring.setAttribute("y", Math.floor(at / columns) * pitch - 2);
  }

  // showDetails shows the content of the chosen node's page in this one.
  async function showDetails() {
    const name = chosen;
    const address = "/node?" + new URLSearchParams({ id: name, rm: place.dataset.manager });
    try {
      const answer = await fetch(address);
      const page = answer.ok ? window.rmctl.fragment(await answer.text()).querySelector("#node") : null;
      if (chosen !== name) return;
      const text = page ? page.innerHTML : answer.ok ? "" : "This node no longer exists.";
      const content = name + "\n" + text;
      if (content === shown) return;
      shown = content;
      const link = document.createElement("a");
      link.href = address;
      link.textContent = name;
      const heading = document.createElement("h2");
      heading.append("Node ", link);
      const fresh = document.createDocumentFragment();
      fresh.append(heading, ...(page ? page.childNodes : [text]));
      window.rmctl.replace(details, fresh);
    } catch (error) {
      if (chosen !== name) return;
      shown = null;
      details.textContent = `Could not read the details of ${name}: ${error.message}`;
    }
    details.hidden = false;
  }

  draw();
  if (!svg) return;
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "map of nodes");
  svg.setAttribute("aria-describedby", "map-words map-help");
  svg.removeAttribute("aria-labelledby");
  svg.setAttribute("aria-label", "Nodes");
  const help = document.createElement("p");
  help.id = "map-help";
  help.className = "hidden";
  help.textContent = "Use the arrow keys to move between nodes, and Enter to show the details of one.";
  place.append(help);

  svg.addEventListener("focus", () => point(at));
  svg.addEventListener("blur", () => cursor.setAttribute("visibility", "hidden"));
  svg.addEventListener("keydown", (event) => {
    const page = columns * 10;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, PageUp: -page, PageDown: page, Home: -nodes, End: nodes };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      event.preventDefault();
      const to = at + steps[event.key];
      if ((to >= 0 && to < nodes) || Math.abs(steps[event.key]) > columns) point(to);
    } else if (event.key === "Enter") {
      choose(at);
    }
  });
  svg.addEventListener("pointermove", (event) => {
    const index = nodeAt(event);
    if (index >= 0) point(index);
  });
  svg.addEventListener("pointerleave", () => {
    if (document.activeElement !== svg) cursor.setAttribute("visibility", "hidden");
  });
  svg.addEventListener("click", (event) => {
    const index = nodeAt(event);
    if (index >= 0) choose(index);
  });

  document.addEventListener("live", (event) => {
    if (!event.detail.includes("map-data")) return;
    draw();
    details.setAttribute("aria-live", "off"); // screen readers read the details when a node is chosen, not with each listing
    if (chosen !== "") showDetails();
  });
  let waiting = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  });
})();
