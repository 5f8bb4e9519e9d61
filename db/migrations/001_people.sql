-- Who may do what: people, programs, their sessions, and what they did.

CREATE TABLE app_user (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email         text NOT NULL CHECK (length(email) BETWEEN 3 AND 254),
    role          text NOT NULL CHECK (role IN ('operator', 'support', 'admin')),
    password_hash text NOT NULL,
    disabled_at   timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX app_user_email ON app_user (lower(email));

CREATE TABLE api_token (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    role         text NOT NULL CHECK (role IN ('operator', 'support', 'admin')),
    token_hash   bytea NOT NULL UNIQUE,          -- SHA-256 of the token
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,                    -- to the minute
    revoked_at   timestamptz
);

-- Ended sessions stay as tombstones until they would have expired, so that a
-- commit that comes late cannot bring one back.
CREATE TABLE web_session (
    token_hash bytea PRIMARY KEY,                -- SHA-256 of the cookie's token
    data       bytea NOT NULL,
    user_id    bigint REFERENCES app_user (id),
    expires_at timestamptz NOT NULL,
    ended_at   timestamptz
);
CREATE INDEX web_session_expiry ON web_session (expires_at);
CREATE INDEX web_session_user ON web_session (user_id) WHERE user_id IS NOT NULL;

CREATE TABLE audit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT now(),
    actor      text NOT NULL,                    -- user:3, token:7 or command
    actor_name text NOT NULL,                    -- e-mail, token name or operating system user
    role       text NOT NULL,                    -- the role held at that moment
    act        text NOT NULL,                    -- such as notice.pause
    object     text NOT NULL,                    -- such as notice:12
    detail     jsonb NOT NULL DEFAULT '{}',
    request_id text
);
CREATE INDEX audit_object ON audit (object, id);

CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

---- create above / drop below ----

DROP TABLE audit, web_session, api_token, app_user;
DROP FUNCTION audit_is_append_only;
