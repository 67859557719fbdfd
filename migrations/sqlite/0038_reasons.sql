-- oldest engine: 16
-- What people write beside schedules and pauses is bounded: who in 255 bytes, why in 4096, as the
-- reason of a pause. All of it is shown wherever the schedule or the pause is. What is there and is
-- longer stays. These triggers fire whichever view or statement writes; RAISE for the reasons at
-- the head of 0002_raise.

CREATE TRIGGER prescient_pause_by_required BEFORE INSERT ON prescient_pause
BEGIN
    SELECT RAISE(ABORT, 'prescient: paused_by must have at most 255 bytes and no NUL')
     WHERE length(CAST(NEW.paused_by AS BLOB)) > 255 OR instr(NEW.paused_by, char(0)) <> 0;
END;

CREATE TRIGGER prescient_pause_resumed_by_required BEFORE UPDATE OF resumed_by ON prescient_pause
BEGIN
    SELECT RAISE(ABORT, 'prescient: resumed_by must have at most 255 bytes and no NUL')
     WHERE length(CAST(NEW.resumed_by AS BLOB)) > 255 OR instr(NEW.resumed_by, char(0)) <> 0;
END;

CREATE TRIGGER prescient_schedule_why_required BEFORE UPDATE OF switched_why ON prescient_schedule
BEGIN
    SELECT RAISE(ABORT, 'prescient: switched_why must have at most 4096 bytes and no NUL')
     WHERE length(CAST(NEW.switched_why AS BLOB)) > 4096 OR instr(NEW.switched_why, char(0)) <> 0;
END;
