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

-- Since when, and when last, something ended for a reason.
ALTER TABLE notice_reason ADD COLUMN first_at timestamptz, ADD COLUMN last_at timestamptz;
CREATE FUNCTION notice_reason_times() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.n > 0 THEN
        NEW.first_at := now();
        NEW.last_at := now();
    ELSIF TG_OP = 'UPDATE' AND NEW.n > OLD.n THEN
        NEW.first_at := coalesce(OLD.first_at, now());
        NEW.last_at := now();
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER times BEFORE INSERT OR UPDATE ON notice_reason FOR EACH ROW EXECUTE FUNCTION notice_reason_times();

---- create above / drop below ----

DROP TRIGGER times ON notice_reason;
DROP FUNCTION notice_reason_times;
ALTER TABLE notice_reason DROP COLUMN first_at, DROP COLUMN last_at;
DROP INDEX delivery_failed_again;
ALTER TABLE delivery DROP COLUMN replay_id;
DROP TABLE replay_plan;
DROP INDEX replay_one;
DROP INDEX replay_open;
CREATE INDEX replay_open ON replay (id) WHERE state <> 'done';
UPDATE replay SET state = 'done', finished_at = coalesce(finished_at, now()) WHERE state IN ('paused', 'cancelled');
ALTER TABLE replay DROP CONSTRAINT replay_state_check, DROP COLUMN selection,
    ADD CONSTRAINT replay_state_check CHECK (state IN ('pending', 'running', 'done'));
