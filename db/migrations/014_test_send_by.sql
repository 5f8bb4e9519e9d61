-- The last test of a person, whose devices are offered for the next one.
CREATE INDEX test_send_asked_by ON test_send (asked_by, id);

---- create above / drop below ----

DROP INDEX test_send_asked_by;
