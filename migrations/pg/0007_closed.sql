-- 0007_closed - functions that came after the roles are open to nobody either, and an application
-- does not choose where tables go.
-- oldest engine: 1
--
-- Every new function is open to everybody until it is said otherwise: a migration that makes one
-- says so (a test asks for it).

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA prescient_schema FROM PUBLIC;

-- An application may make the history's partition of today (resolve, when no engine has been here
-- for days). A table goes where the session's settings say, and these are the caller's: its owner's
-- rights must not carry it into a tablespace or an access method of somebody else's choice.
ALTER FUNCTION prescient.make_history_day(date) SET default_tablespace = '';
ALTER FUNCTION prescient.make_history_day(date) SET default_table_access_method = 'heap';
ALTER FUNCTION prescient.index_history_day() SET default_tablespace = '';
ALTER FUNCTION prescient.index_history_day() SET default_table_access_method = 'heap';
