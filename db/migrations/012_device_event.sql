-- What changed of a device that was there: its consent, its state, its address.
-- When it came is on the device itself, so that a list of new ones writes none.
-- Like the ledger it names devices without a foreign key: none is ever deleted.
CREATE TABLE device_event (
    id        bigint GENERATED ALWAYS AS IDENTITY,
    device_id bigint NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    what      text NOT NULL CHECK (what IN ('consent_given', 'consent_withdrawn', 'disabled', 'enabled', 'token', 'user',
                                            'platform', 'tags', 'erased')),
    detail    text,                              -- disabled: the reason; platform: the one before
    by        text NOT NULL,                     -- user:3, token:7 or command; import:5; notice:12, whose answer it was
    by_name   text,                              -- of a person or a program
    PRIMARY KEY (device_id, id)
);

---- create above / drop below ----

DROP TABLE device_event;
