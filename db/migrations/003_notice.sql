-- A notice is what is sent. Accepting one is an INSERT here and nothing else.

CREATE TABLE notice (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key_scope        text NOT NULL,              -- 'content', or 'token:7' for a client's own key
    key              text NOT NULL,              -- hex SHA-256 of the content, or the client's key
    fingerprint      text NOT NULL,              -- hex SHA-256 of the content in both cases
    title            text NOT NULL,
    body             text NOT NULL,
    link             text,
    category         text NOT NULL CHECK (category IN ('info', 'ad')),
    platforms        text[] NOT NULL DEFAULT '{}',   -- sorted; empty: all
    tags             text[] NOT NULL DEFAULT '{}',   -- sorted; empty: all; else any of them
    repeat_of        bigint REFERENCES notice (id),
    root_id          bigint,                     -- the first of a chain of repeats; null: this is it
    expires_at       timestamptz NOT NULL,
    expires_given    boolean NOT NULL,           -- false: the default was taken
    accepted_by      text NOT NULL,              -- user:3 or token:7
    accepted_by_name text NOT NULL,
    accepted_at      timestamptz NOT NULL DEFAULT now(),
    audience_max     bigint NOT NULL,            -- the highest device id when it was accepted
    estimate         bigint,                     -- how many devices matched when it started

    state            text NOT NULL DEFAULT 'accepted'
                     CHECK (state IN ('accepted', 'sending', 'paused', 'finished', 'cancelled')),
    version          bigint NOT NULL DEFAULT 1,  -- goes up with every act of a person
    started_at       timestamptz,
    first_call_at    timestamptz,
    state_by_name    text,                       -- who paused, resumed or cancelled last
    state_at         timestamptz NOT NULL DEFAULT now(),
    finished_at      timestamptz,

    cut_to           bigint NOT NULL DEFAULT 0,  -- ranges exist for ids up to here
    next_seq         int NOT NULL DEFAULT 1,
    cut_at           timestamptz,                -- all ranges exist
    close_to         bigint NOT NULL DEFAULT 0,  -- how far the rest has been closed (expired, cancelled)
    retry_ring       bigint NOT NULL DEFAULT 0,  -- number of the last retry task rung
    settled_at       timestamptz,                -- finished or cancelled, and nothing left to do
    UNIQUE (key_scope, key)
) WITH (fillfactor = 70);
CREATE INDEX notice_open ON notice (id) WHERE settled_at IS NULL;
CREATE INDEX notice_root ON notice (root_id, id) WHERE root_id IS NOT NULL;

-- Counters: several rows for a notice, so that writers do not queue behind one.
-- A single row may go below zero, the sum never does.
CREATE TABLE notice_counter (
    notice_id bigint NOT NULL REFERENCES notice (id),
    shard     smallint NOT NULL,
    total     bigint NOT NULL DEFAULT 0,
    pending   bigint NOT NULL DEFAULT 0,
    retrying  bigint NOT NULL DEFAULT 0,
    sending   bigint NOT NULL DEFAULT 0,
    sent      bigint NOT NULL DEFAULT 0,
    failed    bigint NOT NULL DEFAULT 0,
    skipped   bigint NOT NULL DEFAULT 0,
    unknown   bigint NOT NULL DEFAULT 0,
    twice     bigint NOT NULL DEFAULT 0,         -- possibly told twice
    attempts  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (notice_id, shard),
    CHECK (total = pending + retrying + sending + sent + failed + skipped + unknown)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

-- How many deliveries rest in failed, skipped or unknown for each reason.
CREATE TABLE notice_reason (
    notice_id bigint NOT NULL REFERENCES notice (id),
    shard     smallint NOT NULL,
    status    text NOT NULL CHECK (status IN ('failed', 'skipped', 'unknown')),
    reason    text NOT NULL,
    n         bigint NOT NULL,
    PRIMARY KEY (notice_id, status, reason, shard)
) WITH (fillfactor = 50);

---- create above / drop below ----

DROP TABLE notice_reason, notice_counter, notice;
