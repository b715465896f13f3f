"""What every Python client is asked to do, and what it says about it."""

import json
import os
import sys

COMMAND = json.loads(os.environ["SERVER_COMMAND"])
NAME = os.environ["CLIENT_NAME"]


def run(word, note, seconds=60):
    return {
        "workflow": "triage",
        "request_id": f"{NAME}-{word}",
        "inputs": {"note": note},
        "wait_seconds": seconds,
    }


def decision(item, digest):
    return {
        "attention_id": item,
        "capability_digest": digest,
        "idempotency_key": f"{NAME}-decision-0001",
        "confirm_run_must_not_proceed": True,
    }


def text_of(result):
    """The result object that a tool without an output schema says as text."""
    return json.loads(result.content[0].text)


def tell(**seen):
    print(json.dumps(seen))
    sys.stdout.flush()
