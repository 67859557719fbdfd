-- oldest engine: 42
-- The deliveries of events are listed, and one that is over is sent once more. These indexes have
-- the rows of deliveries alone: without a listener they cost nothing.
CREATE INDEX prescient_event_origin ON prescient_event (origin) WHERE origin IS NOT NULL;
CREATE INDEX prescient_future_job_history_delivery ON prescient_future_job_history (entity_key)
    WHERE entity_name = 'prescient.event';
CREATE INDEX prescient_future_job_history_deliveries ON prescient_future_job_history (id)
    WHERE entity_name = 'prescient.event';
CREATE INDEX prescient_future_job_history_delivery_amiss ON prescient_future_job_history (id)
    WHERE entity_name = 'prescient.event' AND outcome NOT IN ('done', 'resolved');
CREATE INDEX prescient_future_job_run_delivery ON prescient_future_job_run (entity_key)
    WHERE entity_name = 'prescient.event';
