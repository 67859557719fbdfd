// graphile-worker.mjs fill N | drain N PROCESSES - no-op jobs through graphile-worker in the
// fastest configuration that its documentation gives: a local queue, and completions in batches.
// It deletes a job when it is done and keeps no history.
import { Logger, WorkerPreset, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { follow, lead } from './race.mjs';

const connectionString = process.env.PEER_URL;
const [what, count, processes] = process.argv.slice(2);
const logger = new Logger(() => () => {});
const worker = { connectionString, logger, concurrentJobs: 24, maxPoolSize: 25, localQueue: { size: 500 },
                 completeJobBatchDelay: 0, failJobBatchDelay: 0 };

async function fill(jobs) {
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  const runAt = new Date(Date.now() - 60000);
  for (let i = 0; i < jobs; i += 1000) {
    const length = Math.min(1000, jobs - i);
    const job = (_, k) => ({ identifier: 'noop', payload: { id: i + k }, runAt });
    await utils.addJobs(Array.from({ length }, job));
  }
  await utils.release();
}

const pool = new pg.Pool({ connectionString, max: 1 });
const sides = {
  connect: () => pool.query('SELECT 1'),
  start: (seen) => run({ preset: { extends: [WorkerPreset], worker }, noHandleSignals: true,
                         taskList: { noop: (payload, helpers) => { seen([helpers.job.id]); } } }),
  waiting: async (ids) => (await pool.query(
    'SELECT 1 FROM graphile_worker._private_jobs WHERE id = ANY ($1::bigint[]) LIMIT 1', [ids])).rowCount,
};

if (what === 'fill') await fill(Number(count));
else if (process.env.FOLLOW) follow(sides);
else lead(Number(count), Number(processes));
if (what === 'fill' || !process.env.FOLLOW) await pool.end();
