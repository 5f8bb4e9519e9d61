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
DROP TABLE user_link;
