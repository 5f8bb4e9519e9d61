-- One notice goes to several vendors at once. What waits, who is paused and how fast
-- it goes is kept by scope, so that one scope's trouble leaves the others alone.

ALTER TABLE vendor RENAME COLUMN kind TO scope;
ALTER TABLE vendor
    DROP CONSTRAINT vendor_kind_check,
    ADD COLUMN kind text NOT NULL GENERATED ALWAYS AS (split_part(scope, ':', 1)) STORED
        CHECK (kind IN ('http', 'fcm', 'apns', 'webpush')),
    ADD COLUMN fingerprint text,                 -- paused for our credentials: those that were refused
    DROP COLUMN rate_free_at;

-- The place in time of each limit of calls per second.
CREATE TABLE vendor_rate (
    name    text PRIMARY KEY,
    free_at timestamptz NOT NULL DEFAULT 'epoch'
);

ALTER TABLE delivery ADD COLUMN scope text NOT NULL DEFAULT 'http';
DROP INDEX delivery_wake;
CREATE INDEX delivery_wake ON delivery (notice_id, scope, wake_at) WHERE wake_at IS NOT NULL;

ALTER TABLE notice_range
    ADD COLUMN scope   text NOT NULL DEFAULT 'http',
    ADD COLUMN devices int NOT NULL DEFAULT 0;   -- that matched when it was cut
DROP INDEX notice_range_open;
CREATE INDEX notice_range_open ON notice_range (notice_id, scope, seq) WHERE done_at IS NULL;

ALTER TABLE notice_counter
    ADD COLUMN scope text NOT NULL DEFAULT 'http',
    DROP CONSTRAINT notice_counter_pkey,
    ADD PRIMARY KEY (notice_id, scope, shard);

ALTER TABLE attempt
    DROP CONSTRAINT attempt_outcome_check,
    ADD CONSTRAINT attempt_outcome_check CHECK (outcome IN ('sent', 'transient', 'wait', 'permanent', 'dead', 'unfit',
        'settings', 'suspect', 'lost'));
ALTER TABLE delivery
    DROP CONSTRAINT delivery_reason,
    ADD CONSTRAINT delivery_reason CHECK (CASE status
        WHEN 'sent' THEN reason IS NULL
        WHEN 'failed' THEN reason IS NOT NULL AND reason IN ('token_expired', 'rejected', 'content_refused', 'vendor_error',
                                      'timeout', 'unreachable', 'expired', 'outcome_unknown')
        WHEN 'skipped' THEN reason IS NOT NULL AND reason IN ('no_consent', 'device_disabled', 'device_erased', 'cancelled')
        WHEN 'unknown' THEN reason IS NOT NULL AND reason IN ('vendor_error', 'timeout', 'unreachable', 'holder_lost')
        ELSE reason IS NULL OR reason IN ('vendor_error', 'timeout', 'unreachable', 'rate_limited',
                                          'credentials_refused', 'holder_lost')
        END) NOT VALID;
ALTER TABLE delivery VALIDATE CONSTRAINT delivery_reason;

-- Devices that went to another scope, for the notices that are under way: what waits
-- for them has to follow. A row stays until every transaction that saw the device where
-- it was has long ended.
CREATE TABLE device_move (
    device_id bigint PRIMARY KEY,
    moved_at  timestamptz NOT NULL DEFAULT now(),
    look_at   timestamptz NOT NULL DEFAULT now() -- follow it then
);
CREATE INDEX device_move_look ON device_move (look_at);

CREATE FUNCTION device_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.scope <> OLD.scope AND NEW.token IS NOT NULL THEN
        INSERT INTO vendor (scope) VALUES (NEW.scope) ON CONFLICT DO NOTHING;
        INSERT INTO device_move (device_id) VALUES (NEW.id)
            ON CONFLICT (device_id) DO UPDATE SET moved_at = now(), look_at = now();
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER device_moved AFTER UPDATE OF kind, platform, environment, token ON device
    FOR EACH ROW WHEN (OLD.scope IS DISTINCT FROM NEW.scope) EXECUTE FUNCTION device_moved();

---- create above / drop below ----

DROP TRIGGER device_moved ON device;
DROP FUNCTION device_moved;
DROP TABLE device_move;
DELETE FROM attempt WHERE outcome = 'unfit';
UPDATE delivery SET reason = 'rejected' WHERE reason = 'content_refused';
UPDATE delivery SET reason = 'timeout' WHERE status = 'unknown' AND reason = 'vendor_error';
ALTER TABLE delivery DROP CONSTRAINT delivery_reason,
    ADD CONSTRAINT delivery_reason CHECK (CASE status
        WHEN 'sent' THEN reason IS NULL
        WHEN 'failed' THEN reason IS NOT NULL AND reason IN ('token_expired', 'rejected', 'vendor_error', 'timeout', 'unreachable',
                                      'expired', 'outcome_unknown')
        WHEN 'skipped' THEN reason IS NOT NULL AND reason IN ('no_consent', 'device_disabled', 'device_erased', 'cancelled')
        WHEN 'unknown' THEN reason IS NOT NULL AND reason IN ('timeout', 'unreachable', 'holder_lost')
        ELSE reason IS NULL OR reason IN ('vendor_error', 'timeout', 'unreachable', 'rate_limited',
                                          'credentials_refused', 'holder_lost')
        END);
ALTER TABLE attempt DROP CONSTRAINT attempt_outcome_check,
    ADD CONSTRAINT attempt_outcome_check CHECK (outcome IN ('sent', 'transient', 'wait', 'permanent', 'dead',
        'settings', 'suspect', 'lost'));
DELETE FROM notice_counter WHERE scope <> 'http';
ALTER TABLE notice_counter DROP CONSTRAINT notice_counter_pkey, DROP COLUMN scope, ADD PRIMARY KEY (notice_id, shard);
DROP INDEX notice_range_open;
ALTER TABLE notice_range DROP COLUMN devices, DROP COLUMN scope;
CREATE INDEX notice_range_open ON notice_range (notice_id, seq) WHERE done_at IS NULL;
DROP INDEX delivery_wake;
ALTER TABLE delivery DROP COLUMN scope;
CREATE INDEX delivery_wake ON delivery (notice_id, wake_at) WHERE wake_at IS NOT NULL;
DELETE FROM vendor WHERE scope <> 'http';
DROP TABLE vendor_rate;
ALTER TABLE vendor DROP COLUMN fingerprint, DROP COLUMN kind, ADD COLUMN rate_free_at timestamptz NOT NULL DEFAULT 'epoch';
ALTER TABLE vendor RENAME COLUMN scope TO kind;
ALTER TABLE vendor ADD CONSTRAINT vendor_kind_check CHECK (kind IN ('http'));
