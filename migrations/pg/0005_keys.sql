-- 0005_keys - the bucket is proved when a check is filed, not each time it moves.
-- oldest engine: 1
--
-- A CHECK is asked for every new version of a row, and sha256 was a tenth of what it costs to move a check on. The key of a check never
-- changes in its life, so it is enough to ask once. A trigger for each row that an UPDATE writes would cost more than the CHECK; one for
-- the statement costs nothing where no column of the key is named.

CREATE FUNCTION prescient.refuse_bucket() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'prescient: the bucket of (%, %) is %, expected %', NEW.entity_name, NEW.entity_key, NEW.bucket,
                    prescient.bucket_of(NEW.entity_name, NEW.entity_key)
        USING ERRCODE = 'check_violation', CONSTRAINT = 'future_job_bucket', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END $$;

CREATE FUNCTION prescient.refuse_key_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'prescient: bucket, entity and key of a check do not change: resolve it and enqueue another'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'future_job_key', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END $$;

-- Written out, as it was in the CHECK: to inline a function there means to parse it for each statement.
CREATE TRIGGER future_job_bucket AFTER INSERT ON prescient.future_job FOR EACH ROW
    WHEN (NEW.bucket <> get_byte(sha256(convert_to(octet_length(NEW.entity_name)::text || ':' || NEW.entity_name || NEW.entity_key, 'UTF8')), 0) & 63)
    EXECUTE FUNCTION prescient.refuse_bucket();
CREATE TRIGGER future_job_key BEFORE UPDATE OF bucket, entity_name, entity_key ON prescient.future_job
    FOR EACH STATEMENT EXECUTE FUNCTION prescient.refuse_key_change();
-- Also where a subscription or a restore says that its rows need no triggers.
ALTER TABLE prescient.future_job ENABLE ALWAYS TRIGGER future_job_bucket;
ALTER TABLE prescient.future_job DROP CONSTRAINT future_job_bucket;

REVOKE ALL ON FUNCTION prescient.refuse_bucket(), prescient.refuse_key_change() FROM PUBLIC;
