// The page on which an encounter is written.

import { byId, h, segments } from "./dom.js";
import { drifts, fault, kinds, words } from "./settings.js";
import { inRecord, namedFirst } from "./views.js";
import { showSurvey } from "./dialog.js";
import { randomKey, send } from "./save.js";

let surveyIsDue = drifts("modal") || drifts("modal-once");

export function encounterPage(visit) {
  const { person } = visit;
  const draft = { kind: "Triage", acuity: null, key: randomKey() };
  const note = h("textarea", { id: "note", rows: 5, "aria-describedby": "note-hint" });
  const form = h(
    "form",
    { class: "encounter-form", novalidate: true },
    h(
      "div",
      { class: "field" },
      h("span", { id: "type-label", class: "label" }, "Encounter Type"),
      segments({ id: "type-seg", labelledby: "type-label", options: kinds, choose: (kind) => (draft.kind = kind) }),
    ),
    h(
      "div",
      { class: "field" },
      h("label", { id: "note-label", for: "note" }, "Note"),
      note,
      h("p", { id: "note-hint", class: "hint" }, "Kept exactly as you type it."),
    ),
    h("div", { id: "save-error", role: "alert", "aria-live": "assertive" }),
    h(
      "div",
      { class: "actions movable" },
      h("button", { id: "save-encounter", type: "submit", class: "primary" }, words.save),
      h("a", { class: "quiet", href: `#patient/${person.id}` }, "Cancel"),
    ),
    drifts("reqfield") && acuityField(draft),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(visit, { ...draft, person, note: note.value });
  });
  return inRecord(
    "encounter-record",
    person,
    h("p", { id: "patient-banner", class: "patient-banner small" }, ...namedFirst(person)),
    h("h1", { tabindex: "-1", "data-first-focus": true }, "New Encounter"),
    form,
  );
}

function acuityField(draft) {
  return h(
    "div",
    { class: "field" },
    h("span", { id: "acuity-label", class: "label" }, "Acuity (required)"),
    segments({
      id: "acuity-seg",
      labelledby: "acuity-label",
      options: [
        { value: "Routine", id: "acuity-routine", label: "Routine" },
        { value: "Urgent", id: "acuity-urgent", label: "Urgent" },
      ],
      choose: (acuity) => (draft.acuity = acuity),
    }),
  );
}

async function save(visit, encounter) {
  const button = byId("save-encounter");
  if (button.getAttribute("aria-disabled") === "true") return;
  showError("");
  if (fault === "") {
    if (stoppedByThePage(encounter)) return;
    showSaved(visit, encounter);
    return;
  }
  if (fault === "optimistic") {
    showSaved(visit, encounter);
    send(encounter);
    return;
  }
  const form = button.form;
  button.setAttribute("aria-disabled", "true");
  const { error, signedOut } = await send(encounter);
  button.removeAttribute("aria-disabled");
  // Whoever has left the page meanwhile isn't brought back to it.
  if (!form.isConnected) return;
  if (signedOut) {
    visit.signedOut = true;
    window.location.hash = "#login";
  } else if (error) {
    showError(error);
  } else {
    showSaved(visit, encounter);
  }
}

function stoppedByThePage({ acuity }) {
  if (drifts("reqfield") && acuity === null) {
    showError("Select an acuity level before saving.");
    return true;
  }
  if (surveyIsDue) {
    surveyIsDue = drifts("modal");
    showSurvey(byId("save-encounter"));
    return true;
  }
  return false;
}

function showSaved(visit, { person, kind, note }) {
  visit.encounters.set(person.id, [...(visit.encounters.get(person.id) ?? []), { kind, note }]);
  visit.savedNote = note;
  window.location.hash = `#patient/${person.id}`;
}

function showError(text) {
  byId("save-error").textContent = text;
}
