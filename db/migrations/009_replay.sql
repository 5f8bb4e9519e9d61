-- Replays that are planned first, and can be paused and cancelled.

ALTER TABLE replay
    DROP CONSTRAINT replay_state_check,
    ADD CONSTRAINT replay_state_check CHECK (state IN ('pending', 'running', 'paused', 'cancelled', 'done')),
    ADD COLUMN selection text;                   -- a digest of what was chosen; null: from before there was one
DROP INDEX replay_open;
CREATE INDEX replay_open ON replay (id) WHERE state IN ('pending', 'running', 'paused');
CREATE UNIQUE INDEX replay_one ON replay (selection) WHERE state IN ('pending', 'running', 'paused');

-- A plan is what somebody looks at before a replay begins. It freezes the set.
CREATE TABLE replay_plan (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    filter        jsonb,                         -- null: those that are listed
    notices       bigint[] NOT NULL DEFAULT '{}',
    devices       bigint[] NOT NULL DEFAULT '{}',
    matched       bigint NOT NULL,
    refused       jsonb NOT NULL DEFAULT '{}',   -- reason: number, as it was then
    asked_by      text NOT NULL,
    asked_by_name text NOT NULL,
    asked_at      timestamptz NOT NULL DEFAULT now(),
    replay_id     bigint REFERENCES replay (id)  -- what became of it
);
CREATE INDEX replay_plan_old ON replay_plan (asked_at) WHERE replay_id IS NULL;

ALTER TABLE delivery ADD COLUMN replay_id bigint; -- the last replay that put it back
-- Not on the status, and not without failed_at: see delivery.
CREATE INDEX delivery_failed_again ON delivery (replay_id) WHERE failed_at IS NOT NULL AND replay_id IS NOT NULL;

---- create above / drop below ----

DROP INDEX delivery_failed_again;
ALTER TABLE delivery DROP COLUMN replay_id;
DROP TABLE replay_plan;
DROP INDEX replay_one;
DROP INDEX replay_open;
CREATE INDEX replay_open ON replay (id) WHERE state <> 'done';
UPDATE replay SET state = 'done', finished_at = coalesce(finished_at, now()) WHERE state IN ('paused', 'cancelled');
ALTER TABLE replay DROP CONSTRAINT replay_state_check, DROP COLUMN selection,
    ADD CONSTRAINT replay_state_check CHECK (state IN ('pending', 'running', 'done'));
