-- The address of a device at each vendor. Which share of a vendor it belongs to, its
-- scope, is what trouble, pauses and rates are kept by: one scope's leaves the others
-- alone.
ALTER TABLE device
    DROP CONSTRAINT device_kind_check,
    ADD CONSTRAINT device_kind CHECK (kind IN ('http', 'fcm', 'apns', 'webpush')),
    ADD COLUMN environment text CHECK (environment IN ('production', 'sandbox')),
    ADD COLUMN p256dh text,                      -- webpush: the browser's public key, base64url
    ADD COLUMN auth   text,                      -- webpush: the browser's secret, base64url
    ADD CONSTRAINT device_environment CHECK ((kind = 'apns') = (environment IS NOT NULL)),
    ADD CONSTRAINT device_keys CHECK ((kind = 'webpush' AND token IS NOT NULL) = (p256dh IS NOT NULL)
        AND (p256dh IS NULL) = (auth IS NULL)),
    ADD COLUMN scope text NOT NULL GENERATED ALWAYS AS (CASE kind
        WHEN 'fcm' THEN 'fcm:' || platform
        WHEN 'apns' THEN 'apns:' || environment
        WHEN 'webpush' THEN 'webpush:' || coalesce(lower(substring(token FROM '^https://([^/?#]+)')), '')
        ELSE kind END) STORED;

-- The audience by scope is counted from the index alone.
DROP INDEX device_audience;
CREATE INDEX device_audience ON device (id) INCLUDE (platform, tags, scope)
    WHERE consent AND disabled_at IS NULL AND erased_at IS NULL;

ALTER TABLE device_event
    DROP CONSTRAINT device_event_what_check,
    ADD CONSTRAINT device_event_what CHECK (what IN ('consent_given', 'consent_withdrawn', 'disabled', 'enabled', 'token',
        'vendor',                                -- its detail is the one before, never an address
        'keys', 'user', 'platform', 'tags', 'erased'));

ALTER TABLE import_row
    ADD COLUMN vendor      text,                 -- null: leave what is stored, and so with the next three
    ADD COLUMN environment text,
    ADD COLUMN p256dh      text,
    ADD COLUMN auth        text;
ALTER TABLE import_reject
    ADD COLUMN late boolean NOT NULL DEFAULT false;  -- it was good by itself, and is not read again after a crash

---- create above / drop below ----

ALTER TABLE import_reject DROP COLUMN late;
ALTER TABLE import_row DROP COLUMN vendor, DROP COLUMN environment, DROP COLUMN p256dh, DROP COLUMN auth;
DELETE FROM device_event WHERE what IN ('vendor', 'keys');
ALTER TABLE device_event DROP CONSTRAINT device_event_what,
    ADD CONSTRAINT device_event_what_check CHECK (what IN ('consent_given', 'consent_withdrawn', 'disabled', 'enabled', 'token',
        'user', 'platform', 'tags', 'erased'));
DROP INDEX device_audience;
CREATE INDEX device_audience ON device (id) INCLUDE (platform, tags)
    WHERE consent AND disabled_at IS NULL AND erased_at IS NULL;
ALTER TABLE device DROP COLUMN scope, DROP CONSTRAINT device_keys, DROP CONSTRAINT device_environment,
    DROP COLUMN auth, DROP COLUMN p256dh, DROP COLUMN environment, DROP CONSTRAINT device_kind,
    ADD CONSTRAINT device_kind_check CHECK (kind IN ('http'));
