-- The trace in which a notice was accepted, so that a worker's spans go on with it.

ALTER TABLE notice
    ADD COLUMN traceparent text  -- as W3C Trace Context writes it; null: no trace was begun
        CHECK (traceparent ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$');

---- create above / drop below ----

ALTER TABLE notice DROP COLUMN traceparent;
