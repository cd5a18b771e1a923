// The dashboard works without this file; with it, times are in the reader's zone, keys work, and progress shows itself.
"use strict";

const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = zoned.format(at);
}

// An action that opens puts the keyboard into it, and takes it back when it closes.
function enter(ask) {
  for (const other of document.querySelectorAll("details.ask[open]")) if (other !== ask) other.open = false;
  if (!ask.contains(document.activeElement) || document.activeElement.tagName === "SUMMARY") ask.querySelector("form button").focus();
}
for (const ask of document.querySelectorAll("details.ask")) ask.addEventListener("toggle", () => ask.open && enter(ask));

// A form is sent once, however often its button is pressed.
for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
}
window.addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const open = document.querySelector("details.ask[open]");
  if (event.key === "Escape" && open) {
    open.open = false;
    open.querySelector("summary").focus();
    return;
  }
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const chosen = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!chosen) return;
  event.preventDefault();
  if (chosen.tagName === "DETAILS") {
    // At once, and not with the toggle that follows: the next key may be Enter already.
    chosen.open = true;
    enter(chosen);
  }
  else if (chosen.tagName === "A") chosen.click();
  else chosen.focus();
});

// Long work tells how far it is; when it is done, the page is loaded again and shows what came of it.
for (const watched of document.querySelectorAll("[data-task]")) {
  const bar = watched.querySelector("progress");
  const said = watched.querySelector("output");
  const events = new EventSource(`/tasks/${encodeURIComponent(watched.dataset.task)}/events`);
  events.onmessage = (event) => {
    const now = JSON.parse(event.data);
    if (now.of) {
      bar.max = now.of;
      bar.value = now.steps;
      said.textContent = `${now.steps} of ${now.of}`;
    }
    if (now.done) {
      events.close();
      location.reload();
    }
  };
}
