// Filters a list while the user types: it loads the page of the filter and shows its parts
// that change. Without this script the form loads that page as a whole.
"use strict";

(() => {
  const form = document.querySelector("form.filter");
  if (!form) return;
  const pause = 250; // milliseconds after the last key
  let timer = 0;
  let request = null;

  function address() {
    const values = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== "") values.append(name, value);
    const query = values.toString();
    return form.getAttribute("action") + (query ? "?" + query : "");
  }

  function load() {
    if (request) request.abort();
    const mine = new XMLHttpRequest();
    request = mine;
    const to = address();
    mine.open("GET", to);
    mine.responseType = "document"; // parsed, and never run
    mine.addEventListener("load", () => {
      request = null;
      if (mine.status !== 200 || !mine.response) return;
      show(mine.response);
      history.replaceState(history.state, "", to);
    });
    mine.send();
  }

  // show takes over what the page of another filter has outside of the form.
  function show(page) {
    const changed = [];
    for (const fresh of page.querySelectorAll("main [id]")) {
      const old = document.getElementById(fresh.id);
      if (!old || form.contains(old) || fresh.parentElement.closest("main [id]")) continue;
      old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
      changed.push(fresh.id);
    }
    for (const fresh of page.querySelectorAll("main input[name=back]")) {
      for (const old of document.querySelectorAll("main input[name=back]")) old.value = fresh.value;
    }
    document.body.dataset.events = page.body.dataset.events;
    window.rmctl.reopen();
    document.dispatchEvent(new CustomEvent("live", { detail: changed }));
  }

  function loadSoon(wait) {
    clearTimeout(timer);
    timer = setTimeout(load, wait);
  }

  form.addEventListener("input", (event) => loadSoon(event.target.matches("select, [type=checkbox]") ? 0 : pause));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    loadSoon(0);
  });
})();
