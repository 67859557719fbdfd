// groups.js - failures that are the same but for what they are about: pure.

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
// at least one digit: "deadbeef" may be a word, and no id is without
const HEX = /\b(?:0x)?(?=[a-f]*[0-9])[0-9a-f]{8,}\b/gi;
const NUMBER = /[0-9]+(?:[.,:][0-9]+)*/g;
const SAMPLES = 5;

/** The text with its ids struck out: "order 42: timeout" and "order 43: timeout" are one. */
export function strike(text) {
    return text.replace(UUID, "#").replace(HEX, "#").replace(NUMBER, "#");
}

function errorOf(item) {
    return strike(item.note || item.guard || item.outcome);
}

/** `groups` is a Map, which rows of /v1/history are added to, newest first. */
export function gather(groups, items) {
    for (const item of items) {
        const error = errorOf(item);
        const name = JSON.stringify([item.job, item.outcome, error]);
        const group = groups.get(name) || { job: item.job, outcome: item.outcome, error, count: 0,
            last: item.ended_at, samples: [] };
        group.count++;
        group.first = item.ended_at;
        if (group.samples.length < SAMPLES)
            group.samples.push(item);
        groups.set(name, group);
    }
    return groups;
}

/** Those that happened most first. */
export function ordered(groups) {
    return [...groups.values()].sort((a, b) => b.count - a.count || (a.last < b.last ? 1 : -1));
}
