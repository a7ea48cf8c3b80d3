// Follows the output of a job. Output is only ever added to the page as text.
"use strict";

(() => {
  const view = document.getElementById("output-view");
  const place = document.getElementById("output");
  const state = document.getElementById("output-state");
  const streams = document.getElementById("output-streams");
  if (!view || !place) return;

  const mostShown = 1 << 20; // characters
  const mostRead = 64 << 20; // bytes
  let stream = "stdout";
  let received = 0; // bytes of the stream
  let decoder = new TextDecoder(); // holds incomplete characters
  let reading = null;
  let pause = 1; // seconds until the next attempt
  let timer = 0;
  let isComplete = false;

  // printable spells out characters that are invisible or change the direction of text.
  function printable(text) {
    return text
      .replace(/\r\n/g, "\n")
      .replace(/[\u0000-\u0008\u000b-\u001f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
      .replace(/\u007f/g, "\u2421")
      .replace(/[\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"));
  }

  function addresses() {
    return Object.fromEntries([...document.querySelectorAll("[data-output]")].map((link) => [link.dataset.output, link.href]));
  }

  function add(text) {
    const atEnd = place.scrollTop + place.clientHeight >= place.scrollHeight - 8;
    place.append(printable(text));
    while (place.textContent.length > mostShown && place.childNodes.length > 1) place.firstChild.remove();
    place.normalize();
    if (place.textContent.length > mostShown) place.textContent = "… " + place.textContent.slice(-mostShown / 2);
    if (atEnd) place.scrollTop = place.scrollHeight;
  }

  async function follow() {
    const address = addresses()[stream];
    clearTimeout(timer);
    if (!address || reading || isComplete || document.hidden) return;
    view.hidden = false;
    const mine = new AbortController();
    reading = mine;
    const url = new URL(address);
    url.searchParams.set("follow", "true");
    url.searchParams.set("offset", String(received));
    state.textContent = "Waiting for output";
    try {
      const answer = await fetch(url, { signal: mine.signal });
      if (!answer.ok) {
        const cause = (await answer.json().catch(() => ({}))).error || answer.statusText;
        if (reading === mine) showFailure(cause, answer.status >= 500);
        return;
      }
      const reader = answer.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (reading !== mine) return;
        if (done) break;
        received += value.length;
        pause = 1;
        add(decoder.decode(value, { stream: true }));
        state.textContent = "Following the output";
        if (received > mostRead) {
          state.textContent = "The output is large: use the link below for the rest";
          isComplete = true;
          mine.abort();
          return;
        }
      }
      isComplete = true;
      state.textContent = received === 0 ? "No output" : "End of output";
    } catch (error) {
      if (reading === mine && !mine.signal.aborted) showFailure("Could not read more output: " + error.message, true);
    } finally {
      if (reading === mine) reading = null;
    }
  }

  // showFailure shows why there is no more output, and retries later if that may help.
  function showFailure(cause, isRetried) {
    const wait = isRetried ? `; retrying in ${pause === 1 ? "a second" : pause + " seconds"}` : "";
    state.textContent = cause + wait;
    if (!isRetried) return;
    timer = setTimeout(follow, pause * 1000);
    pause = Math.min(2 * pause, 30);
  }

  function stop() {
    clearTimeout(timer);
    const ending = reading;
    reading = null;
    if (ending) ending.abort();
  }

  function choose(name) {
    stop();
    stream = name;
    received = 0;
    decoder = new TextDecoder();
    pause = 1;
    isComplete = false;
    place.replaceChildren();
    state.textContent = "";
    for (const button of streams.children) button.setAttribute("aria-pressed", String(button.dataset.stream === stream));
    follow();
  }

  for (const [name, label] of [["stdout", "Standard output"], ["stderr", "Standard error"]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chip";
    button.dataset.stream = name;
    button.textContent = label;
    button.setAttribute("aria-pressed", String(name === stream));
    button.addEventListener("click", () => choose(name));
    streams.append(button);
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : follow()));
  window.addEventListener("pagehide", stop);
  document.addEventListener("live", (event) => {
    if (event.detail.includes("job-outputs")) follow();
  });
  follow();
})();
