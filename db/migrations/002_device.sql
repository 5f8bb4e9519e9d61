-- A device is an address at a vendor, with consent.

CREATE TABLE device (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind            text NOT NULL DEFAULT 'http' CHECK (kind IN ('http')),  -- the vendor it belongs to
    token           text,                        -- null once erased or taken over by another row
    token_hash      bytea,                       -- SHA-256 of the token
    platform        text NOT NULL CHECK (platform IN ('android', 'ios', 'web')),
    person          text,                        -- the API's "user"
    tags            text[] NOT NULL DEFAULT '{}',
    consent         boolean NOT NULL DEFAULT true,
    installation    text,
    disabled_at     timestamptz,
    disabled_reason text CHECK (disabled_reason IN ('token_expired', 'replaced', 'admin')),
    erased_at       timestamptz,
    registered_at   timestamptz NOT NULL DEFAULT now(),  -- the last PUT
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CHECK ((token IS NULL) = (token_hash IS NULL)),
    CHECK (token IS NOT NULL OR erased_at IS NOT NULL OR disabled_at IS NOT NULL),
    CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL))
) WITH (fillfactor = 85);                        -- an app puts its device at each start
CREATE UNIQUE INDEX device_token ON device (token_hash);
CREATE UNIQUE INDEX device_installation ON device (installation);
CREATE INDEX device_person ON device (person, id) WHERE person IS NOT NULL;

-- Who can be told, in the order in which an audience is cut. It holds all that an
-- audience asks for, so that counting one does not visit the table.
CREATE INDEX device_audience ON device (id) INCLUDE (platform, tags)
    WHERE consent AND disabled_at IS NULL AND erased_at IS NULL;

---- create above / drop below ----

DROP TABLE device;
