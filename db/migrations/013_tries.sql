-- How many tries of signing in are left, for all processes together. A budget is kept as
-- the moment at which all of its tries are there again; a row whose moment has passed
-- says nothing and is swept.
CREATE TABLE sign_in_budget (
    key     bytea PRIMARY KEY,                   -- SHA-256 of what is counted: an account may be a password that was mistyped
    full_at timestamptz NOT NULL
) WITH (fillfactor = 50);

---- create above / drop below ----

DROP TABLE sign_in_budget;
