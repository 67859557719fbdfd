// race.mjs - several processes of one peer, started together. They connect first and then start at
// the same moment; the clock stops when the last job's end is in the database. Prints one line of
// JSON: jobs, s, cpu_s (of the processes, including their start).
import { fork } from 'node:child_process';

const seconds = () => Number(process.hrtime.bigint()) / 1e9;     // one clock for all processes of the machine
const cpuSeconds = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
const KEPT = 10000;              // last jobs looked for at the end; more than any batch in flight

// The parent: forks itself `processes` times with FOLLOW set.
export function lead(jobs, processes) {
  const runners = Array.from({ length: processes }, () => {
    const child = fork(process.argv[1], process.argv.slice(2), { env: { ...process.env, FOLLOW: '1' } });
    return { child, done: 0, ready: false, ended: 0, cpu: undefined };
  });
  let began = 0, asked = false;
  const tell = (word) => runners.forEach(({ child }) => child.send(word));
  const heard = (runner, message) => {
    Object.assign(runner, message);
    if (!began && runners.every((r) => r.ready)) { began = seconds(); tell('go'); }
    if (!asked && runners.reduce((sum, r) => sum + r.done, 0) >= jobs) { asked = true; tell('end'); }
    if (runners.every((r) => r.cpu !== undefined)) {
      const s = Math.max(...runners.map((r) => r.ended)) - began;
      console.log(JSON.stringify({ jobs, s, cpu_s: runners.reduce((sum, r) => sum + r.cpu, 0) }));
      runners.forEach(({ child }) => child.kill());
    }
  };
  for (const runner of runners) {
    runner.child.on('message', (message) => heard(runner, message));
    runner.child.on('exit', (code) => { if (code) process.exit(1); });
  }
}

// A child: `start(seen)` begins to work and calls seen(ids) with the jobs it has done;
// `waiting(ids)` returns how many of them are not done yet in the database.
export function follow({ connect, start, waiting }) {
  let done = 0, told = 0, last = [];
  const seen = (ids) => {
    done += ids.length;
    if (last.length > KEPT) last = last.slice(-KEPT / 2);
    last = last.concat(ids);
  };
  setInterval(() => { if (done !== told) process.send({ done: told = done }); }, 2);
  process.on('message', async (word) => {
    if (word === 'go') await start(seen);
    if (word !== 'end') return;
    while (await waiting(last.slice(-KEPT)) > 0);
    process.send({ ended: seconds(), cpu: cpuSeconds() });
  });
  connect().then(() => process.send({ ready: true }));
}
