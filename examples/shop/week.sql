-- What happens in the shop, in order. Before each block prescient has run every slot up to the time
-- above it.
-- at 2026-03-02 09:12
INSERT INTO orders (id, customer, placed_at, paid_at)
    VALUES (1001, 'Ada', '2026-03-02 09:12:00', '2026-03-02 09:12:00');
-- at 2026-03-02 10:05
INSERT INTO orders (id, customer, placed_at, paid_at)
    VALUES (1002, 'Ben', '2026-03-02 10:05:00', '2026-03-02 10:05:00');
-- at 2026-03-02 11:40
UPDATE orders SET shipped_at = '2026-03-02 11:40:00' WHERE id = 1001;
-- at 2026-03-02 15:50
INSERT INTO orders (id, customer, placed_at, paid_at)
    VALUES (1003, 'Cem', '2026-03-02 15:50:00', '2026-03-02 15:50:00');
-- at 2026-03-02 17:30
UPDATE orders SET shipped_at = '2026-03-02 17:30:00' WHERE id = 1002;
-- at 2026-03-03 08:30
INSERT INTO orders (id, customer, placed_at) VALUES (1004, 'Dee', '2026-03-03 08:30:00');
-- at 2026-03-03 10:00
UPDATE orders SET shipped_at = '2026-03-03 10:00:00' WHERE id = 1004;
-- at 2026-03-03 18:00
-- The other style: no trigger, one plain statement. In the evening the bookkeeper's program
-- enqueues a check for each order that was not paid at once: paid a day after it was placed?
INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now)
SELECT 'orders', id, 'unpaid_order', datetime(placed_at, '+1 day'),
       CAST(strftime('%s', '2026-03-03 18:00:00') AS INTEGER)
  FROM orders WHERE paid_at IS NULL AND cancelled_at IS NULL AND date(placed_at) = '2026-03-03';
-- at 2026-03-04 07:00
UPDATE orders SET paid_at = '2026-03-04 07:00:00' WHERE id = 1004;
-- at 2026-03-04 12:00
INSERT INTO orders (id, customer, placed_at) VALUES (1005, 'Eli', '2026-03-04 12:00:00');
-- at 2026-03-04 13:20
UPDATE orders SET cancelled_at = '2026-03-04 13:20:00' WHERE id = 1005;
-- at 2026-03-05 16:45
INSERT INTO orders (id, customer, placed_at, paid_at)
    VALUES (1006, 'Fay', '2026-03-05 16:45:00', '2026-03-05 16:45:00');
-- at 2026-03-06 11:11
INSERT INTO orders (id, customer, placed_at) VALUES (1007, 'Gus', '2026-03-06 11:11:00');
-- at 2026-03-06 12:00
UPDATE orders SET shipped_at = '2026-03-06 12:00:00' WHERE id = 1007;
-- at 2026-03-06 18:00
INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now)
SELECT 'orders', id, 'unpaid_order', datetime(placed_at, '+1 day'),
       CAST(strftime('%s', '2026-03-06 18:00:00') AS INTEGER)
  FROM orders WHERE paid_at IS NULL AND cancelled_at IS NULL AND date(placed_at) = '2026-03-06';
-- at 2026-03-07 09:30
UPDATE orders SET shipped_at = '2026-03-07 09:30:00' WHERE id = 1006;
-- at 2026-03-08 18:20
INSERT INTO orders (id, customer, placed_at, paid_at)
    VALUES (1008, 'Hal', '2026-03-08 18:20:00', '2026-03-08 18:20:00');
