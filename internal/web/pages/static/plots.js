// Shows the values of a plot under the pointer or the cursor keys, and lets choose a range of
// time with the pointer, or with Enter at both of its ends.
"use strict";

(() => {
  const width = 1000; // of a plot, in its own units
  const height = 200;
  const least = 60; // seconds of a range
  let chosenFrom = 0; // where a range begins, in seconds; 0 while none is chosen
  let cursorAt = 0; // the time under the cursor, kept when the plot is drawn again
  let cursorOf = ""; // the label of its plot, up to the values

  const nameOf = (area) => area.closest("section").getAttribute("aria-label") + area.getAttribute("aria-label").split(";")[0];

  function read(area) {
    const samples = area.dataset.samples.split(" ").filter(Boolean).map((word) => word.split(":").map(Number));
    return { samples, from: Number(area.dataset.from), to: Number(area.dataset.to), layers: area.dataset.layers.split("|") };
  }

  const xOf = (plot, at) => ((at - plot.from) / (plot.to - plot.from)) * width;

  function timeAt(area, plot, event) {
    const box = area.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return plot.from + share * (plot.to - plot.from);
  }

  function nearest(samples, at) {
    return samples.reduce((best, each, i) => (Math.abs(each[0] - at) < Math.abs(samples[best][0] - at) ? i : best), 0);
  }

  // shape returns the element of a class in a plot, which it adds if it is not there.
  function shape(area, kind, name) {
    let found = area.querySelector("." + name);
    if (!found) {
      found = document.createElementNS("http://www.w3.org/2000/svg", kind);
      found.setAttribute("class", name);
      area.append(found);
    }
    return found;
  }

  function show(area, plot, at) {
    if (plot.samples.length === 0) return;
    const sample = plot.samples[nearest(plot.samples, at)];
    cursorAt = sample[0];
    cursorOf = nameOf(area);
    const x = String(xOf(plot, sample[0]));
    const line = shape(area, "line", "cursor");
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", "0"], ["y2", String(height)]]) line.setAttribute(name, value);
    if (chosenFrom) {
      const ends = [xOf(plot, chosenFrom), xOf(plot, at)].sort((a, b) => a - b);
      const box = shape(area, "rect", "chosen");
      for (const [name, value] of [["x", ends[0]], ["width", ends[1] - ends[0]], ["y", 0], ["height", height]]) box.setAttribute(name, String(value));
    }
    const time = new Date(sample[0] * 1000).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
    const values = plot.layers.map((layer, i) => sample[i + 1].toLocaleString("en") + " " + layer);
    area.closest("figure").querySelector(".value").textContent = time + ": " + values.join(", ");
  }

  function hide(area) {
    for (const drawn of area.querySelectorAll(".cursor, .chosen")) drawn.remove();
    area.closest("figure").querySelector(".value").textContent = "";
    cursorOf = "";
    chosenFrom = 0;
  }

  function choose(from, to) {
    const address = new URL(location.href);
    address.searchParams.delete("hours");
    address.searchParams.set("from", String(Math.floor(Math.min(from, to))));
    address.searchParams.set("to", String(Math.ceil(Math.max(from, to))));
    location.assign(address);
  }

  const areaOf = (event) => event.target instanceof Element && event.target.closest("svg.area");

  document.addEventListener("pointermove", (event) => {
    const area = areaOf(event);
    if (!area) return;
    const plot = read(area);
    show(area, plot, timeAt(area, plot, event));
  });
  document.addEventListener("pointerdown", (event) => {
    const area = areaOf(event);
    if (area && event.button === 0 && event.pointerType === "mouse") chosenFrom = timeAt(area, read(area), event);
  });
  document.addEventListener("pointerup", (event) => {
    const area = areaOf(event);
    const from = chosenFrom;
    chosenFrom = 0;
    if (!area || !from) return;
    const to = timeAt(area, read(area), event);
    area.querySelector(".chosen")?.remove();
    if (Math.abs(to - from) >= least) choose(from, to);
  });
  document.addEventListener("pointerout", (event) => {
    const area = areaOf(event);
    if (area && !area.contains(event.relatedTarget) && document.activeElement !== area) hide(area);
  });

  document.addEventListener("keydown", (event) => {
    const area = areaOf(event);
    if (!area) return;
    const plot = read(area);
    const last = plot.samples.length - 1;
    if (last < 0) return;
    const at = cursorOf === nameOf(area) ? nearest(plot.samples, cursorAt) : last;
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at - 10, PageDown: at + 10, Home: 0, End: last };
    if (event.key in steps) show(area, plot, plot.samples[Math.min(last, Math.max(0, steps[event.key]))][0]);
    else if (event.key === "Escape") hide(area);
    else if (event.key === "Enter" && chosenFrom && Math.abs(cursorAt - chosenFrom) >= least) choose(chosenFrom, cursorAt);
    else if (event.key === "Enter") chosenFrom = plot.samples[at][0];
    else return;
    event.preventDefault();
  });

  // A plot that is drawn again keeps its cursor.
  document.addEventListener("live", () => {
    for (const area of document.querySelectorAll("svg.area")) {
      if (cursorOf && nameOf(area) === cursorOf) show(area, read(area), cursorAt);
    }
  });
})();
