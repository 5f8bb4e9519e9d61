-- How a notice went over time: what had been sent and had failed at the end
-- of a step, for the chart on its page. The feeder adds a row where they have changed,
-- and begins steps of 1 s, 5 s, … 6 h as the notice grows older, so that there are a few
-- hundred rows at most. What was sent before this table was there has no row.
CREATE TABLE notice_pace (
    notice_id bigint NOT NULL REFERENCES notice (id),
    at        timestamptz NOT NULL,              -- when the step begins
    sent      bigint NOT NULL,
    failed    bigint NOT NULL,                   -- all that ever failed
    back      bigint NOT NULL,                   -- of those, put back by replays
    PRIMARY KEY (notice_id, at)
) WITH (fillfactor = 50);

---- create above / drop below ----

DROP TABLE notice_pace;
