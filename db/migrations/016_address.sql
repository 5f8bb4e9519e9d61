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

---- create above / drop below ----

ALTER TABLE device DROP COLUMN scope, DROP CONSTRAINT device_keys, DROP CONSTRAINT device_environment,
    DROP COLUMN auth, DROP COLUMN p256dh, DROP COLUMN environment, DROP CONSTRAINT device_kind,
    ADD CONSTRAINT device_kind_check CHECK (kind IN ('http'));
