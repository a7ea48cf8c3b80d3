// Updates the page of a launch form. The server knows the rules of the form: after every
// change the page sends its inputs, and shows the form of the answer. Without this script
// the page's buttons do the same, one page after the other.
"use strict";

(() => {
  const form = document.querySelector("form[data-launch]");
  if (!form) return;

  const pause = 250; // milliseconds after the last key until the inputs are sent
  let timer = 0;
  let request = null; // under way; one at a time, as each may run commands of the definition
  let isPressed = false; // whether it is for a button
  let isStale = false; // whether an input was changed meanwhile
  let waiting = null; // a button that was pressed meanwhile

  const inputs = () => [...form.elements].filter((element) => element.id && element.name);
  const isBox = (element) => element.type === "checkbox" || element.type === "radio";
  const valueOf = (element) => (isBox(element) ? element.checked : element.value);

  function changeSoon(wait) {
    clearTimeout(timer);
    timer = setTimeout(() => send(null), wait);
  }

  // send sends the inputs of the page, or those from before it was reloaded, and the button.
  function send(button, before) {
    clearTimeout(timer);
    if (request) {
      isStale = true;
      waiting = waiting || button;
      return;
    }
    const body = before || new URLSearchParams(new FormData(form));
    if (!before) remember(body);
    if (button) body.append(button.name, button.value);
    const sent = new Map(inputs().map((element) => [element.id, valueOf(element)]));
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
      sendPending();
    });
    request.addEventListener("error", () => {
      request = waiting = null;
      isStale = false;
      form.removeAttribute("aria-busy");
      showError("No connection to rmctl serve: your input was not checked.");
    });
    if (isPressed) form.setAttribute("aria-busy", "true");
    request.send(body);
  }

  function answered(done, sent, button, opener) {
    const page = done.response;
    const fresh = page && page.querySelector("form[data-launch]");
    if (!fresh) {
      const message = page && page.querySelector("main");
      showError(message ? message.textContent.trim() : "rmctl serve returned an invalid response.");
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

  // sendPending sends changes made while a request was under way.
  function sendPending() {
    const button = waiting;
    const isNeeded = isStale;
    waiting = null;
    isStale = false;
    if (button && button.isConnected) send(button);
    else if (isNeeded) changeSoon(0);
  }

  // focusAfter moves the focus to where the user continues.
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

  // remember keeps the inputs with the page's entry in the history of the browser.
  function remember(body) {
    try {
      history.replaceState({ launch: body.toString() }, "");
    } catch {
      // More than a browser stores: going back leads to an empty form.
    }
  }

  // restore sends the inputs from before the page was left or reloaded. The token of the
  // session may have changed.
  function restore() {
    const kept = history.state && history.state.launch;
    if (!kept) return;
    const body = new URLSearchParams(kept);
    body.set("csrf", form.elements.namedItem("csrf").value);
    send(null, body);
  }

  // focusProblem moves the focus to the first invalid input: the page may be much longer
  // than the window.
  function focusProblem() {
    const error = document.querySelector("#launch-error > p");
    if (!error) return;
    error.tabIndex = -1;
    (form.querySelector("[aria-invalid=true]") || error).focus();
  }

  function showError(text) {
    const place = document.getElementById("launch-error");
    const line = document.createElement("p");
    line.className = "note edge-red";
    line.textContent = text;
    place.replaceChildren(line);
  }

  // merge makes an element equal to another one. It keeps elements with an id, and with
  // them the focus, the cursor and text typed since the request.
  function merge(old, fresh, sent) {
    const isInput = old.matches("input, textarea, select");
    const isChanged = isInput && sent.has(old.id) && valueOf(old) !== sent.get(old.id);
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== "data-opener") old.removeAttribute(name);
    }
    for (const { name, value } of [...fresh.attributes]) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    if (!old.matches("textarea")) mergeChildren(old, fresh, sent);
    if (isChanged) {
      isStale = true;
    } else if (isInput && isBox(old)) {
      old.checked = fresh.checked;
    } else if (isInput && old.value !== fresh.value) {
      old.value = fresh.value;
    }
  }

  function mergeChildren(old, fresh, sent) {
    const keptIDs = new Set([...fresh.children].map((child) => child.id).filter(Boolean));
    for (const child of [...old.children]) {
      if (child.id && !keptIDs.has(child.id)) child.remove();
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
      remember(new URLSearchParams(new FormData(form)));
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

  focusProblem();
  restore();
})();
