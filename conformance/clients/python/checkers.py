"""Checkers that are a command line. The first word says which."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from common import COMMAND, tell

HERE = Path(sys.executable).parent

# What mcp-quality advises against, and why it stays: docs/decisions/0020.
ANSWERED = {"C11-error-unactionable", "C12-tools-list-unstable", "C14-annotation-only-safety", "C14-oversized-output"}


def script(folder):
    """The server as one program, for checkers that take nothing else."""
    path = Path(folder) / "server.sh"
    path.write_text(f"#!/bin/sh\nexec {shlex.join(COMMAND)}\n")
    path.chmod(0o755)
    return str(path)


def ran(*words, cwd=None):
    environment = {**os.environ, "COLUMNS": "160"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=140, env=environment, cwd=cwd)
    print(f"$ {' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}", file=sys.stderr)
    return done


def stdio_test(folder):
    done = ran(HERE / "mcp-stdio-test", "--pyexe", "/bin/sh", script(folder), "--list-tools", "--json")
    said = json.loads(done.stdout)
    tell(content=done.returncode == 0 and said["init"] == "OK" and "run_workflow" in said["tools"], said=said["init"])


def contract(folder):
    done = ran(HERE / "mcp-contract", "show", "--json", "--", *COMMAND)
    tell(content=done.returncode == 0 and "run_workflow" in done.stdout, said=f"exit {done.returncode}")


def quality(folder):
    done = ran(HERE / "mcp-quality", "run", "--json", "--transport", "stdio", script(folder), cwd=folder)
    report = json.loads(done.stdout)
    said = {finding["code"] for finding in findings(report)}
    grade = report["overall"]["grade"]
    tell(content=grade in ("A", "B") and said <= ANSWERED, said=f"grade {grade}, beyond what is answered: {sorted(said - ANSWERED)}")


def findings(value):
    if isinstance(value, dict):
        if "severity" in value:
            yield value
        for inner in value.values():
            yield from findings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from findings(inner)


def fuzzer(folder):
    done = ran(
        HERE / "mcp-fuzzer", "--mode", "protocol", "--protocol", "stdio", "--endpoint", script(folder), "--runs-per-type", "3", cwd=folder
    )
    text = done.stdout + done.stderr
    crashed = any(word in text.lower() for word in ("server crashed", "broken pipe", "traceback"))
    tell(content=done.returncode == 0 and "Protocol Results" in text and not crashed, said=f"exit {done.returncode}")


with tempfile.TemporaryDirectory() as folder:
    {"stdio-test": stdio_test, "contract": contract, "quality": quality, "fuzzer": fuzzer}[sys.argv[1]](folder)
