-- The guards of a vendor: what an admin has agreed to, and what was heard last.

ALTER TABLE vendor
    ADD COLUMN kept_since    timestamptz,                -- keep_devices since then
    ADD COLUMN agreed_notice bigint NOT NULL DEFAULT 0,  -- refusals of notices up to this one are right, an admin says
    ADD COLUMN ok_at         timestamptz,                -- took a message last
    ADD COLUMN wait_until    timestamptz,                -- asked us to wait until then
    ADD CONSTRAINT vendor_probe CHECK ((state = 'probing') = (next_probe_at IS NOT NULL)),
    ADD CONSTRAINT vendor_kept CHECK (keep_devices = (kept_since IS NOT NULL));

---- create above / drop below ----

ALTER TABLE vendor DROP CONSTRAINT vendor_kept, DROP CONSTRAINT vendor_probe,
    DROP COLUMN kept_since, DROP COLUMN agreed_notice, DROP COLUMN ok_at, DROP COLUMN wait_until;
