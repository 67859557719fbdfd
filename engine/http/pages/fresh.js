// fresh.js - how old an answer may be that others have got, after this browser has changed
// something: what was filed ends no answer that the server keeps, as checks come by the thousand.
const KEPT = "prescient.changed";
let changed = null;                 // where the browser keeps nothing

/** In whole seconds: `oldest`, but never so old that it was asked for before the change. */
export function mayBeOld(oldest, changedAt, at) {
    const since = Math.floor((at - changedAt) / 1000);
    return changedAt === null || Number.isNaN(since) ? oldest : Math.max(0, Math.min(oldest, since));
}

/** It is kept for other pages of the browser, too: what was filed is looked at on another one. */
export function noteChange() {
    changed = Date.now();
    try {
        localStorage.setItem(KEPT, changed);
    } catch {
        // the next page does not know of it
    }
}

export function lastChange() {
    try {
        const kept = localStorage.getItem(KEPT);
        return kept === null ? changed : Number(kept);
    } catch {
        return changed;
    }
}
