-- Holds the number for the archive's filters.
SELECT 1;

---- create above / drop below ----
SELECT 1;
