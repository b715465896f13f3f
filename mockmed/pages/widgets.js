// The widgets lab: one control for each panel, and what came of it in words.

import { byId, h } from "./dom.js";

const query = new URLSearchParams(window.location.search);
const status = (text) => {
  byId("status").textContent = text;
};

const PANELS = {
  select: ["Choice list", selectPanel],
  checks: ["Boxes", checksPanel],
  date: ["Date", datePanel],
  modal: ["Dialog", modalPanel],
  typeahead: ["Suggestions", typeaheadPanel],
  table: ["Table", tablePanel],
  kbd: ["Keyboard", keyboardPanel],
  newtab: ["New tab", newTabPanel],
  upload: ["File", uploadPanel],
};

const asked = query.get("panel");
const current = Object.hasOwn(PANELS, asked ?? "") ? asked : "select";
byId("panels").append(
  ...Object.entries(PANELS).map(([name, [title]]) =>
    h("a", { href: `widgets.html?panel=${name}`, "aria-current": name === current ? "page" : null }, title),
  ),
);
byId("panel").setAttribute("aria-label", PANELS[current][0]);
byId("panel").append(...PANELS[current][1]());

function field(id, label, control) {
  return h("div", { class: "field" }, h("label", { for: id }, label), control);
}

function selectPanel() {
  const pets = ["Cat", "Dog", "Parrot", "Tortoise"].map((pet) => h("option", { value: pet.toLowerCase() }, pet));
  const chosen = ({ target }) => status(`Pet chosen: ${target.selectedOptions[0].textContent}.`);
  return [field("pet", "Favourite pet", h("select", { id: "pet", change: chosen }, h("option", { value: "" }, "Choose one"), ...pets))];
}

function checksPanel() {
  const consented = ({ target }) => status(target.checked ? "Consent given." : "Consent withdrawn.");
  const choice = (id, label, attributes) => h("label", { class: "choice", for: id }, h("input", { id, ...attributes }), label);
  const priority = (id, label) => choice(id, label, { type: "radio", name: "prio", change: () => status(`Priority: ${label}.`) });
  return [
    choice("consent", "The patient agrees to be called back", { type: "checkbox", change: consented }),
    h("fieldset", {}, h("legend", {}, "Priority"), priority("prio-routine", "Routine"), priority("prio-urgent", "Urgent")),
  ];
}

function datePanel() {
  const chosen = ({ target }) => status(target.value ? `Date chosen: ${target.value}.` : "No date.");
  return [field("when", "Appointment on", h("input", { id: "when", type: "date", change: chosen }))];
}

function modalPanel() {
  const open = () => {
    const confirm = h("button", { id: "confirm-survey", type: "button", class: "primary", click: close }, "Confirm");
    const survey = h(
      "div",
      { id: "survey-modal", class: "card", role: "dialog", "aria-modal": "true", "aria-labelledby": "survey-title" },
      h("h2", { id: "survey-title" }, "A short survey"),
      h("p", {}, "Confirm that you have read this sentence."),
      h("div", { class: "actions" }, confirm),
    );
    byId("modal-root").replaceChildren(h("div", { id: "modal-overlay" }, survey));
    for (const id of ["topbar", "app", "footer"]) byId(id).inert = true;
    confirm.focus();
  };
  const close = () => {
    for (const id of ["topbar", "app", "footer"]) byId(id).inert = false;
    byId("modal-root").replaceChildren();
    byId("open-survey").focus();
    status("Survey confirmed.");
  };
  return [h("div", { class: "actions" }, h("button", { id: "open-survey", type: "button", class: "primary", click: open }, "Open survey"))];
}

function typeaheadPanel() {
  const places = ["Ambulatory care", "Cardiology", "Dermatology", "Radiology", "Rehabilitation", "Reception"];
  const list = h("ul", { id: "suggestions", "aria-label": "Suggestions" });
  const input = h("input", { id: "q", type: "search", autocomplete: "off", "aria-controls": "suggestions", input: suggest });
  function suggest() {
    const typed = input.value.trim().toLowerCase();
    const found = typed === "" ? [] : places.filter((place) => place.toLowerCase().includes(typed));
    list.replaceChildren(...found.map((place) => h("li", {}, h("button", { type: "button", class: "suggestion", click: () => take(place) }, place))));
    status(typed === "" ? "Ready and waiting." : `${found.length} found.`);
  }
  function take(place) {
    input.value = place;
    list.replaceChildren();
    input.focus();
    status(`Department chosen: ${place}.`);
  }
  return [field("q", "Department", input), list];
}

function tablePanel() {
  const names = ["Alex Testcase", "Casey Fixture", "Jane Sample", "Morgan Invented", "Robin Placeholder", "Sam Specimen", "Taylor Pretend"];
  const size = 3;
  const pages = Math.ceil(names.length / size);
  let descending = query.get("presort") === "desc";
  let page = 0;
  const body = h("tbody", { id: "table-body" });
  const label = h("span", { id: "page-label" });
  const sort = h("button", { id: "sort-name", type: "button", click: turnRound }, "Name");
  const column = h("th", { scope: "col" }, sort);
  const previous = h("button", { id: "prev-page", type: "button", click: () => move(-1) }, "Previous");
  const next = h("button", { id: "next-page", type: "button", click: () => move(1) }, "Next");
  function turnRound() {
    descending = !descending;
    page = 0;
    draw();
    status(descending ? "Sorted from Z to A." : "Sorted from A to Z.");
  }
  function move(by) {
    page = Math.min(Math.max(page + by, 0), pages - 1);
    draw();
    status(`Page ${page + 1}.`);
  }
  function draw() {
    const rows = descending ? [...names].reverse() : names;
    body.replaceChildren(...rows.slice(page * size, (page + 1) * size).map(row));
    label.textContent = `Page ${page + 1} of ${pages}`;
    column.setAttribute("aria-sort", descending ? "descending" : "ascending");
    previous.disabled = page === 0;
    next.disabled = page === pages - 1;
  }
  const row = (name) =>
    h(
      "tr",
      {},
      h("td", { class: "who" }, name),
      h("td", {}, h("button", { type: "button", class: "pick-btn open-btn", "aria-label": `Pick ${name}`, click: () => status(`Picked: ${name}.`) }, "Pick")),
    );
  draw();
  return [
    h("table", { id: "widget-table", "aria-label": "People" }, h("thead", {}, h("tr", {}, column, h("th", { scope: "col" }, "Action"))), body),
    h("div", { class: "actions" }, previous, label, next),
  ];
}

function keyboardPanel() {
  const name = h("input", { id: "kb-name", type: "text", autocomplete: "off" });
  const ward = h("input", { id: "kb-ward", type: "text", autocomplete: "off" });
  const enter = ({ key }) => {
    if (key === "Enter") status(`Sent: ${name.value || "nobody"}, ward ${ward.value || "none"}.`);
  };
  name.addEventListener("keydown", enter);
  ward.addEventListener("keydown", enter);
  return [field("kb-name", "Name", name), field("kb-ward", "Ward", ward), h("p", { class: "hint" }, "Enter sends both fields.")];
}

function newTabPanel() {
  const opened = () => status("The report is open in a new tab.");
  return [
    h("p", {}, h("a", { id: "report-link", href: "widgets.html?panel=table&presort=desc", target: "_blank", rel: "noopener", click: opened }, "Open the report"), " (in a new tab)"),
  ];
}

function uploadPanel() {
  const attached = ({ target }) => status(target.files.length === 0 ? "No file." : `Attached: ${target.files[0].name}.`);
  return [field("attach", "Attachment", h("input", { id: "attach", type: "file", change: attached }))];
}
