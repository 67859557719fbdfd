#!/usr/bin/env node
// A job in Node: one process that lives on, and answers checks of orders, several at a time.
const lines = require('readline').createInterface({ input: process.stdin });
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

// One of done, again_at, defer_until, fail; and if wanted note, emit, enqueue, resolve.
async function answer(check) {
  const data = check.data || {};
  if (data.paid) return { done: true };
  if (check.check_number < 3) return { again_at: '+1d', note: 'not paid yet' };
  return { done: true, emit: { event: 'order.unpaid', data } };
}

lines.once('line', (hello) => {
  say({ prescient: 1, window: Math.min(JSON.parse(hello).window, 16) });
  lines.on('line', async (line) => {
    const check = JSON.parse(line);
    const answered = await answer(check).catch((e) => ({ fail: String(e) }));
    say({ ...answered, id: check.id });
  });
});
