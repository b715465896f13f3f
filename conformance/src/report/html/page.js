// The page's own script: the filter, and what happened when, drawn when it is asked for.
"use strict";

const LANES = { client: "client sends", agent: "agent answers", flow: "Flow", app: "app writes", file: "files" };
const timelines = JSON.parse(document.getElementById("timelines").textContent);

const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

const seconds = (micros) => `${(micros / 1e6).toFixed(3)} s`;

const strip = (moments, end) => {
  const drawn = make("div", "strip");
  drawn.setAttribute("aria-hidden", "true");
  for (const [lane, name] of Object.entries(LANES)) {
    const own = moments.filter((moment) => moment[1] === lane);
    if (own.length === 0) continue;
    drawn.append(make("span", lane, name));
    const track = make("div", `track ${lane}`);
    for (const [at, , text] of own) {
      const dot = make("i", "dot");
      dot.style.left = `${(100 * at) / end}%`;
      dot.title = `${seconds(at)} ${text}`;
      track.append(dot);
    }
    drawn.append(track);
  }
  const scale = make("div", "scale");
  scale.append(make("span", "", "0 s"), make("span", "", seconds(end)));
  drawn.append(make("span"), scale);
  return drawn;
};

const table = (moments, name) => {
  const drawn = make("table", "moments");
  drawn.setAttribute("role", "table");
  drawn.append(make("caption", "", `What happened in ${name}, in order`));
  const head = make("tr");
  for (const word of ["when", "where", "what"]) {
    const cell = make("th", "", word);
    cell.scope = "col";
    head.append(cell);
  }
  const header = make("thead");
  header.append(head);
  const body = make("tbody");
  for (const [at, lane, text] of moments) {
    const row = make("tr");
    row.append(make("td", "when", seconds(at)), make("td", `where ${lane}`, LANES[lane]), make("td", "what", text));
    body.append(row);
  }
  drawn.append(header, body);
  for (const [role, selector] of [["rowgroup", "thead, tbody"], ["row", "tr"], ["columnheader", "th"], ["cell", "td"]]) {
    for (const element of drawn.querySelectorAll(selector)) element.setAttribute("role", role);
  }
  return drawn;
};

const draw = (details) => {
  const moments = timelines[Number(details.dataset.timeline)] || [];
  if (details.dataset.drawn || moments.length === 0) return;
  details.dataset.drawn = "yes";
  const end = Math.max(1, ...moments.map((moment) => moment[0]));
  details.append(strip(moments, end), table(moments, details.querySelector("summary code").textContent));
};

for (const details of document.querySelectorAll("details[data-timeline]")) {
  details.addEventListener("toggle", () => details.open && draw(details));
}

const open = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  draw(target);
  target.scrollIntoView();
  target.querySelector("summary").focus();
};
addEventListener("hashchange", open);

const form = document.getElementById("filter");
const find = document.getElementById("find");
const state = document.getElementById("state");
const rows = [...document.querySelectorAll(".matrix tbody tr")].map((row) => [row, row.textContent.toLowerCase()]);
const scenarios = [...document.querySelectorAll("#scenarios > details")];
const texts = scenarios.map((scenario) => scenario.querySelector("summary").textContent.toLowerCase());

const filter = () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const says = (text) => words.every((word) => text.includes(word));
  let shown = 0;
  for (const [row, text] of rows) {
    row.hidden = !(says(text) && (state.value === "" || row.dataset.state === state.value));
    shown += row.hidden ? 0 : 1;
  }
  scenarios.forEach((scenario, index) => {
    scenario.hidden = !scenario.open && !says(texts[index]);
  });
  document.getElementById("count").textContent = `${shown} of ${rows.length} requirements`;
};

if (form) {
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", filter);
  state.addEventListener("change", filter);
  filter();
}
open();
