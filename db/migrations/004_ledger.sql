-- The ledger: one row for each (notice, device), and one for each vendor call.

-- A range is a slice of the audience by device id: what a first-wave task carries.
CREATE TABLE notice_range (
    notice_id  bigint NOT NULL REFERENCES notice (id),
    seq        int NOT NULL,
    first_id   bigint NOT NULL,
    last_id    bigint NOT NULL,
    ring       bigint NOT NULL DEFAULT 1,        -- number of its current asynq task
    rung_at    timestamptz,                      -- null: its task has to be enqueued
    touched_at timestamptz,                      -- a worker was at it
    filled_at  timestamptz,                      -- its rows exist
    done_at    timestamptz,                      -- no first attempt is left in it
    PRIMARY KEY (notice_id, seq),
    CHECK (first_id <= last_id)
);
CREATE INDEX notice_range_open ON notice_range (notice_id, seq) WHERE done_at IS NULL;

-- No index of this table names a column that a first attempt that succeeds
-- changes, so that its two updates stay within the page (HOT): hence wake_at and
-- failed_at, which such a row never sets, instead of the status.
CREATE TABLE delivery (
    notice_id   bigint NOT NULL,
    device_id   bigint NOT NULL,
    lease_until timestamptz,                     -- while sending: how long the claim holds
    wake_at     timestamptz,                     -- pending: due time of a retry; sending: end of a retry's lease;
                                                 -- null in the first wave, which its range looks after
    failed_at   timestamptz,                     -- in the archive since
    sent_at     timestamptz,
    updated_at  timestamptz NOT NULL DEFAULT now(),
    fence       int NOT NULL DEFAULT 0,          -- claim number, only ever goes up
    attempts    smallint NOT NULL DEFAULT 0,     -- calls begun
    charged     smallint NOT NULL DEFAULT 0,     -- answered failures of this generation
    generation  smallint NOT NULL DEFAULT 1,     -- goes up at each replay
    key_no      smallint NOT NULL DEFAULT 1,     -- the n of the vendor's key
    lost        smallint NOT NULL DEFAULT 0,     -- holders that died
    doubts      smallint NOT NULL DEFAULT 0,     -- calls whose end nobody knows
    twice       boolean NOT NULL DEFAULT false,  -- possibly told twice
    definite    boolean NOT NULL DEFAULT false,  -- the vendor's last word was a definite answer
    status      text NOT NULL CHECK (status IN ('pending', 'sending', 'sent', 'failed', 'skipped', 'unknown')),
    reason      text,
    code        text CHECK (length(code) <= 64),
    message     text CHECK (length(message) <= 500),
    PRIMARY KEY (notice_id, device_id),
    CONSTRAINT delivery_reason CHECK (CASE status
        WHEN 'sent' THEN reason IS NULL
        WHEN 'failed' THEN reason IS NOT NULL AND reason IN ('token_expired', 'rejected', 'vendor_error', 'timeout', 'unreachable',
                                      'expired', 'outcome_unknown')
        WHEN 'skipped' THEN reason IS NOT NULL AND reason IN ('no_consent', 'device_disabled', 'device_erased', 'cancelled')
        WHEN 'unknown' THEN reason IS NOT NULL AND reason IN ('timeout', 'unreachable', 'holder_lost')
        ELSE reason IS NULL OR reason IN ('vendor_error', 'timeout', 'unreachable', 'rate_limited',
                                          'credentials_refused', 'holder_lost')
        END),
    CONSTRAINT delivery_lease CHECK ((status = 'sending') = (lease_until IS NOT NULL)),
    CONSTRAINT delivery_failed CHECK ((status = 'failed') = (failed_at IS NOT NULL)),
    CONSTRAINT delivery_sent CHECK ((status = 'sent') = (sent_at IS NOT NULL))
) WITH (fillfactor = 45);
CREATE INDEX delivery_device ON delivery (device_id, notice_id);
CREATE INDEX delivery_wake ON delivery (notice_id, wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX delivery_archive ON delivery (notice_id, device_id) WHERE failed_at IS NOT NULL;

CREATE TABLE attempt (
    notice_id  bigint NOT NULL,
    device_id  bigint NOT NULL,
    fence      int NOT NULL,                     -- the claim it was made under
    generation smallint NOT NULL,
    started_at timestamptz NOT NULL,
    took_ms    int NOT NULL,
    http       smallint,                         -- status; null where nobody answered
    outcome    text NOT NULL CHECK (outcome IN ('sent', 'transient', 'wait', 'permanent', 'dead',
                                                'settings', 'suspect', 'lost')),
    charged    boolean NOT NULL,
    doubt      boolean NOT NULL,
    reason     text,
    code       text,
    message    text,
    message_id text,
    PRIMARY KEY (notice_id, device_id, fence)
);

-- Replays put archived deliveries back, in batches; the set is frozen by the
-- time at which it was asked for.
CREATE TABLE replay (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    filter      jsonb,                           -- null: the listed items
    state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done')),
    matched     bigint NOT NULL,
    replayed    bigint NOT NULL DEFAULT 0,
    skipped     jsonb NOT NULL DEFAULT '{}',     -- reason: number
    at_notice   bigint NOT NULL DEFAULT 0,       -- how far it has come
    at_device   bigint NOT NULL DEFAULT 0,
    asked_by    text NOT NULL,
    asked_by_name text NOT NULL,
    asked_at    timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
);
CREATE INDEX replay_open ON replay (id) WHERE state <> 'done';
CREATE TABLE replay_item (
    replay_id bigint NOT NULL REFERENCES replay (id),
    notice_id bigint NOT NULL,
    device_id bigint NOT NULL,
    PRIMARY KEY (replay_id, notice_id, device_id)
);

---- create above / drop below ----

DROP TABLE replay_item, replay, attempt, delivery, notice_range;
