// login.js - asks for a token, above all that is open: also above a dialog whose change has to wait
// for it. It can be left; then what waited is not done.
import { logIn } from "./api.js";
import { el, swap } from "./dom.js";

/** `done(who)` is called when somebody has logged in, and `closed()` whenever it is gone. */
export function openLogin({ why, done, closed }) {
    const said = el("p", { role: "alert" }, why);
    const field = el("input", { id: "token", type: "password", autocomplete: "current-password",
        required: true });
    const submit = async (event) => {
        event.preventDefault();
        try {
            done(await logIn(field.value));
            node.close();
        } catch (wrong) {
            swap(said, wrong.message);
            field.select();
        }
    };
    const form = el("form", { submit }, el("h2", { id: "login-title" }, "Log in"), said,
        el("div", { class: "field" }, el("label", { for: "token" }, "Token"), field),
        el("p", { class: "buttons" }, el("button", { type: "submit" }, "Log in"), " ",
            el("button", { type: "button", id: "login-leave", click: () => node.close() }, "Leave it")));
    const node = el("dialog", { class: "login", "aria-labelledby": "login-title", close: () => {
        node.remove();
        closed();
    } }, form);
    document.body.append(node);
    node.showModal();
    field.focus();
}
