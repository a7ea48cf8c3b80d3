// Keeps a page up to date: body[data-events] is the address of a stream of patches, each of
// which replaces the content of elements by their id, or single children by their data-key.
"use strict";

(() => {
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("live", { createHTML: (html) => html })
    : { createHTML: (html) => html };

  // fragment parses HTML of the server.
  function fragment(html) {
    const template = document.createElement("template");
    template.innerHTML = policy.createHTML(html);
    return template.content;
  }

  const focusable = "a, button, input, select, textarea, summary, [tabindex]";

  // roleOf returns a text that identifies an element within its part of the page, before and
  // after a change.
  function roleOf(element) {
    return ["href", "name", "value", "aria-label"].map((name) => element.getAttribute(name) || "").join("\n") + element.nodeName;
  }

  // alike returns the elements of a part of the page that have the role of one.
  function alike(part, element) {
    return [...part.querySelectorAll(focusable)].filter((other) => roleOf(other) === roleOf(element));
  }

  // keepingFocus changes the page, and returns the focus to the element that had it, which
  // loses it when it is moved, or to the one in its place.
  function keepingFocus(change) {
    const focused = document.activeElement;
    const part = focused && focused.parentElement && focused.parentElement.closest("[data-key], [id]");
    const place = part ? alike(part, focused).indexOf(focused) : -1;
    change();
    if (!focused || focused === document.activeElement) return;
    let heir = focused.isConnected ? focused : focused.id && document.getElementById(focused.id);
    if (!heir && part) {
      const key = part.dataset.key;
      const successor = key === undefined ? document.getElementById(part.id) : document.querySelector(`[data-key="${CSS.escape(key)}"]`);
      if (successor) heir = alike(successor, focused)[place];
    }
    if (heir) heir.focus({ preventScroll: true });
  }

  // keepOpen opens the details that the user opened.
  function keepOpen(old, fresh) {
    const opened = old.querySelectorAll("details");
    fresh.querySelectorAll("details").forEach((details, i) => {
      if (opened[i]) details.open = opened[i].open;
    });
  }

  // replace replaces the content of an element and keeps its scroll positions.
  function replace(element, fresh) {
    keepOpen(element, fresh);
    const places = [...element.querySelectorAll("[tabindex]")].map((old) => [old.scrollLeft, old.scrollTop]);
    element.replaceChildren(fresh);
    element.querySelectorAll("[tabindex]").forEach((scrolled, i) => {
      if (places[i]) [scrolled.scrollLeft, scrolled.scrollTop] = places[i];
    });
  }

  function patchItems(element, patch) {
    const children = new Map();
    for (const child of element.children) children.set(child.dataset.key, child);
    for (const [key, html] of Object.entries(patch.items || {})) {
      const fresh = fragment(html).firstElementChild;
      const old = children.get(key);
      if (old) {
        keepOpen(old, fresh);
        old.replaceWith(fresh);
      }
      children.set(key, fresh);
    }
    if (patch.empty) {
      element.replaceChildren();
      return;
    }
    if (!patch.order) return;
    const kept = new Set(patch.order);
    for (const [key, child] of children) if (!kept.has(key)) child.remove();
    let next = element.firstElementChild;
    for (const key of patch.order) {
      const child = children.get(key);
      if (child === next) next = next.nextElementSibling;
      else element.insertBefore(child, next);
    }
  }

  function apply(patches) {
    keepingFocus(() => {
      for (const patch of patches) {
        const element = document.getElementById(patch.id);
        if (!element) continue;
        if (patch.html !== undefined) replace(element, fragment(patch.html));
        else patchItems(element, patch);
      }
    });
    // Scripts of pages listen for this.
    document.dispatchEvent(new CustomEvent("live", { detail: patches.map((patch) => patch.id) }));
  }

  function problem(text) {
    const place = document.getElementById("live-problem");
    if (!place) return;
    place.hidden = text === "";
    place.textContent = text;
  }

  let stream = null;
  let shown = ""; // the mark of the drawing that the page shows

  function open() {
    const address = document.body.dataset.events;
    if (!address || stream) return;
    const url = new URL(address, location.href);
    if (shown) url.searchParams.set("drawn", shown);
    stream = new EventSource(url);
    stream.addEventListener("open", () => problem(""));
    stream.addEventListener("patch", (event) => {
      problem("");
      shown = event.lastEventId;
      apply(JSON.parse(event.data));
    });
    stream.addEventListener("problem", (event) => problem(JSON.parse(event.data)));
    stream.addEventListener("error", () => {
      problem("No connection to rmctl serve: this page may be out of date.");
      if (stream.readyState !== EventSource.CLOSED) return;
      stream = null; // the server refused
      problem("This page is no longer updated: reload it.");
    });
  }

  function close() {
    if (stream) stream.close();
    stream = null;
  }

  // A browser opens few connections to one host, so hidden pages close theirs.
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", open);
  open();

  window.rmctl = {
    fragment,
    // reopen follows what body[data-events] names now.
    reopen: () => {
      close();
      shown = "";
      open();
    },
    // replace replaces the content of an element and keeps focus, scroll positions and open details.
    replace: (element, fresh) => keepingFocus(() => replace(element, fresh)),
  };
})();
