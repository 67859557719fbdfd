// dialog.js - before something is changed: what it is, how many, and why; and then what has become
// of it. One at a time, as it is modal; what is behind it looks again when something was done.
import { el, swap } from "./dom.js";

const REASON_MAX = 1000;

/** A problem of /v1 in words, with what is at fault. */
export function refused(problem) {
    const faults = (problem.errors || []).filter((fault) => fault.detail !== problem.message);
    return [`${problem.message}. `, faults.length ? el("ul", null, faults.map((fault) => el("li", null,
        el("code", null, fault.pointer), " ", fault.detail))) : null];
}

function reasonField() {
    const input = el("input", { id: "reason", autocomplete: "off", maxlength: REASON_MAX });
    return { input, node: el("div", { class: "field" },
        el("label", { for: "reason" }, "Why (kept with the change; may be left out)"), input) };
}

// Whoever opened it may be gone, as what is behind was drawn anew.
function giveBack(opener, label) {
    if (opener && opener.isConnected)
        return opener.focus();
    const same = label && [...document.querySelectorAll("button")].find((b) => nameOf(b) === label);
    (same || document.getElementById("main")).focus();
}

function nameOf(button) {
    return button.getAttribute("aria-label") || button.textContent;
}

class Dialog {
    constructor({ title, what, word, prepare, act }) {
        this.act = act;
        this.prepare = prepare;
        this.opener = document.activeElement;
        this.label = this.opener ? nameOf(this.opener) : null;
        this.isBusy = this.hasChanged = false;
        this.stop = new AbortController();
        this.reason = reasonField();
        this.said = el("div", { role: "status", id: "said" });
        this.bar = el("progress", { id: "bar", "aria-label": "How far it is", hidden: true });
        this.go = el("button", { type: "submit", id: "go" }, word);
        this.leave = el("button", { type: "button", id: "leave", click: () => this.stopOrClose() });
        this.form = el("form", { submit: (event) => this.submitted(event) },
            el("h2", { id: "dialog-title" }, title), what, this.reason.node, this.said, this.bar,
            el("p", { class: "buttons" }, this.go, " ", this.leave));
        this.node = el("dialog", { "aria-labelledby": "dialog-title", cancel: (event) => this.escape(event),
            close: () => this.closed() }, this.form);
    }

    /** Nodes in the place of what was said before. */
    say(...nodes) {
        swap(this.said, ...nodes);
    }

    /** How far it is: a bar from here on. */
    show(done, all) {
        this.bar.hidden = false;
        this.bar.max = Math.max(1, all);
        this.bar.value = done;
    }

    busy(isBusy) {
        this.isBusy = isBusy;
        this.go.disabled = isBusy;
        const over = this.hasChanged ? "Close" : "Leave it";
        this.leave.textContent = isBusy ? "Stop" : over;
    }

    get isStopped() {
        return this.stop.signal.aborted;
    }

    /** `work` returns the word of the button that goes on; null: all is done. */
    async run(work) {
        this.stop = new AbortController();
        this.busy(true);
        let word = this.go.textContent;
        try {
            word = await work(this);
        } catch (problem) {
            if (problem.status === undefined)
                console.error(problem);
            this.say(el("div", { class: "fault", role: "alert" }, refused(problem)));
        }
        if (word === null) {
            this.go.remove();
            this.reason.node.remove();
        } else {
            this.go.textContent = word;
        }
        this.busy(false);
        if (this.node.open)
            (word === null ? this.leave : this.go).focus();
        else
            this.tellOthers();
    }

    submitted(event) {
        event.preventDefault();
        if (!this.isBusy)
            this.run(this.act);
    }

    stopOrClose() {
        if (!this.isBusy)
            return this.node.close();
        this.stop.abort();
        this.leave.textContent = "Stopping ...";
    }

    escape(event) {
        if (!this.isBusy)
            return;
        event.preventDefault();
        this.stopOrClose();
    }

    closed() {
        this.stop.abort();
        this.node.remove();
        giveBack(this.opener, this.label);
        if (!this.isBusy)
            this.tellOthers();
    }

    tellOthers() {
        if (this.hasChanged)
            document.dispatchEvent(new Event("changed"));
    }

    open() {
        document.body.append(this.node);
        this.node.showModal();
        this.busy(false);
        if (this.prepare)
            this.run(this.prepare);
        else
            this.go.focus();
    }
}

/** title; `what`: nodes above the reason; word: of the button. `prepare(dialog)`, if there is one,
 * is run at once, and `act(dialog)` by the button: see Dialog.run. */
export function openDialog(options) {
    new Dialog(options).open();
}
