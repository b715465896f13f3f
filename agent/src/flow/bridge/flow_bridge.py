"""Speaks for Flow, with Flow's own interpreter and public API: the bridge of docs/flow-bridge.md, and the sandbox's runs."""

import sys

# Nothing is imported from the folder that the program happens to be started in.
sys.path[:] = [entry for entry in sys.path if entry]

import argparse
import base64
import contextlib
import fcntl
import json
import os
import queue
import re
import shutil
import socket
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

# The line of Flow whose public contract this file is written against.
SUPPORTED = re.compile(r"1\.35\.[0-9]+")
VERSION = re.compile(r"[0-9]+(\.[0-9]+){1,3}([a-z0-9.+-]{0,20})")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
DECISION = (
    "decision_id",
    "action",
    "status",
    "report_success",
    "next_transition",
    "transition_receipt_digest",
)
WORKFLOW = "add_triage_note"
POLICY = "clinical-write"
# Where Playwright was told to look before this program said anything.
BROWSERS = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
# Counts up when a bundle of an older recipe may not be reused.
RECIPE = 1
# Why a recording session says no, as far as there are words for it.
REFUSALS = (
    "not_recording",
    "already_recording",
    "paused",
    "not_paused",
    "halted",
    "stale_node",
    "missing_pause_target",
    "missing_secret_type",
    "not_compiled",
    "admit_refused",
    "coach_only",
)
# Flow's kinds of a remote window.
REMOTE = {"rdp": "rdp", "citrix": "citrix"}


class NotPrepared(Exception):
    """Why there is no sandbox: one closed word."""


class NotOpened(Exception):
    """Why there is no recording session: one closed word."""


def main():
    os.environ.setdefault("OPENADAPT_FLOW_NO_AUTO_INSTALL", "1")
    parser = argparse.ArgumentParser(prog="flow_bridge", allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True)
    bridge = verbs.add_parser("bridge", allow_abbrev=False)
    bridge.add_argument("--deployment")
    bridge.add_argument("--url")
    bridge.add_argument("--headed", action="store_true")
    bridge.add_argument("--allow-model-grounding", action="store_true")
    run = verbs.add_parser("run", allow_abbrev=False)
    run.add_argument("bundle", type=Path)
    run.add_argument("--run-dir", type=Path, required=True)
    run.add_argument("--params-file", type=Path, required=True)
    run.add_argument("--url", required=True)
    run.add_argument("--profile", choices=["standard"], required=True)
    run.add_argument("--headed", action="store_true")
    arguments = parser.parse_args()
    return run_once(arguments) if arguments.verb == "run" else Bridge(arguments).serve()


class Bridge:
    """One request a line, one answer a line. Decisions and the sandbox's preparation run beside the rest."""

    def __init__(self, arguments):
        # What Flow prints goes to stderr: stdout is for answers alone.
        self.answers = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)
        self.writing = threading.Lock()
        self.beside = []
        self.recording = Recording(self.answer_with)
        self.version, self.fault = flow_found()
        self.service = None
        self.open = contextlib.ExitStack()
        if self.fault is None and arguments.deployment:
            self.service = live_service(arguments, self.open)

    def serve(self):
        with self.open:
            for line in sys.stdin.buffer:
                request = parsed(line)
                op = request.get("op")
                if str(op).startswith("authoring.") and self.fault is None:
                    self.recording.hand_over(request)
                elif op in ("attended.act", "sandbox.prepare"):
                    worker = threading.Thread(target=self.answer, args=(request,))
                    self.beside.append(worker)
                    worker.start()
                else:
                    self.answer(request)
                if op == "close":
                    break
            for worker in self.beside:
                worker.join()
            self.recording.close()
        return 0

    def answer(self, request):
        self.answer_with(request, self.body)

    def answer_with(self, request, work):
        try:
            body = work(request)
        except BaseException:
            # Whatever went wrong, its words stay here: they may hold what was on a screen.
            body = no("failed")
        line = json.dumps({"id": request.get("id"), **body}).encode() + b"\n"
        with self.writing, contextlib.suppress(OSError):
            self.answers.write(line)

    def body(self, request):
        op = request.get("op")
        if op == "close":
            return {"ok": True}
        known = {
            "hello": self.hello,
            "bundle.describe": describe,
            "attention.list": attention_list,
            "attention.get": attention_get,
            "attention.for_run": attention_for_run,
            "attended.act": self.act,
            "sandbox.prepare": prepare,
        }
        if op not in known and not str(op).startswith("authoring."):
            return no("unknown_op")
        if self.fault is not None:
            told = {"flow_version": self.version} if self.version else {}
            return {**no(self.fault), **told}
        return known[op](request)

    def hello(self, _request):
        reason = no_sandbox()
        told = {} if reason is None else {"sandbox_reason": reason}
        return {
            "ok": True,
            "flow_version": self.version,
            "attended": True,
            "live": self.service is not None,
            "stand_in": False,
            "sandbox": reason is None,
            **told,
        }

    def act(self, request):
        from openadapt_flow.console.attention import resolve_attention
        from openadapt_flow.runtime.durable import (
            ApprovalRequired,
            AttendedActionRefused,
            AttendedActionRequest,
            ResumeRefused,
            execute_attended_action,
        )

        wanted = AttendedActionRequest(**request["request"])
        found = resolve_attention(Path(request["runs_dir"]).resolve(), request["attention_id"])
        if found is None:
            return no("refused")
        execute = execute_attended_action if self.service is None else self.service.execute
        try:
            decision = execute(
                found[0], wanted, operator=request["operator"], decided_by=request["decided_by"]
            )
        except (AttendedActionRefused, ResumeRefused, ApprovalRequired):
            return no("refused")
        told = decision.model_dump(mode="json")
        return {"ok": True, "decision": {key: told[key] for key in DECISION}}


class Recording:
    """The one recording session. A browser belongs to the thread that opened it, so one thread owns all of it."""

    def __init__(self, answer_with):
        self.answer_with = answer_with
        self.requests = queue.SimpleQueue()
        self.owner = None
        self.session = None
        self.backend = None
        self.folder = None
        self.close_backend = None

    def hand_over(self, request):
        if self.owner is None:
            self.owner = threading.Thread(target=self.own)
            self.owner.start()
        self.requests.put(request)

    def close(self):
        if self.owner is not None:
            self.requests.put(None)
            self.owner.join()

    def own(self):
        while (request := self.requests.get()) is not None:
            self.answer_with(request, self.body)
        if self.close_backend is not None:
            with contextlib.suppress(Exception):
                self.close_backend()

    def body(self, request):
        known = {
            "authoring.open": self.open,
            "authoring.observe": self.observe,
            "authoring.start_record": self.start_record,
            "authoring.click": self.click,
            "authoring.type": self.type,
            "authoring.pause_for_input": self.pause_for_input,
            "authoring.continue_input": self.continue_input,
            "authoring.stop_record": self.stop_record,
            "authoring.compile": self.compile,
            "authoring.admit": self.admit,
            "authoring.halt": self.halt,
            "authoring.screen": self.screen,
        }
        step = known.get(request["op"])
        if step is None:
            return no("unknown_op")
        if step == self.open:
            return self.open(request)
        if self.session is None:
            return refused("coach_only" if self.folder else "not_recording")
        from openadapt_flow.authoring import AuthoringError

        try:
            return step(request)
        except AuthoringError as no_of_it:
            return refused(getattr(no_of_it, "code", "").lower())

    def open(self, request):
        try:
            from openadapt_flow.authoring import AuthoringSession, CoachOnlyError
        except Exception:
            return not_opened("no_authoring")
        pin, self.folder = request["pin"], Path(request["folder"]).resolve()
        kind = pin["kind"]
        if kind == "none":
            return {"ok": True, "backend": "windows", "coach_only": True}
        try:
            self.backend, self.close_backend, url = pinned(pin, self.folder)
            self.session = AuthoringSession(self.backend, self.folder, backend_kind=kind, app_url=url)
        except NotOpened as reason:
            return not_opened(str(reason))
        except CoachOnlyError:
            return not_opened("coach_only")
        return {"ok": True, "backend": kind, "coach_only": False}

    def observe(self, _request):
        return {"ok": True, "observe": self.session.observe()}

    def start_record(self, _request):
        self.session.start_record()
        return {"ok": True}

    def click(self, request):
        if request.get("node_id") is not None:
            self.session.click(node_id=request["node_id"])
        else:
            self.session.click(request["x"], request["y"])
        return {"ok": True}

    def type(self, request):
        if request.get("node_id") is not None:
            self.session.click(node_id=request["node_id"])
        self.session.type_text(request["text"], request.get("param"))
        return {"ok": True}

    def pause_for_input(self, request):
        self.session.pause_for_input(
            param=request["param"], secret=request.get("secret") is True, node_id=request.get("node_id")
        )
        return {"ok": True}

    def continue_input(self, _request):
        told = self.session.continue_input()
        return {"ok": True, **{key: told[key] for key in ("recorded", "param", "reason") if key in told}}

    def stop_record(self, _request):
        self.session.stop_record()
        return {"ok": True}

    def compile(self, _request):
        bundle = self.folder / "bundle"
        # Nobody has accepted the draft that is made now.
        (bundle / "admit.json").unlink(missing_ok=True)
        return {"ok": True, "workflow_id": self.session.compile(bundle).get("workflow_id")}

    def admit(self, _request):
        if not callable(getattr(self.session, "admit", None)):
            return refused("admit_unavailable")
        return {"ok": True, "workflow_id": self.session.admit(True).get("workflow_id")}

    def halt(self, _request):
        self.session.halt()
        return {"ok": True}

    def screen(self, request):
        picture = self.backend.screenshot()
        if request.get("scrubbed") is True:
            picture = scrubbed(picture)
        if picture is None:
            return refused("scrubbing_failed")
        told = base64.b64encode(picture).decode()
        return {"ok": True, "scrubbed": request.get("scrubbed") is True, "screen_png_base64": told}


def pinned(pin, folder):
    """The backend of the pinned window, how it is closed, and its address where it has one."""
    if pin["kind"] == "web":
        return browser(pin)
    from openadapt_flow.authoring import CoachOnlyError, open_session

    # Flow itself says which windows its recorder drives; nothing is opened for one that it doesn't.
    open_session(None, folder, backend_kind=pin["kind"])
    try:
        from openadapt_flow.backends.factory import build_backend
        from openadapt_flow.deployment import BackendConfig

        settings = {"kind": "windows", "agent_url": pin.get("agent_url")}
        if pin["kind"] in REMOTE:
            window = {"rdp_window": pin.get("window"), "rdp_window_title": pin.get("window_title")}
            settings = {"kind": REMOTE[pin["kind"]], **window}
        return build_backend(BackendConfig(**settings)), None, None
    except CoachOnlyError:
        raise
    except Exception:
        raise NotOpened("pin_not_here") from None


def browser(pin):
    """A new browser with nothing in it, which the person sees: unless the operator says that nobody has to."""
    if find_spec("playwright") is None:
        raise NotOpened("no_driver")
    from openadapt_flow.backends.playwright_backend import PlaywrightBackend

    seen = os.environ.get("OPENADAPT_AUTHORING_HEADLESS") != "1"
    if seen and sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise NotOpened("no_display")
    links = Path(tempfile.mkdtemp(prefix="openadapt-browsers-"))
    try:
        browser_opens(links, seen)
        backend, close = PlaywrightBackend.launch(pin["url"], headless=not seen)
    except NotPrepared as reason:
        shutil.rmtree(links, ignore_errors=True)
        raise NotOpened(str(reason)) from None
    except Exception:
        shutil.rmtree(links, ignore_errors=True)
        raise NotOpened("page_failed") from None

    def closed():
        close()
        shutil.rmtree(links, ignore_errors=True)

    return backend, closed, pin["url"]


def scrubbed(picture):
    """Without what identifies somebody, or nothing."""
    try:
        from openadapt_flow import privacy

        # Without force, Flow gives a picture back as it was where it isn't set up to scrub.
        return privacy.scrub_image_bytes(picture, force=True) if privacy.scrubbing_available() else None
    except BaseException:
        return None


def refused(code):
    return {**no("refused"), "code": code if code in REFUSALS + ("admit_unavailable", "scrubbing_failed") else "other"}


def not_opened(reason):
    return {**no("failed"), "authoring_reason": reason}


def flow_found():
    """Flow's version, and the closed word for why it can't be spoken for."""
    try:
        import openadapt_flow
    except ModuleNotFoundError as missing:
        return None, "no_flow" if missing.name == "openadapt_flow" else "import_error"
    except BaseException:
        return None, "import_error"
    version = str(getattr(openadapt_flow, "__version__", ""))
    version = version if VERSION.fullmatch(version) else None
    if version is None or not SUPPORTED.fullmatch(version):
        return version, "other_version"
    try:
        import openadapt_flow.console.attention
        import openadapt_flow.ir
        import openadapt_flow.run_gate
        import openadapt_flow.runtime.durable as durable

        for name in ("AttendedActionService", "AttendedActionRequest", "execute_attended_action"):
            getattr(durable, name)
    except BaseException:
        return version, "import_error"
    return version, None


def live_service(arguments, stack):
    """The session in which a run can go on, or nothing where it doesn't open."""
    try:
        from openadapt_flow.deployment import load_deployment
        from openadapt_flow.runtime.durable import AttendedActionService

        deployment = load_deployment(arguments.deployment)
        backend = {"url": arguments.url} if arguments.url else {}
        backend.update({"headed": True} if arguments.headed else {})
        runtime = {"allow_model_grounding": True} if arguments.allow_model_grounding else {}
        deployment = deployment.model_copy(
            update={
                "backend": deployment.backend.model_copy(update=backend),
                "runtime": deployment.runtime.model_copy(update=runtime),
            }
        )
        return stack.enter_context(AttendedActionService(deployment))
    except BaseException:
        return None


def describe(request):
    from openadapt_flow.ir import Workflow

    folder = Path(request["dir"])
    try:
        workflow = Workflow.load(folder)
    except BaseException:
        return no("load_error")
    told = workflow.model_dump(mode="json", include={"name", "params", "param_specs", "schema_version"})
    told.update(
        step_count=len(workflow.steps),
        encrypted=(folder / "workflow.json.enc").is_file(),
        content_digest=workflow.manifest.content_digest if workflow.manifest else None,
        changes_records=changes_records(workflow),
    )
    return {"ok": True, "bundle": told}


def changes_records(workflow):
    """Flow's own judgement of every step. What it can't judge counts as a change."""
    from openadapt_flow.run_gate import is_consequential
    from openadapt_flow.traversal import iter_workflow_steps

    try:
        return any(is_consequential(step, workflow) for step in iter_workflow_steps(workflow))
    except BaseException:
        return True


def attention_list(request):
    from openadapt_flow.console.attention import list_attention

    items = list_attention(Path(request["runs_dir"]).resolve())
    return {"ok": True, "items": [item.model_dump(mode="json") for item in items]}


def attention_get(request):
    from openadapt_flow.console.attention import resolve_attention

    found = resolve_attention(Path(request["runs_dir"]).resolve(), request["attention_id"])
    return {"ok": True, "item": found and found[1].model_dump(mode="json")}


def attention_for_run(request):
    from openadapt_flow.console.attention import attention_item

    root = Path(request["runs_dir"]).resolve()
    folder = (root / request["run_dir"]).resolve()
    item = attention_item(root, folder) if folder.is_relative_to(root) and folder.is_dir() else None
    return {"ok": True, "item": item and item.model_dump(mode="json")}


def no_sandbox():
    """Why no sandbox can be prepared here; nothing where it may be tried."""
    if find_spec("playwright") is None:
        return "no_driver"
    own = Path(BROWSERS or Path.home() / ".cache/ms-playwright")
    installed = any(own.glob("chromium*/*/chrome*")) if own.is_dir() else False
    return None if installed or chromium() else "no_browser"


def chromium():
    named = os.environ.get("OPENADAPT_CHROMIUM")
    return named or next((found for found in map(shutil.which, CHROMIUM) if found), None)


def prepare(request):
    """Makes the sandbox's bundle with Flow's tutorial recorder and compiler, or takes the one that is there."""
    folder = Path(request["folder"]).resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    headed = bool(request.get("headed"))
    try:
        with open(folder / "bridge.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            browser_opens(folder, headed)
            detail = "reused"
            if not is_prepared(folder):
                record(folder, request["url"], headed)
                detail = "recorded"
            program = folder / "flow_bridge.py"
            written_whole(program, own_text())
    except NotPrepared as reason:
        return {**no("failed"), "sandbox_reason": str(reason)}
    return {
        "ok": True,
        "engine": "flow",
        "bundle": str(folder / "bundle"),
        "command": [sys.executable, str(program)],
        "detail": detail,
    }


def browser_opens(folder, headed):
    """Where Playwright's own Chromium is missing, the system's one is linked to the places where it is looked for."""
    links, found = folder / "browsers", chromium()
    look_for_browsers_in(BROWSERS)
    if launch_fault(headed) is None:
        shutil.rmtree(links, ignore_errors=True)
        return
    look_for_browsers_in(str(links))
    for _ in range(3):
        missing = launch_fault(headed)
        if missing is None:
            return
        place = Path(missing)
        if not found or links not in place.parents:
            break
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(found)
    raise NotPrepared("browser_failed" if found else "no_browser")


def look_for_browsers_in(place):
    os.environ.pop("PLAYWRIGHT_BROWSERS_PATH", None)
    if place is not None:
        os.environ["PLAYWRIGHT_BROWSERS_PATH"] = place


def launch_fault(headed):
    """Nothing when a browser opens; else the file that Playwright misses, or an empty text."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(headless=not headed).close()
            return None
        except Exception as fault:
            missing = re.search(r"Executable doesn't exist at (.+)", str(fault))
            return missing.group(1).strip() if missing else ""


def is_prepared(folder):
    from openadapt_flow import __version__, tutorial
    from openadapt_flow.ir import Workflow

    try:
        made = json.loads((folder / "prepared.json").read_text())
        workflow = Workflow.load(folder / "bundle")
        tutorial.certify_tutorial(workflow)
        bound = all(check.value.param == "note" for check in note_checks(tutorial.consequential_step(workflow)))
    except Exception:
        return False
    return bound and made == {"flow_version": __version__, "recipe": RECIPE}


def record(folder, url, headed):
    from openadapt_flow import __version__, tutorial
    from openadapt_flow.compiler import compile_recording
    from openadapt_flow.runtime.effects import ValueExpr

    bundle = folder / "bundle"
    for stale in (folder / "prepared.json", bundle):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(stale) if stale.is_dir() else stale.unlink()
    with tempfile.TemporaryDirectory(prefix="recording-", dir=folder) as scratch:
        recording, draft = Path(scratch, "recording"), Path(scratch, "bundle")
        with stage("record_failed"):
            tutorial.record_tutorial(origin(url), recording, headed=headed)
        with stage("compile_failed"):
            workflow = compile_recording(recording, draft, name=WORKFLOW, mine_effects=True)
            # What the recording's note was checked for is what this run's note is checked for.
            for check in note_checks(tutorial.consequential_step(workflow)):
                check.value = ValueExpr(param="note")
            workflow.save(draft)
            workflow = type(workflow).load(draft)
        with stage("not_certified"):
            tutorial.certify_tutorial(workflow)
        draft.rename(bundle)
    written_whole(folder / "prepared.json", json.dumps({"flow_version": __version__, "recipe": RECIPE}))


@contextlib.contextmanager
def stage(reason):
    try:
        yield
    except Exception:
        raise NotPrepared(reason) from None


def note_checks(step):
    """The mined checks that read the note back. There is at least one, or the bundle is no good."""
    checks = [effect for effect in step.effects if effect.kind.value == "field_equals" and effect.field == "note"]
    if not checks:
        raise NotPrepared("compile_failed")
    return checks


def run_once(arguments):
    """One standard run: Flow's gate, Flow's authorization, Flow's Replayer, and a read of the app's store that the screen has no part in."""
    from openadapt_flow.backends.playwright_backend import PlaywrightBackend
    from openadapt_flow.deployment import DeploymentConfig, build_effect_verifier
    from openadapt_flow.execution_profiles import execution_profile_contract
    from openadapt_flow.ir import Workflow
    from openadapt_flow.report import render_run_report
    from openadapt_flow.run_gate import build_runtime_authorization, evaluate_run_gate
    from openadapt_flow.runtime import Replayer

    links = Path(__file__).resolve().parent / "browsers"
    if links.is_dir():
        look_for_browsers_in(str(links))
    params = json.loads(arguments.params_file.read_text())
    workflow = Workflow.load(arguments.bundle)
    deployment = DeploymentConfig.model_validate(
        {
            "backend": {"kind": "web", "url": arguments.url, "headed": arguments.headed},
            "effects": {"kind": "rest", "base_url": origin(arguments.url)},
            "runtime": {"profile": arguments.profile, "durable": True, "require_settled": True},
            "policy": {"policy": POLICY},
        }
    )
    verifier = build_effect_verifier(deployment.effects, params=params)
    gate = evaluate_run_gate(
        workflow,
        bundle_dir=arguments.bundle,
        deployment=deployment,
        effect_verifier=verifier,
        profile_contract=execution_profile_contract(arguments.profile),
        effective_durable=True,
        effective_require_settled=True,
    )
    print(gate.render(), flush=True)
    if not gate.passed:
        return 2
    authorization = build_runtime_authorization(
        workflow, gate, approval_source="openadapt-agent-sandbox", params=params
    )
    # Flow leaves a browser open, and its profile on disk, when there is no app to open with it.
    socket.create_connection((urlsplit(arguments.url).hostname, urlsplit(arguments.url).port or 80), 10).close()
    backend, close = PlaywrightBackend.launch(arguments.url, headless=not arguments.headed)
    try:
        report = Replayer(
            backend,
            effect_verifier=verifier,
            governed_authorization=authorization,
            durable=True,
            require_settled=True,
        ).run(
            workflow,
            params=params,
            bundle_dir=arguments.bundle,
            run_dir=arguments.run_dir,
            execution_target_kind="web",
            execution_origin=origin(arguments.url),
            execution_entry_url=arguments.url,
        )
    finally:
        close()
    with contextlib.suppress(Exception):
        render_run_report(arguments.run_dir)
    print(f"Replay {report.execution_outcome}")
    return 0 if report.execution_outcome == "VERIFIED" else 1


def origin(url):
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def own_text():
    """This program, whether it was started from a file or given to the interpreter as a text."""
    given = sys.orig_argv
    return given[given.index("-c") + 1] if "__file__" not in globals() else Path(__file__).read_text()


def written_whole(path, text):
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    draft.write_text(text)
    draft.replace(path)


def parsed(line):
    try:
        request = json.loads(line)
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}


def no(kind):
    return {"ok": False, "kind": kind}


if __name__ == "__main__":
    sys.exit(main())
