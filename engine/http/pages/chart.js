// chart.js - bars, as SVG, each chart with its table.
import { el, link, svg, table } from "./dom.js";

const WIDTH = 960;
const HEIGHT = 140;
const MARK = 5;                     // of a bar that is named: colour alone says nothing to many

function shapeOf(bar, i, step, most) {
    const tall = most ? Math.max(bar.value ? 2 : 0, bar.value / most * (HEIGHT - 2 * MARK)) : 0;
    const x = i * step + step * 0.1;
    const width = Math.max(1, step * 0.8);
    const middle = x + width / 2;
    const y = HEIGHT - tall;
    const shapes = [svg("rect", { x, y, width, height: tall, class: `bar ${bar.tone || ""}` }),
        svg("rect", { x: i * step, y: 0, width: step, height: HEIGHT, class: "reach" })];
    if (bar.isMarked)
        shapes.push(svg("path", { class: `mark ${bar.tone}`,
            d: `M${middle - MARK} ${y - 2 * MARK}h${2 * MARK}l${-MARK} ${MARK}z` }));
    return shapes;
}

function barOf(bar, i, step, most) {
    const title = svg("title", null, `${bar.label}: ${bar.text}`);
    if (!bar.page)
        return svg("g", null, title, shapeOf(bar, i, step, most));
    return svg("a", { href: link(bar.page, bar.query), tabindex: "-1" }, title, shapeOf(bar, i, step, most));
}

function drawing(bars, nowIndex) {
    const most = Math.max(...bars.map((bar) => bar.value));
    const step = WIDTH / bars.length;
    const line = nowIndex === undefined ? null : svg("line", { class: "now", x1: nowIndex * step,
        x2: nowIndex * step, y1: 0, y2: HEIGHT });
    return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "chart",
        "aria-hidden": "true" }, line, bars.map((bar, i) => barOf(bar, i, step, most)));
}

/** bars: [{ label, value, text, tone, isMarked, page, query }]; `columns` and `rows` are those of
 * its table. `highest`: what the highest bar stands for; `nowIndex`: the bar before which the
 * future begins. */
export function chart({ id, caption, bars, from, to, highest, nowIndex, columns, rows }) {
    if (!bars.length)
        return el("p", { class: "nothing" }, `${caption}: none.`);
    return el("figure", null, el("figcaption", null, caption), drawing(bars, nowIndex),
        el("p", { class: "ends", "aria-hidden": "true" }, el("span", null, from), el("span", null, highest),
            el("span", null, to)),
        el("details", { id }, el("summary", null, "As a table"), table(caption, columns, rows)));
}
