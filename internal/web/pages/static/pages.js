// Keeps the ages on pages up to date, and rows selected while they change.
"use strict";

(() => {
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });

  // age returns how long ago a time was, in its largest unit; seconds are rounded to tens.
  function age(at) {
    const seconds = Math.trunc((at - Date.now()) / 10000) * 10;
    for (const [unit, size] of units) {
      if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
    }
    return "just now";
  }

  // showAges shows ages instead of times. It leaves correct texts untouched, so that screen
  // readers do not read them again.
  function showAges() {
    for (const time of document.querySelectorAll("time.age")) {
      const text = age(new Date(time.dateTime));
      if (time.textContent !== text) time.textContent = text;
    }
  }

  const selected = new Set(); // the values of the selected rows

  function select(box, isSelected) {
    box.checked = isSelected;
    if (isSelected) selected.add(box.value);
    else selected.delete(box.value);
  }

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("input[data-row]")) select(box, box.checked);
    if (box.matches("input[data-rows]")) {
      for (const row of document.querySelectorAll("input[data-row]")) select(row, box.checked);
    }
    showSelection();
  });

  // showSelection shows the number of selected rows, and the box that selects all.
  function showSelection() {
    const rows = [...document.querySelectorAll("input[data-row]")];
    const count = rows.filter((row) => row.checked).length;
    for (const all of document.querySelectorAll("input[data-rows]")) {
      all.hidden = false;
      all.checked = count > 0 && count === rows.length;
      all.indeterminate = count > 0 && count < rows.length;
    }
    const place = document.getElementById("chosen");
    if (place) place.textContent = count === 1 ? "With the selected job:" : `With the ${count} selected jobs:`;
  }

  // keepSelection selects rows again after they were redrawn.
  function keepSelection() {
    for (const box of document.querySelectorAll("input[data-row]")) {
      if (selected.has(box.value)) box.checked = true;
    }
    showSelection();
  }

  document.addEventListener("live", () => {
    keepSelection();
    showAges();
  });
  showAges();
  showSelection();
  setInterval(showAges, 1000);
})();
