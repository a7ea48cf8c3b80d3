// Keeps the page of a launch form as the server says it is. The server knows the
// rules of the form: after every change the page sends what its inputs hold, and
// takes over what has become of the form. Without this script the page's buttons
// do the same, one page after the other.
"use strict";

(() => {
  const form = document.querySelector("form[data-launch]");
  if (!form) return;

  const pause = 250; // milliseconds without another key, after which what is typed is sent
  let timer = 0;
  let request = null; // under way; one at a time, as each may run commands of the definition
  let isPressed = false; // whether it does what a button says
  let isStale = false; // whether something was changed meanwhile
  let waiting = null; // a button that was pressed meanwhile

  const inputs = () => [...form.elements].filter((element) => element.id && element.name);
  const isBox = (element) => element.type === "checkbox" || element.type === "radio";
  const held = (element) => (isBox(element) ? element.checked : element.value);

  function changeSoon(wait) {
    clearTimeout(timer);
    timer = setTimeout(() => send(null), wait);
  }

  // send sends what the page holds, or what it held before it was loaded again, and
  // what a button says.
  function send(button, before) {
    clearTimeout(timer);
    if (request) {
      isStale = true;
      waiting = waiting || button;
      return;
    }
    const body = before || new URLSearchParams(new FormData(form));
    if (!before) keep(body);
    if (button) body.append(button.name, button.value);
    const sent = new Map(inputs().map((element) => [element.id, held(element)]));
    const opener = document.activeElement && document.activeElement.id;
    request = new XMLHttpRequest();
    isPressed = button !== null;
    request.open("POST", form.getAttribute("action"));
    request.responseType = "document"; // parsed, and never run
    const mine = request;
    request.addEventListener("load", () => {
      request = null;
      form.removeAttribute("aria-busy");
      answered(mine, sent, button, opener);
      goAhead();
    });
    request.addEventListener("error", () => {
      request = waiting = null;
      isStale = false;
      form.removeAttribute("aria-busy");
      complain("No connection to rmctl serve: what is filled in was not looked at.");
    });
    if (isPressed) form.setAttribute("aria-busy", "true");
    request.send(body);
  }

  function answered(done, sent, button, opener) {
    const page = done.response;
    const fresh = page && page.querySelector("form[data-launch]");
    if (!fresh) {
      const told = page && page.querySelector("main");
      complain(told ? told.textContent.trim() : "The answer of rmctl serve cannot be read.");
      return;
    }
    const wasBrowsing = document.getElementById("launch-browse") !== null;
    const focused = document.activeElement && document.activeElement.id;
    merge(form, fresh, sent);
    const origin = document.getElementById("launch-origin");
    const freshOrigin = page.getElementById("launch-origin");
    if (origin && freshOrigin) merge(origin, freshOrigin, sent);
    focusAfter(button, focused, opener, wasBrowsing);
  }

  // goAhead sends what has come up while something else was under way.
  function goAhead() {
    const button = waiting;
    const isNeeded = isStale;
    waiting = null;
    isStale = false;
    if (button && button.isConnected) send(button);
    else if (isNeeded) changeSoon(0);
  }

  // focusAfter puts the focus where a user goes on.
  function focusAfter(button, focused, opener, wasBrowsing) {
    const browsed = document.getElementById("launch-browse");
    let heir = null;
    if (browsed && button) {
      if (!wasBrowsing) form.dataset.opener = opener || "";
      heir = browsed.querySelector("button");
    } else if (wasBrowsing && !browsed) {
      heir = document.getElementById(form.dataset.focus || form.dataset.opener || "");
    } else if (!document.activeElement || document.activeElement === document.body) {
      heir = focused ? document.getElementById(focused) : null;
    }
    if (heir) heir.focus();
  }

  // keep keeps what is filled in with the page's place in the history of the browser.
  function keep(body) {
    try {
      history.replaceState({ launch: body.toString() }, "");
    } catch {
      // More than a browser keeps: the way back leads to an empty form.
    }
  }

  // goOn fills in what was filled in before the page was left, or loaded again. The
  // token of the session may be another one by now.
  function goOn() {
    const kept = history.state && history.state.launch;
    if (!kept) return;
    const body = new URLSearchParams(kept);
    body.set("csrf", form.elements.namedItem("csrf").value);
    send(null, body);
  }

  // beginAtProblem puts the focus where what keeps the form from being submitted is
  // mended: the page may be far longer than the window.
  function beginAtProblem() {
    const error = document.querySelector("#launch-error > p");
    if (!error) return;
    error.tabIndex = -1;
    (form.querySelector("[aria-invalid=true]") || error).focus();
  }

  function complain(text) {
    const place = document.getElementById("launch-error");
    const line = document.createElement("p");
    line.className = "note edge-red";
    line.textContent = text;
    place.replaceChildren(line);
  }

  // merge makes an element like another one. Elements with an id are kept, so that
  // the focus, the place in a text and what was typed since it was sent stay.
  function merge(old, fresh, sent) {
    const isInput = old.matches("input, textarea, select");
    const isGoing = isInput && sent.has(old.id) && held(old) !== sent.get(old.id);
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== "data-opener") old.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (!old.matches("textarea")) mergeChildren(old, fresh, sent);
    if (isGoing) {
      isStale = true;
    } else if (isInput && isBox(old)) {
      old.checked = fresh.checked;
    } else if (isInput && old.value !== fresh.value) {
      old.value = fresh.value;
    }
  }

  function mergeChildren(old, fresh, sent) {
    const wanted = new Set([...fresh.children].map((child) => child.id).filter(Boolean));
    for (const child of [...old.children]) {
      if (child.id && !wanted.has(child.id)) child.remove();
    }
    let at = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      let match = at;
      if (next.id) match = [...old.children].find((child) => child.id === next.id);
      if (match && (match.nodeName !== next.nodeName || (match.id || "") !== (next.id || ""))) match = null;
      if (!match) {
        old.insertBefore(document.importNode(next, true), at);
        continue;
      }
      if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      if (match.nodeType === Node.ELEMENT_NODE) merge(match, next, sent);
      else if (match.nodeValue !== next.nodeValue) match.nodeValue = next.nodeValue;
    }
    while (at) {
      const rest = at.nextSibling;
      at.remove();
      at = rest;
    }
  }

  form.addEventListener("input", (event) => changeSoon(isBox(event.target) || event.target.matches("select") ? 0 : pause));
  form.addEventListener("change", () => changeSoon(0));

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    clearTimeout(timer);
    if (button && button.hasAttribute("data-leaves")) {
      if (request) request.abort();
      request = waiting = null;
      keep(new URLSearchParams(new FormData(form)));
      form.setAttribute("aria-busy", "true");
      return;
    }
    event.preventDefault();
    if (!isPressed || !request) send(button);
  });

  // A page that comes back from the browser's history is not busy any more.
  window.addEventListener("pageshow", () => form.removeAttribute("aria-busy"));

  const steps = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
  form.addEventListener("keydown", (event) => {
    const browsed = document.getElementById("launch-browse");
    if (event.key === "Escape" && browsed) {
      event.preventDefault();
      browsed.querySelector("[data-closes]").click();
      return;
    }
    const input = event.target;
    const step = steps[event.key];
    if (!step || !input.matches("input[data-least]") || input.readOnly) return;
    event.preventDefault();
    const now = Number.parseInt(input.value, 10);
    const counted = Number.isNaN(now) ? Math.max(Number(input.dataset.least), 0) : now + step;
    input.value = Math.min(Math.max(counted, Number(input.dataset.least)), Number(input.dataset.most));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });

  beginAtProblem();
  goOn();
})();
