"""Makes real Flow ready to be judged: finds it a browser, and has its own recorder and compiler make a bundle on the clinic at --url."""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--browsers", type=Path, required=True)
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--url", required=True)
    wanted = parser.parse_args()
    os.environ["OPENADAPT_FLOW_NO_AUTO_INSTALL"] = "1"
    os.environ["PLAYWRIGHT_BROWSERS_PATH"] = str(wanted.browsers)
    took = {}
    opened = timed(took, "browser", lambda: browser_opens(wanted.browsers))
    if not opened:
        return NO_BROWSER
    make_bundle(wanted.url, wanted.bundle, took)
    import openadapt_flow

    print(json.dumps({"flow_version": openadapt_flow.__version__, "browser": opened, "seconds": took}))
    return 0


def browser_opens(browsers):
    """The system's Chromium, linked to wherever this Playwright looks for its own. Its version, or nothing."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("OPENADAPT_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    for _ in range(3):
        with sync_playwright() as playwright:
            try:
                browser = playwright.chromium.launch()
                version = browser.version
                browser.close()
            except Exception as fault:
                missing = re.search(r"Executable doesn't exist at (.+)", str(fault))
                place = missing and Path(missing.group(1).strip())
                if not found or not place or browsers not in place.parents:
                    return None
                link(place, found)
                continue
            # A visible browser is another file.
            if found and browsers in Path(playwright.chromium.executable_path).parents:
                link(Path(playwright.chromium.executable_path), found)
            return version
    return None


def link(place, found):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(found)


def make_bundle(url, bundle, took):
    from openadapt_flow import tutorial
    from openadapt_flow.compiler import compile_recording
    from openadapt_flow.runtime.effects import ValueExpr

    shutil.rmtree(bundle, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=bundle.parent) as scratch:
        recording, draft = Path(scratch, "recording"), Path(scratch, "bundle")
        timed(took, "record", lambda: tutorial.record_tutorial(url, recording))
        workflow = timed(
            took, "compile", lambda: compile_recording(recording, draft, name="add_triage_note", mine_effects=True)
        )
        for effect in tutorial.consequential_step(workflow).effects:
            if effect.field == "note":
                effect.value = ValueExpr(param="note")
        workflow.save(draft)
        tutorial.certify_tutorial(type(workflow).load(draft))
        draft.rename(bundle)


def timed(took, name, work):
    began = time.monotonic()
    try:
        return work()
    finally:
        took[name] = round(time.monotonic() - began, 2)


if __name__ == "__main__":
    sys.exit(main())
