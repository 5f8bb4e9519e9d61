-- Device lists: what was uploaded, the import it became, and what came of its rows.

-- An upload is a file as it came, in parts. It becomes an import or is swept.
CREATE TABLE upload (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    begun_by text NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE upload_chunk (
    upload_id bigint NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    seq       int NOT NULL,
    data      bytea NOT NULL,
    PRIMARY KEY (upload_id, seq)
);
ALTER TABLE upload_chunk ALTER COLUMN data SET STORAGE EXTERNAL;  -- lists are short-lived, packing them is not worth it

CREATE TABLE import (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    upload_id     bigint REFERENCES upload (id) ON DELETE SET NULL,  -- null once it ended and was cleaned
    file_name     text NOT NULL,
    file_size     bigint NOT NULL,
    chunks        int NOT NULL,
    sha256        bytea NOT NULL,
    dry_run       boolean NOT NULL,
    enable        boolean NOT NULL,
    full_list     boolean NOT NULL,
    again_of      bigint REFERENCES import (id),
    accepted_by   text NOT NULL,                 -- user:3 or token:7
    accepted_by_name text NOT NULL,
    accepted_at   timestamptz NOT NULL DEFAULT now(),

    state         text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'failed', 'cancelled')),
    phase         text NOT NULL DEFAULT 'reading'
                  CHECK (phase IN ('reading', 'matching', 'writing', 'counting', 'confirm', 'disabling')),
    version       bigint NOT NULL DEFAULT 1,     -- goes up with every change that a page shows
    started_at    timestamptz,
    finished_at   timestamptz,
    progress_at   timestamptz NOT NULL DEFAULT now(),
    ended_by_name text,                          -- who cancelled it

    ring          bigint NOT NULL DEFAULT 1,     -- number of its current asynq task
    rung_at       timestamptz,
    fence         bigint NOT NULL DEFAULT 0,     -- every write of a worker checks it
    lease_until   timestamptz,

    ignored       text[] NOT NULL DEFAULT '{}',  -- columns that mean nothing
    columns       text[] NOT NULL DEFAULT '{}',  -- all of them, as found
    bytes_read    bigint NOT NULL DEFAULT 0,     -- of the file as it came
    read_to       bigint NOT NULL DEFAULT 0,     -- the last row that is staged or rejected
    rows_read     bigint NOT NULL DEFAULT 0,     -- blank ones aside
    staged        bigint NOT NULL DEFAULT 0,     -- rows in import_row
    write_to      bigint NOT NULL DEFAULT 0,     -- the last row that was looked at for the devices
    total         bigint NOT NULL DEFAULT 0,     -- rows read so far; all of them once total_known
    total_known   boolean NOT NULL DEFAULT false,
    created       bigint NOT NULL DEFAULT 0,
    updated       bigint NOT NULL DEFAULT 0,
    unchanged     bigint NOT NULL DEFAULT 0,
    rejected      bigint NOT NULL DEFAULT 0,
    doubled       bigint NOT NULL DEFAULT 0,     -- a later row was about the same device
    missing       bigint NOT NULL DEFAULT 0,     -- enabled devices that a full list does not name
    enabled       bigint NOT NULL DEFAULT 0,     -- enabled devices when those were counted
    disabled      bigint NOT NULL DEFAULT 0,     -- of the missing
    confirmed_by_name text,
    error_code    text,
    error_message text,
    CHECK (created + updated + unchanged + rejected + doubled <= total),
    CHECK ((state = 'failed') = (error_code IS NOT NULL))
);
CREATE INDEX import_open ON import (id) WHERE state IN ('pending', 'running');
CREATE INDEX import_cleaning ON import (id) WHERE upload_id IS NOT NULL;

-- Which import a key names now.
CREATE TABLE import_key (
    key       bytea PRIMARY KEY,                 -- SHA-256 of content, options and whoever sends it
    import_id bigint NOT NULL
);

-- The rows of running imports. What is lost with a crash is read again.
CREATE UNLOGGED TABLE import_row (
    import_id    bigint NOT NULL,
    row_no       bigint NOT NULL,
    over         boolean NOT NULL DEFAULT false, -- rejected, or overtaken by a later row
    bad          boolean NOT NULL DEFAULT false, -- rejected: kept, since a full list names its device all the same
    token        text NOT NULL,
    token_hash   bytea NOT NULL,
    platform     text NOT NULL,
    person       text,                           -- null: leave what is stored; '': take it away
    tags         text,                           -- a|b; null: leave what is stored
    consent      boolean,
    installation text
);
CREATE INDEX import_row_no ON import_row (import_id, row_no);

CREATE TABLE import_reject (
    import_id bigint NOT NULL REFERENCES import (id),
    row_no    bigint NOT NULL,
    col       text NOT NULL,
    value     text NOT NULL,                     -- masked where it is a token
    reason    text NOT NULL,
    message   text NOT NULL,
    cells     text[] NOT NULL,                   -- the row as found, for the file to mend
    PRIMARY KEY (import_id, row_no)
);
CREATE TABLE import_reason (
    import_id bigint NOT NULL REFERENCES import (id),
    reason    text NOT NULL,
    n         bigint NOT NULL,
    PRIMARY KEY (import_id, reason)
);
CREATE TABLE import_missing (
    import_id bigint NOT NULL REFERENCES import (id),
    device_id bigint NOT NULL,
    PRIMARY KEY (import_id, device_id)
);

ALTER TABLE device DROP CONSTRAINT device_disabled_reason_check;
ALTER TABLE device ADD CONSTRAINT device_disabled_reason_check
    CHECK (disabled_reason IN ('token_expired', 'replaced', 'admin', 'not_in_list'));

---- create above / drop below ----

DROP TABLE import_missing, import_reason, import_reject, import_row, import_key, import, upload_chunk, upload;
