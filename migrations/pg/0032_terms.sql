-- 0032_terms - what is unusual about a check stands beside it, in one text.
-- oldest engine: 32
--
-- The check of a schedule carries its rule. An engine that cannot read terms would delete it at its
-- DONE, so such engines are shut out. `oldest engine` refuses them when they connect; one that runs
-- already does not ask again. So each lease also needs `reads_terms`, which only an engine fills
-- that reads them: all others get an error at the next slot that they open, and run nothing. Leases
-- that they hold at this moment are on slots that have begun, and no check with terms is filed
-- there.
--
-- Terms are words and values with blanks between them; rules/terms.h has them. Few checks have any:
-- a page has them in the column of rare values.

ALTER TABLE prescient.future_job ADD COLUMN terms text;
COMMENT ON COLUMN prescient.future_job.terms IS
    'What is unusual about the check: the rule by which it recurs. NULL: nothing is.';

ALTER TABLE prescient.slot_lease ADD COLUMN reads_terms boolean NOT NULL DEFAULT true;
ALTER TABLE prescient.slot_lease ALTER COLUMN reads_terms DROP DEFAULT;
COMMENT ON COLUMN prescient.slot_lease.reads_terms IS
    'Its engine reads future_job.terms. One that cannot does not fill this column, and gets no lease.';
