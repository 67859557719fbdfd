-- oldest engine: 12
-- What is unusual about a check stands beside it, in one text: the check of a schedule carries its
-- rule. A program that cannot read terms would delete such a check at its DONE. `oldest engine`
-- shuts it out: each call compares the schema's cookie, so one that runs already is refused, too.

ALTER TABLE prescient_future_job ADD COLUMN terms TEXT;
