#!/usr/bin/env python3
"""Derives the test vectors in this folder from run directories that a real openadapt-flow 1.35.1 left behind.

usage: derive.py SOURCE [OUT]

SOURCE holds flow-1.35.1/<case>/ and reports/*.json; OUT is this folder unless named. Every free text is replaced by a
made-up one; then each digest and signature that covers a text is computed anew with the case's own key. Before that the
same functions must reproduce every digest and signature of SOURCE: where one doesn't, nothing is written.
"""

import hashlib
import hmac
import json
import pathlib
import shutil
import sys

TEXT_KEYS = {
    "intent", "reason", "detail", "proposed_options", "error", "observed_texts", "completed_intents", "resolution",
    "risk_explanation", "effect_results", "observed", "expected", "message", "text",
}
PERSON_KEYS = {"approver", "operator", "host"}
RECORD_SENTENCES = ("label", "what_happened", "next_action")
TRANSITION_KEYS = (
    "run_id", "workflow_name", "bundle_version", "step_index", "step_id", "state_id", "resume_from_index",
    "resume_from_step_id", "program_cursor_digest", "expected_next_transition",
)
REQUEST_KEYS = ("capability_digest", "idempotency_key", "action", "disposition")


def main(source, out):
    cases = {path.name: load_case(path) for path in sorted((source / "flow-1.35.1").iterdir())}
    reports = {path.name: Json(path) for path in sorted((source / "reports").glob("*.json"))}
    for name, case in cases.items():
        verify(name, case)

    texts = Texts()
    for case in cases.values():
        for file in case.values():
            file.replace_texts(texts)
    for file in reports.values():
        file.replace_texts(texts)

    pauses = {}
    for case in cases.values():
        rebind_pause(case, pauses)
    for name, case in cases.items():
        rebind(case, pauses)
        verify(name, case)
        verify_pause_bindings(name, case)

    for folder in ("flow-1.35.1", "reports"):
        shutil.rmtree(out / folder, ignore_errors=True)
    for name, case in cases.items():
        for path, file in case.items():
            write(out / "flow-1.35.1" / name / path, file.bytes(), texts)
    for name, file in reports.items():
        write(out / "reports" / name, file.bytes(), texts)


class Json:
    """A JSON file with the style that its bytes have."""

    STYLES = (
        lambda value: json.dumps(value, indent=2, ensure_ascii=False),
        lambda value: json.dumps(value, indent=2),
        lambda value: json.dumps(value, sort_keys=True),
        lambda value: canonical(value).decode(),
    )

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        self.is_record = path.name == "__agent_record.json"
        self.value = json.loads(text)
        self.tail = text[len(text.rstrip("\n")):]
        styles = [style for style in self.STYLES if style(self.value) == text.rstrip("\n")]
        check(styles, f"{path}: no known style writes these bytes")
        self.style = styles[0]

    def bytes(self):
        return (self.style(self.value) + self.tail).encode()

    def replace_texts(self, texts):
        if self.is_record:
            result = self.value["result"]
            for key in RECORD_SENTENCES:
                result[key] = texts.instead_of(key, result[key])
            self.value["host"] = "host"
        else:
            self.value = texts.replaced(self.value)


class Key:
    """The 32 raw bytes beside a capability."""

    def __init__(self, path):
        self.raw = path.read_bytes()

    def bytes(self):
        return self.raw

    def replace_texts(self, texts):
        pass


class Texts:
    """Made-up texts, equal where the originals were equal."""

    def __init__(self):
        self.known = {}
        self.counts = {}

    def instead_of(self, key, text):
        if not text:
            return text
        if (key, text) not in self.known:
            self.counts[key] = self.counts.get(key, 0) + 1
            self.known[key, text] = f"made-up {key.replace('_', ' ')} {self.counts[key]} (ä)"
        return self.known[key, text]

    def replaced(self, value, key=None):
        if isinstance(value, dict):
            return {name: self.replaced(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.replaced(inner, key) for inner in value]
        if isinstance(value, str) and key in PERSON_KEYS:
            return "operator"
        if isinstance(value, str) and key in TEXT_KEYS:
            return self.instead_of(key, value)
        return value


def load_case(folder):
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() or path.name == "REPORT.md":
            continue
        loader = Key if path.name == ".attended_capability.key" else Json
        files[str(path.relative_to(folder))] = loader(path)
    return files


def verify(name, case):
    """Each digest and signature of a case that can be computed must be what stands there."""
    pending, capability, key = (part(case, file) for file in ("pending_escalation.json", "attended_capability.json", None))
    if capability is None:
        return
    equal(name, "signature", capability["signature"], signature(capability, key))
    equal(name, "transition digest", capability["expected_transition_digest"], transition_digest(capability))
    if pending is not None:
        equal(name, "pause digest", capability["pause_digest"], pause_digest(pending))
    public = digest(unsigned(capability))
    for decision in decisions(case):
        equal(name, "capability digest of a decision", decision["capability_digest"], public)
        equal(name, "request digest", decision["request_digest"], digest({k: decision[k] for k in REQUEST_KEYS}))
    for path, file in case.items():
        if path.startswith("checkpoints/step_") and file.value["attended_capability_digest"] is not None:
            equal(name, "capability digest of a checkpoint", file.value["attended_capability_digest"], public)
    verify_pause_bindings(name, case)


def verify_pause_bindings(name, case):
    capability = part(case, "attended_capability.json")
    for path, file in case.items():
        if path == "approval.json" or path.startswith("approval_history/"):
            equal(name, path, file.value["pause_binding_sha256"], capability["pause_digest"])
        if path.startswith("approval_history/"):
            equal(name, "name in approval_history", path, history_name(capability["pause_digest"]))


def rebind_pause(case, pauses):
    """Notes which pause digest takes the place of which. A pause that is gone from its case keeps its digest."""
    pending, capability = part(case, "pending_escalation.json"), part(case, "attended_capability.json")
    if pending is not None:
        pauses[capability["pause_digest"]] = pause_digest(pending)


def rebind(case, pauses):
    capability, key = part(case, "attended_capability.json"), part(case, None)
    if capability is None:
        return
    old = capability["pause_digest"]
    new = pauses.get(old, old)
    capability["pause_digest"] = new
    capability["expected_transition_digest"] = transition_digest(capability)
    capability["signature"] = signature(capability, key)
    public = digest(unsigned(capability))
    for decision in decisions(case):
        decision["capability_digest"] = public
        decision["request_digest"] = digest({k: decision[k] for k in REQUEST_KEYS})
    for path in list(case):
        value = case[path].value if isinstance(case[path], Json) else {}
        if path.startswith("checkpoints/step_") and value["attended_capability_digest"] is not None:
            value["attended_capability_digest"] = public
        if path == "approval.json" or path.startswith("approval_history/"):
            value["pause_binding_sha256"] = new
        if path.startswith("approval_history/"):
            case[history_name(new)] = case.pop(path)


def part(case, path):
    if path is None:
        return case[".attended_capability.key"].raw if ".attended_capability.key" in case else None
    return case[path].value if path in case else None


def decisions(case):
    return (part(case, "attended_decisions.json") or {"decisions": []})["decisions"]


def history_name(pause):
    return f"approval_history/{pause.removeprefix('sha256:')}.json"


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value):
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def pause_digest(pending):
    return digest({**pending, "status": "pending"})


def unsigned(capability):
    return {name: value for name, value in capability.items() if name != "signature"}


def signature(capability, key):
    return "hmac-sha256:" + hmac.new(key, canonical(unsigned(capability)), hashlib.sha256).hexdigest()


def transition_digest(capability):
    return digest({name: capability[name] for name in TRANSITION_KEYS})


def write(path, content, texts):
    for _, original in texts.known:
        carried = " " in original and json.dumps(original, ensure_ascii=False)[1:-1].encode() in content
        check(not carried, f"{path}: carries {original!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def equal(case, what, found, computed):
    check(found == computed, f"{case}: {what} is {found}, computed {computed}")


def check(holds, sentence):
    if not holds:
        sys.exit(f"derive: {sentence}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).parent))
