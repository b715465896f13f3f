// What the address asks for. It is read once: later the address changes only behind the "#".

const query = new URLSearchParams(window.location.search);
const asked = new Set((query.get("drift") ?? "").split(",").map((word) => word.trim()));
const slowFor = Number(query.get("slowms"));

export const fault = query.get("fault") ?? "";
export const slowMilliseconds = query.has("slowms") && Number.isFinite(slowFor) && slowFor >= 0 ? slowFor : 4000;
/** The key that every save carries, the same on every page and in every run. */
export const steadyKey = query.get("idempotency") === "demo" ? "mockmed-triage-p1-v1" : null;

export const drifts = (name) => asked.has(name);

export const words = drifts("rename")
  ? { open: "View", save: "Submit Encounter" }
  : { open: "Open", save: "Save Encounter" };

/** The kinds of encounter in the order of their buttons. */
export const kinds = drifts("typelabel")
  ? [
      { value: "Consult", id: "type-consult", label: "Consult" },
      { value: "Triage", id: "type-triage", label: "Triage Assessment" },
    ]
  : [
      { value: "Triage", id: "type-triage", label: "Triage" },
      { value: "Consult", id: "type-consult", label: "Consult" },
    ];
