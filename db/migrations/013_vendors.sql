-- Holds the place of number 13, which belongs to a change that is made beside this one.
SELECT 1;

---- create above / drop below ----

SELECT 1;
