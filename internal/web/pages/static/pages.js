// What pages do beyond showing what the server drew: ages in words that grow, and rows that
// stay chosen while they change.
"use strict";

(() => {
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });

  // age returns how long ago a time was, in its largest unit; of seconds, the tens.
  function age(at) {
    const seconds = Math.trunc((at - Date.now()) / 10000) * 10;
    for (const [unit, size] of units) {
      if (Math.abs(seconds) >= size) return words.format(Math.trunc(seconds / size), unit);
    }
    return "just now";
  }

  // tellAges writes ages in the place of times. A text that is right stays untouched, so that
  // screen readers do not read it again.
  function tellAges() {
    for (const time of document.querySelectorAll("time.age")) {
      const text = age(new Date(time.dateTime));
      if (time.textContent !== text) time.textContent = text;
    }
  }

  const chosen = new Set(); // the values of the rows that are chosen

  function choose(box, isChosen) {
    box.checked = isChosen;
    if (isChosen) chosen.add(box.value);
    else chosen.delete(box.value);
  }

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("input[data-row]")) choose(box, box.checked);
    if (box.matches("input[data-rows]")) {
      for (const row of document.querySelectorAll("input[data-row]")) choose(row, box.checked);
    }
    tellChosen();
  });

  // tellChosen shows how many rows are chosen, and the box that chooses all.
  function tellChosen() {
    const rows = [...document.querySelectorAll("input[data-row]")];
    const count = rows.filter((row) => row.checked).length;
    for (const all of document.querySelectorAll("input[data-rows]")) {
      all.hidden = false;
      all.checked = count > 0 && count === rows.length;
      all.indeterminate = count > 0 && count < rows.length;
    }
    const place = document.getElementById("chosen");
    if (place) place.textContent = count === 1 ? "With the job that is ticked:" : `With the ${count} jobs that are ticked:`;
  }

  // keepChosen chooses again what was chosen before its row was drawn anew.
  function keepChosen() {
    for (const box of document.querySelectorAll("input[data-row]")) {
      if (chosen.has(box.value)) box.checked = true;
    }
    tellChosen();
  }

  document.addEventListener("live", () => {
    keepChosen();
    tellAges();
  });
  tellAges();
  tellChosen();
  setInterval(tellAges, 1000);
})();
