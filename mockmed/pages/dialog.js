// The survey that comes in the way of a save.

import { byId, h } from "./dom.js";

const BEHIND = ["skip-link", "topbar", "app", "footer"];

export function clearPopUps() {
  for (const id of BEHIND) byId(id).inert = false;
  byId("modal-root").replaceChildren();
}

/** Shows it over the page; `back` has the focus again when it is dismissed. */
export function showSurvey(back) {
  const dismiss = () => {
    clearPopUps();
    back.focus();
  };
  const later = h("button", { id: "survey-dismiss", type: "button", class: "primary", click: dismiss }, "Maybe later");
  const survey = h(
    "div",
    { id: "survey-modal", class: "card", role: "dialog", "aria-modal": "true", "aria-labelledby": "survey-title" },
    h("h2", { id: "survey-title" }, "How is MockMed treating you?"),
    h("p", {}, "Three short questions would help us. Your encounter has not been saved yet."),
    h("div", { class: "actions" }, later),
  );
  survey.addEventListener("keydown", (event) => {
    if (event.key === "Escape") dismiss();
  });
  byId("modal-root").replaceChildren(h("div", { id: "modal-overlay" }, survey));
  for (const id of BEHIND) byId(id).inert = true;
  later.focus();
}
