// The pages for signing in, the list of referrals, and one patient.

import { firstOf, h } from "./dom.js";
import { drifts, words } from "./settings.js";
import { identity, referrals } from "./people.js";

let noticeIsDue = drifts("notice");

export function loginPage(visit) {
  const signedOut = visit.signedOut;
  visit.signedOut = false;
  const signIn = (event) => {
    event.preventDefault();
    window.location.hash = "#tasks";
  };
  const field = (id, label, type) =>
    h("div", { class: "field" }, h("label", { for: id }, label), h("input", { id, type, autocomplete: "off", spellcheck: "false" }));
  return h(
    "div",
    { class: "login", "data-announce": signedOut ? "You were signed out." : null },
    h("div", { class: "login-picture" }, h("img", { src: "clinic.svg", alt: "", width: 420, height: 300 })),
    h(
      "form",
      { class: "card login-form", submit: signIn, "aria-labelledby": "login-title" },
      h("h1", { id: "login-title", tabindex: "-1", "data-first-focus": true }, "Sign in to MockMed"),
      signedOut && h("p", { id: "signed-out", class: "notice" }, "You were signed out, and the encounter was not saved."),
      h("p", { class: "lead" }, "This clinic is for practice: any name and password will do."),
      field("username", "Username", "text"),
      field("password", "Password", "password"),
      h("div", { class: "actions" }, h("button", { id: "signin", type: "submit", class: "primary" }, "Sign In")),
    ),
  );
}

export function tasksPage() {
  if (noticeIsDue) return noticePage();
  const title = h("h1", { tabindex: "-1", "data-first-focus": true }, "Referral Tasks");
  if (referrals.length === 0) {
    return h(
      "div",
      { class: "tasks" },
      title,
      h("p", { id: "no-referrals", class: "card empty" }, "No referrals are waiting. Everybody has been seen."),
    );
  }
  const column = (name) => h("th", { scope: "col" }, name);
  const waiting = referrals.length === 1 ? "1 referral is" : `${referrals.length} referrals are`;
  return h(
    "div",
    { class: "tasks" },
    title,
    h("p", { class: "lead" }, `${waiting} waiting. Open one to see the patient and write an encounter.`),
    h(
      "div",
      { class: "card table-card" },
      h(
        "table",
        { id: "tasks-table", "aria-label": "Referral tasks" },
        h("thead", {}, h("tr", {}, ...["Patient", "Reason", "Priority", "Action"].map(column))),
        h("tbody", {}, ...referrals.map(referralRow)),
      ),
    ),
  );
}

function referralRow(person) {
  const open = () => {
    window.location.hash = `#patient/${person.id}`;
  };
  return h(
    "tr",
    {},
    h("th", { scope: "row", class: "who", id: `who-${person.id}` }, portrait(34), person.name),
    h("td", {}, person.reason),
    h("td", {}, priority(person)),
    h(
      "td",
      { class: "row-action" },
      h(
        "button",
        { type: "button", class: "open-btn", id: `open-${person.id}`, "data-id": person.id, "aria-describedby": `who-${person.id}`, click: open },
        words.open,
      ),
    ),
  );
}

function noticePage() {
  const goOn = () => {
    noticeIsDue = false;
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return h(
    "div",
    { class: "card notice-card", id: "notice-card" },
    h("h1", { tabindex: "-1", "data-first-focus": true }, "Before you begin"),
    h("p", {}, "The flu shots have arrived. Please tell patients over 60 that they can walk in on Friday morning."),
    h("div", { class: "actions" }, h("button", { id: "notice-continue", type: "button", class: "primary", click: goOn }, "Continue")),
  );
}

export function patientPage(visit) {
  const { person } = visit;
  const encounters = visit.encounters.get(person.id) ?? [];
  const saved = visit.savedNote === null ? null : `Encounter saved — ${firstOf(visit.savedNote, 40)}`;
  visit.savedNote = null;
  const write = () => {
    window.location.hash = "#encounter";
  };
  return inRecord(
    "patient-record",
    person,
    saved && h("p", { id: "saved-banner", class: "saved", role: "status", "aria-live": "polite", tabindex: "-1", "data-first-focus": true }, saved),
    h(
      "div",
      { class: "record-head" },
      portrait(52),
      h("h1", { id: "patient-banner", class: "patient-banner", tabindex: "-1", "data-first-focus": true }, ...namedFirst(person)),
      h(
        "dl",
        { class: "facts" },
        h("div", {}, h("dt", {}, "Reason"), h("dd", {}, person.reason)),
        h("div", {}, h("dt", {}, "Priority"), h("dd", {}, priority(person))),
      ),
    ),
    h("div", { class: "actions movable" }, h("button", { id: "new-encounter", type: "button", class: "primary", click: write }, "New Encounter")),
    h("h2", {}, "Encounters"),
    encounters.length === 0
      ? h("p", { id: "no-encounters", class: "empty" }, "Nothing has been written for this patient yet.")
      : h("ul", { id: "encounter-list" }, ...encounters.map(encounterItem)),
  );
}

/** The frame that both pages about one patient share. Its name says whose record it is. */
export function inRecord(id, person, ...children) {
  return h(
    "div",
    { class: "record" },
    h("a", { class: "back", href: "#tasks" }, "All referrals"),
    h(
      "div",
      { role: "list", "aria-label": "Patient record" },
      h("section", { id, class: "card", role: "listitem", "aria-label": identity(person) }, ...children),
    ),
  );
}

/** The identity as text in two weights. */
export function namedFirst(person) {
  return [h("span", { class: "name" }, person.name), h("span", { class: "numbers" }, identity(person).slice(person.name.length))];
}

function portrait(size) {
  return h("img", { src: "person.svg", alt: "", width: size, height: size });
}

function encounterItem({ kind, note }) {
  return h("li", { class: "enc-item" }, h("strong", {}, kind), ` — ${firstOf(note, 60)}`);
}

function priority({ priority: level }) {
  return h("span", { class: `priority priority-${level.toLowerCase()}` }, level);
}
