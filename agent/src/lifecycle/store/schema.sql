-- The one store of actions. No input value, no label, no path, no free text: ids, closed words, counts, times, keyed digests, and the
-- contract's result. Closed words are checked here a second time.

CREATE TABLE meta (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    version INTEGER NOT NULL,
    store_id TEXT NOT NULL
) STRICT;

CREATE TABLE owners (
    owner_id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a local operator switched off or on again. scope: '*' or a workflow's public name.
CREATE TABLE controls (
    seq INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    at TEXT NOT NULL
) STRICT;

CREATE TABLE policy_versions (
    version INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    control_seq INTEGER NOT NULL,
    mode TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE actions (
    action_id TEXT PRIMARY KEY,
    execution_id TEXT NOT NULL UNIQUE,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL CHECK (tool IN ('run_workflow', 'run_older', 'continue_attention', 'skip_attention', 'reject_attention',
                                       'teach_attention', 'escalate_attention', 'start_record', 'click', 'halt', 'type',
                                       'pause_for_input', 'continue_input', 'stop_record', 'compile', 'admit')),
    origin TEXT NOT NULL CHECK (origin IN ('mcp_agent', 'mailbox', 'local_operator')),
    policy_version INTEGER NOT NULL REFERENCES policy_versions (version),
    args_digest TEXT NOT NULL,
    conditions_digest TEXT NOT NULL,
    request_hash TEXT,
    request_id TEXT,
    workflow TEXT,
    mode TEXT NOT NULL CHECK (mode IN ('sandbox', 'attended', 'production')),
    fingerprint TEXT,
    attempt INTEGER CHECK (attempt BETWEEN 1 AND 5),
    ledger_key TEXT,
    permission TEXT CHECK (permission IN ('allow', 'ask', 'deny')),
    execution TEXT CHECK (execution IN ('not_started', 'succeeded', 'failed', 'unknown')),
    delivery TEXT NOT NULL CHECK (delivery IN ('pending', 'recorded', 'projected')),
    phase TEXT NOT NULL CHECK (phase IN ('prepared', 'waiting', 'authorized', 'reserved', 'dispatched', 'claimed', 'recorded',
                                         'checkpointed', 'projected')),
    code TEXT,
    -- Who answers for it now, and since which takeover; every change counts the version on.
    owner_id TEXT,
    generation INTEGER NOT NULL,
    version INTEGER NOT NULL,
    -- Who took the call, as its record names it.
    record_owner TEXT,
    record_pid INTEGER,
    record_host TEXT,
    token TEXT,
    started_at TEXT NOT NULL,
    reserved_at TEXT,
    dispatched_at TEXT,
    claimed_at TEXT,
    revoked_at TEXT,
    CHECK ((attempt IS NULL) = (ledger_key IS NULL)),
    CHECK (claimed_at IS NULL OR revoked_at IS NULL),
    CHECK ((execution IS NULL) = (delivery = 'pending')),
    CHECK ((execution IS NULL) = (phase NOT IN ('recorded', 'checkpointed', 'projected'))),
    CHECK ((delivery = 'projected') = (phase = 'projected')),
    CHECK (permission IS NOT 'deny' OR execution IS 'not_started' AND dispatched_at IS NULL),
    CHECK (permission IS NOT 'ask' OR execution IS NULL),
    CHECK (permission IS NOT NULL OR execution IS NULL OR execution = 'not_started')
) STRICT;

CREATE INDEX open_actions ON actions (owner_id) WHERE phase <> 'projected';
CREATE UNIQUE INDEX attempts_of_a_request ON actions (request_hash, ledger_key) WHERE reserved_at IS NOT NULL;
CREATE INDEX actions_by_age ON actions (started_at);
CREATE INDEX unknown_actions ON actions (started_at) WHERE execution = 'unknown';
CREATE INDEX unknown_work ON actions (args_digest) WHERE execution = 'unknown';

CREATE TABLE requests (
    request_hash TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    workflow TEXT NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts BETWEEN 1 AND 5)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    action_id TEXT NOT NULL REFERENCES actions (action_id),
    revision INTEGER NOT NULL CHECK (revision >= 1),
    execution_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    args_digest TEXT NOT NULL,
    permission TEXT CHECK (permission IN ('allow', 'deny')),
    execution TEXT NOT NULL CHECK (execution IN ('not_started', 'succeeded', 'failed', 'unknown')),
    outcome TEXT NOT NULL CHECK (outcome IN ('done', 'needs_review', 'not_sure_if_saved', 'did_not_run')),
    reason TEXT NOT NULL,
    code TEXT,
    -- The host's own start evidence.
    executor_started INTEGER NOT NULL CHECK (executor_started IN (0, 1)),
    executor_end TEXT CHECK (executor_end IN ('completed', 'failed', 'cancelled', 'incomplete')),
    started_at TEXT,
    result_json TEXT NOT NULL,
    evidence_json TEXT NOT NULL,
    recovered INTEGER NOT NULL CHECK (recovered IN (0, 1)),
    recorded_at TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (action_id, revision),
    CHECK (executor_started = 0 OR execution <> 'not_started'),
    CHECK ((execution = 'succeeded') = (outcome = 'done')),
    CHECK ((execution = 'unknown') = (outcome = 'not_sure_if_saved'))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER receipts_are_never_changed BEFORE UPDATE ON receipts
BEGIN
    SELECT RAISE(ABORT, 'receipt_conflict');
END;

CREATE TRIGGER receipts_are_never_removed BEFORE DELETE ON receipts
BEGIN
    SELECT RAISE(ABORT, 'receipt_conflict');
END;

-- A second revision comes from a review, never to what may be retried; or says that the one before can't be believed.
CREATE TRIGGER receipts_go_forward BEFORE INSERT ON receipts WHEN NEW.revision > 1
BEGIN
    SELECT RAISE(ABORT, 'receipt_conflict')
    WHERE NOT EXISTS (
        SELECT 1 FROM receipts AS before
        WHERE before.action_id = NEW.action_id AND before.revision = NEW.revision - 1
            AND (
                NEW.reason = 'result_unreadable'
                OR before.outcome = 'needs_review'
                AND (NEW.outcome IN ('done', 'needs_review', 'not_sure_if_saved') OR NEW.reason = 'stopped_by_person')
            )
    );
END;

CREATE TABLE events (
    action_id TEXT NOT NULL REFERENCES actions (action_id),
    seq INTEGER NOT NULL CHECK (seq >= 1),
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    permission TEXT,
    execution TEXT,
    reason TEXT,
    code TEXT,
    status TEXT,
    executor TEXT,
    request TEXT,
    policy_version INTEGER,
    generation INTEGER,
    revision INTEGER,
    PRIMARY KEY (action_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_contiguous BEFORE INSERT ON events
WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM events WHERE action_id = NEW.action_id)
BEGIN
    SELECT RAISE(ABORT, 'event_gap');
END;

CREATE TABLE executor_requests (
    request_id TEXT PRIMARY KEY,
    action_id TEXT NOT NULL REFERENCES actions (action_id),
    executor TEXT NOT NULL CHECK (executor IN ('flow', 'bridge', 'reviewer', 'elicitation')),
    started_at TEXT NOT NULL,
    status TEXT CHECK (status IN ('completed', 'failed', 'cancelled', 'incomplete')),
    completed_at TEXT,
    CHECK ((status IS NULL) = (completed_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX executor_requests_of_an_action ON executor_requests (action_id);

CREATE TABLE waits (
    wait_id TEXT PRIMARY KEY,
    action_id TEXT NOT NULL REFERENCES actions (action_id),
    kind TEXT NOT NULL CHECK (kind IN ('elicitation')),
    -- What made a person be asked.
    trigger_kind TEXT NOT NULL CHECK (trigger_kind IN ('always', 'consecutive', 'total')),
    identity TEXT NOT NULL,
    account TEXT NOT NULL,
    epoch TEXT NOT NULL,
    policy_version INTEGER NOT NULL,
    args_digest TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'approved', 'declined', 'expired', 'consumed')),
    opened_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    resolved_at TEXT,
    consumed_by TEXT UNIQUE REFERENCES actions (action_id),
    CHECK ((status = 'consumed') = (consumed_by IS NOT NULL)),
    CHECK ((status = 'open') = (resolved_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX waits_by_identity ON waits (identity, opened_at);
CREATE INDEX waits_of_an_action ON waits (action_id);

CREATE TABLE review_verdicts (
    operation_id TEXT PRIMARY KEY,
    epoch TEXT NOT NULL,
    action_id TEXT NOT NULL REFERENCES actions (action_id),
    verdict TEXT NOT NULL CHECK (verdict IN ('allow', 'refuse')),
    -- What the counters asked for when the verdict was written.
    fallback TEXT CHECK (fallback IN ('consecutive', 'total')),
    at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE review_counters (
    epoch TEXT PRIMARY KEY,
    policy_version INTEGER NOT NULL,
    consecutive INTEGER NOT NULL CHECK (consecutive >= 0),
    total INTEGER NOT NULL CHECK (total >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE failures (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 1),
    seq INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER failures_hold_sixteen BEFORE INSERT ON failures
WHEN (SELECT count(*) FROM failures WHERE scope = NEW.scope) >= 16
    AND NOT EXISTS (SELECT 1 FROM failures WHERE scope = NEW.scope AND key = NEW.key)
BEGIN
    SELECT RAISE(ABORT, 'failure_map_full');
END;
