-- What workers share: who feeds, who lives, how fast, and whether a vendor waits.

CREATE TABLE feeder (
    id          boolean PRIMARY KEY DEFAULT true CHECK (id),
    term        bigint NOT NULL DEFAULT 0,       -- every write of a feeder checks it
    holder      text NOT NULL DEFAULT '',
    lease_until timestamptz NOT NULL DEFAULT 'epoch',
    redis_ok_at    timestamptz,                  -- the queue answered last
    redis_down_at  timestamptz,                  -- and has not since; null: it is up
    redis_error    text
);
INSERT INTO feeder DEFAULT VALUES;

CREATE TABLE worker (
    id         text PRIMARY KEY,                 -- host, process, random
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    in_flight  int NOT NULL DEFAULT 0,
    slots      int NOT NULL,
    version    text NOT NULL DEFAULT ''
);

-- One row for each vendor: its state and the rate limit's place in time.
CREATE TABLE vendor (
    kind         text PRIMARY KEY CHECK (kind IN ('http')),
    state        text NOT NULL DEFAULT 'ok' CHECK (state IN ('ok', 'paused', 'probing')),
    reason       text,                           -- credentials_refused, backlog or refusals
    detail       text,                           -- the vendor's words
    since        timestamptz NOT NULL DEFAULT now(),
    next_probe_at timestamptz,
    probed_device bigint NOT NULL DEFAULT 0,     -- probes go round the devices
    keep_devices boolean NOT NULL DEFAULT false, -- 410 does not disable until an admin agrees
    version      bigint NOT NULL DEFAULT 1,
    rate_free_at timestamptz NOT NULL DEFAULT 'epoch'
);
INSERT INTO vendor (kind) VALUES ('http');

CREATE TABLE test_send (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title        text NOT NULL,
    body         text NOT NULL,
    link         text,
    asked_by     text NOT NULL,
    asked_by_name text NOT NULL,
    asked_at     timestamptz NOT NULL DEFAULT now(),
    ring         bigint NOT NULL DEFAULT 1,
    rung_at      timestamptz,
    finished_at  timestamptz
);
CREATE INDEX test_send_open ON test_send (id) WHERE finished_at IS NULL;
CREATE TABLE test_send_device (
    test_send_id bigint NOT NULL REFERENCES test_send (id),
    device_id    bigint NOT NULL REFERENCES device (id),
    status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'sending', 'sent', 'failed', 'skipped', 'unknown')),
    fence        int NOT NULL DEFAULT 0,
    lease_until  timestamptz,
    reason       text,
    code         text,
    message      text,
    sent_at      timestamptz,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (test_send_id, device_id)
);

---- create above / drop below ----

DROP TABLE test_send_device, test_send, vendor, worker, feeder;
