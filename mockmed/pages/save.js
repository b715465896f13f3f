// Sending an encounter to the server, in the way that the fault mode asks for.

import { fault, steadyKey } from "./settings.js";

const PATIENCE_MS = 1200;

/** `{}` when the server says that it is saved, else `{ error }` or `{ signedOut: true }`. */
export async function send(encounter) {
  const body = JSON.stringify(asSent(encounter));
  const posts = ["duplicate", "double", "idempotent"].includes(fault) ? 2 : 1;
  let result = {};
  for (let post = 0; post < posts; post += 1) {
    result = await postOnce(body);
  }
  return result;
}

/** One for each encounter that is begun, so that its second post is known as the same. */
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `enc-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function asSent({ person, kind, note, key }) {
  const sent = { patient_id: person.id, type: kind, note };
  if (steadyKey !== null) return { ...sent, key: steadyKey };
  return fault === "idempotent" ? { ...sent, key } : sent;
}

async function postOnce(body) {
  const patience = new AbortController();
  const timer = fault === "timeout" ? setTimeout(() => patience.abort(), PATIENCE_MS) : null;
  try {
    const response = await fetch(`/api/encounter?fault=${encodeURIComponent(fault)}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      signal: patience.signal,
    });
    if (response.status === 401) return { signedOut: true };
    return response.ok ? {} : { error: "Save was rejected by the server." };
  } catch (problem) {
    if (problem.name === "AbortError") {
      return { error: "Save timed out — this encounter may or may not have been saved." };
    }
    return { error: "Save failed to reach the server." };
  } finally {
    clearTimeout(timer);
  }
}
