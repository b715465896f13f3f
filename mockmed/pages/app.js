// Which page the address names, and when it is drawn.

import { clearPopUps } from "./dialog.js";
import { announce, byId, h } from "./dom.js";
import { drifts, slowMilliseconds } from "./settings.js";
import { personOf } from "./people.js";
import { patientPage, loginPage, tasksPage } from "./views.js";
import { encounterPage } from "./encounter.js";

const app = byId("app");
let drawing = 0;

/** What lasts from page to page; a reload forgets it. */
const visit = { person: personOf(null), encounters: new Map(), savedNote: null, signedOut: false };

for (const look of ["theme", "move", "font", "zoom"]) {
  document.documentElement.classList.toggle(`drift-${look}`, drifts(look));
}
byId("skip-link").addEventListener("click", (event) => {
  event.preventDefault();
  app.focus();
});
window.addEventListener("hashchange", () => (drifts("slow") ? drawLater() : draw()));
draw();

function draw() {
  drawing += 1;
  clearPopUps();
  app.removeAttribute("aria-busy");
  const page = pageFor(window.location.hash);
  app.replaceChildren(page);
  announce("");
  window.scrollTo(0, 0);
  if (drawing > 1) (page.querySelector("[data-first-focus]") ?? app).focus({ preventScroll: true });
  if (page.dataset.announce) announce(page.dataset.announce);
}

function drawLater() {
  drawing += 1;
  const turn = drawing;
  clearPopUps();
  byId("modal-root").replaceChildren(h("p", { id: "waiting" }, "One moment, please…"));
  app.setAttribute("aria-busy", "true");
  announce("One moment, please…");
  setTimeout(() => {
    if (turn === drawing) draw();
  }, slowMilliseconds);
}

function pageFor(hash) {
  const [route, id] = hash.replace(/^#/, "").split("/");
  if (route === "tasks") return tasksPage();
  if (route === "patient") {
    visit.person = personOf(decodeSafely(id ?? ""));
    return patientPage(visit);
  }
  if (route === "encounter") return encounterPage(visit);
  return loginPage(visit);
}

function decodeSafely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
