-- Accounts made and looked after in the panel: one-time links, tokens that end,
-- sessions that can be told apart, and an audit log with results.

CREATE TABLE user_link (
    token_hash bytea PRIMARY KEY,                -- SHA-256 of the link's token
    user_id    bigint NOT NULL REFERENCES app_user (id),
    purpose    text NOT NULL CHECK (purpose IN ('invite', 'reset')),
    made_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    ended_at   timestamptz                       -- used, or replaced by a newer one
);
CREATE UNIQUE INDEX user_link_open ON user_link (user_id) WHERE ended_at IS NULL;

-- The second factor: a secret of RFC 6238, and codes for the day the phone is lost.
ALTER TABLE app_user
    ADD COLUMN totp_secret text,                 -- base32; null: no second factor
    ADD COLUMN totp_since  timestamptz,
    ADD COLUMN totp_step   bigint NOT NULL DEFAULT 0,  -- the last time step whose code was used
    ADD CONSTRAINT app_user_totp CHECK ((totp_secret IS NULL) = (totp_since IS NULL));
CREATE TABLE recovery_code (
    user_id   bigint NOT NULL REFERENCES app_user (id),
    code_hash bytea NOT NULL,                    -- SHA-256 of the code
    used_at   timestamptz,
    PRIMARY KEY (user_id, code_hash)
);

ALTER TABLE api_token ADD COLUMN expires_at timestamptz;  -- null: never

ALTER TABLE web_session
    ADD COLUMN started_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN seen_at    timestamptz NOT NULL DEFAULT now(),  -- the last use, to the minute
    ADD COLUMN agent      text,                  -- what the browser calls itself
    ADD COLUMN address    text;                  -- where it came from

-- done: it was done in the same transaction; refused: it was asked for and not done.
ALTER TABLE audit ADD COLUMN result text NOT NULL DEFAULT 'done' CHECK (result IN ('done', 'refused'));
CREATE INDEX audit_actor ON audit (actor, id);
-- The trigger stops everybody; this stops the program's own role one step earlier.
REVOKE UPDATE, DELETE, TRUNCATE ON audit FROM PUBLIC, CURRENT_USER;

---- create above / drop below ----

DROP INDEX audit_actor;
ALTER TABLE audit DROP COLUMN result;
ALTER TABLE web_session DROP COLUMN started_at, DROP COLUMN seen_at, DROP COLUMN agent, DROP COLUMN address;
ALTER TABLE api_token DROP COLUMN expires_at;
DROP TABLE recovery_code;
ALTER TABLE app_user DROP CONSTRAINT app_user_totp, DROP COLUMN totp_secret, DROP COLUMN totp_since, DROP COLUMN totp_step;
DROP TABLE user_link;
