// Elements without markup in strings: what a person types is only ever text.

/** `h("button", { id: "x", click: go }, "Go")`; a function is a listener, `false` and `null` leave an attribute out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** The first characters of a text; a pair that makes one character stays together. */
export const firstOf = (text, count) => Array.from(text).slice(0, count).join("");

/** Says something to whoever listens to the page instead of looking at it. */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** A row of buttons of which one is chosen. `choose` is called with the value of the chosen one. */
export function segments({ id, labelledby, options, choose, required = false }) {
  const buttons = options.map(({ value, id: buttonId, label }) =>
    h("button", { type: "button", class: "seg-btn", id: buttonId, "aria-pressed": "false", click: pick, "data-value": value }, label),
  );
  function pick({ currentTarget }) {
    for (const button of buttons) {
      const chosen = button === currentTarget;
      button.classList.toggle("selected", chosen);
      button.setAttribute("aria-pressed", String(chosen));
    }
    choose(currentTarget.dataset.value);
  }
  return h("div", { id, class: "seg", role: "group", "aria-labelledby": labelledby, "data-required": required }, ...buttons);
}
