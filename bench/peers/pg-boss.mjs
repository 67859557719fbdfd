// pg-boss.mjs fill N | drain N PROCESSES - no-op jobs through pg-boss: work() with batches of 1,000
// and no pause while they are full. It keeps a finished job's row in its table (state "completed")
// for some days.
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { follow, lead } from './race.mjs';

const connectionString = process.env.PEER_URL;
const [what, count, processes] = process.argv.slice(2);
const queue = 'noop';
const pool = new pg.Pool({ connectionString, max: 1 });
let boss;

async function open(options) {
  boss = new PgBoss({ connectionString, ...options });
  boss.on('error', (e) => { console.error(e); process.exit(1); });
  await boss.start();
}

async function fill(jobs) {
  await open({ supervise: false, schedule: false });
  await boss.createQueue(queue);
  const startAfter = new Date(Date.now() - 60000);
  for (let i = 0; i < jobs; i += 10000) {
    const length = Math.min(10000, jobs - i);
    await boss.insert(queue, Array.from({ length }, (_, k) => ({ data: { id: i + k }, startAfter })));
  }
  await boss.stop({ graceful: false });
}

const sides = {
  connect: async () => { await open({}); await pool.query('SELECT 1'); },
  start: (seen) => boss.work(queue,
                             { batchSize: 1000, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
                             async (jobs) => seen(jobs.map((job) => job.id))),
  waiting: async (ids) => (await pool.query(
    "SELECT 1 FROM pgboss.job WHERE name = $1 AND id = ANY ($2::uuid[]) AND state <> 'completed' LIMIT 1",
    [queue, ids])).rowCount,
};

if (what === 'fill') { await fill(Number(count)); process.exit(0); }
else if (process.env.FOLLOW) follow(sides);
else lead(Number(count), Number(processes));
if (!process.env.FOLLOW) await pool.end();
