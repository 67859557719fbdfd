-- The shop's own table. prescient's tables are in the same file; their names begin with
-- "prescient_".
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer TEXT NOT NULL,
    placed_at TEXT NOT NULL,
    shipped_at TEXT,
    paid_at TEXT,
    cancelled_at TEXT
);

-- Every order gets a check: shipped within three hours? The check is enqueued in the transaction
-- that places the order, so there is no order without its check and no check without its order. The
-- last column, now, is here because this week is a virtual one; without it the clock counts.
CREATE TRIGGER orders_placed AFTER INSERT ON orders
BEGIN
    INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now)
    VALUES ('orders', NEW.id, 'unshipped_order', datetime(NEW.placed_at, '+3 hours'),
            CAST(strftime('%s', NEW.placed_at) AS INTEGER));
END;

-- A cancelled order has no open checks. (A shipped one could be resolved in the same way; here its
-- check finds out by itself.)
CREATE TRIGGER orders_cancelled AFTER UPDATE OF cancelled_at ON orders WHEN NEW.cancelled_at IS NOT NULL
BEGIN
    INSERT INTO prescient_resolve (entity_name, entity_key, now)
    VALUES ('orders', NEW.id, CAST(strftime('%s', NEW.cancelled_at) AS INTEGER));
END;
