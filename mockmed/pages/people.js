// The people of the clinic, all of them invented, and which of them are on the list of referrals.

import { drifts } from "./settings.js";

const person = (id, name, born, reason, priority) => ({ id, name, born, reason, priority });

const regulars = [
  person("p1", "Jane Sample", "1980-01-01", "Knee pain referral", "High"),
  person("p2", "Alex Testcase", "1975-05-05", "Cardiology follow-up", "Medium"),
  person("p3", "Sam Specimen", "1990-09-09", "Dermatology consult", "Low"),
].filter(({ id }) => !(id === "p1" && drifts("missing")));

const newcomers = [
  person("g1", "Robin Placeholder", "1962-03-14", "Hearing check", "Medium"),
  person("g2", "Casey Fixture", "1988-11-02", "Sleep study", "Low"),
  person("g3", "Morgan Invented", "1954-07-21", "Diet advice", "Low"),
  person("g4", "Taylor Pretend", "2001-12-30", "Travel vaccination", "Medium"),
];

const lookalike = person("p0", "Jamie Sampel", "1980-10-01", "Knee pain referral", "High");

/** The rows of the referral table, from top to bottom. */
export const referrals = listed();

const everybody = [...regulars, ...newcomers, lookalike];

/** The person with this id, or the first of the clinic when there is none. */
export function personOf(id) {
  return everybody.find((someone) => someone.id === id) ?? regulars[0];
}

export function identity({ id, name, born }) {
  return `${name} — MRN ${id.toUpperCase()} — DOB ${born}`;
}

function listed() {
  if (drifts("empty")) return [];
  let rows = [...regulars];
  if (drifts("lookalike")) rows = [lookalike, ...rows];
  if (drifts("grow")) rows = [...newcomers, ...rows];
  if (drifts("sort")) rows.sort((one, other) => one.name.localeCompare(other.name, "en"));
  if (drifts("ambiguous")) rows = [rows[0], ...rows];
  return rows;
}
