/* progress.c - a bar on stderr: one line that is redrawn in place and removed at the end. */
#include "progress.h"

#include <string.h>
#include <unistd.h>
#include "../base/clock.h"
#include "../base/moment.h"
#include "table.h"
#include "text.h"

#define REDRAW_US 100000
#define BAR_MOST 30

void progress_init(struct progress *p, const char *what, int64_t total, bool wanted)
{
    *p = (struct progress){ .out = stderr, .clock = &clock_system, .what = what, .total = total,
                            .fd = STDERR_FILENO };
    p->shown = wanted && isatty(STDERR_FILENO);
    p->started_us = clock_mono_us(p->clock);
}

static void bar_text(char *out, size_t size, int64_t done, int64_t total, int cells)
{
    int full = (int)((double)done / (double)total * cells);
    size_t n = 0;
    for (int i = 0; i < cells && n + 4 < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s", i < full ? "\u2588" : "\u2591");
}

/* "63 %  4s left": the time left is estimated from the time taken, in whole seconds. */
static void remaining_text(char *out, size_t size, int64_t done, int64_t total, int64_t took_us)
{
    int percent = (int)((double)done / (double)total * 100);
    if (took_us < 2000000 || done <= 0) {
        snprintf(out, size, "%3d %%", percent);
        return;
    }
    char text[MOMENT_TEXT];
    int64_t remaining_s = (int64_t)((double)took_us / (double)done * (double)(total - done) / 1e6) + 1;
    snprintf(out, size, "%3d %%  %s left", percent, duration_format_us(remaining_s * 1000000, text));
}

void progress_show(struct progress *p, int64_t done, const char *detail)
{
    if (!p->shown)
        return;
    int64_t now = clock_mono_us(p->clock);
    if (p->drawn_us && now - p->drawn_us < REDRAW_US)
        return;
    p->drawn_us = now;
    char bar[BAR_MOST * 3 + 4] = "", remaining[64] = "", line[512];
    if (p->total > 0 && done > p->total)
        done = p->total;
    if (p->total > 0) {
        bar_text(bar, sizeof bar, done, p->total, BAR_MOST);
        remaining_text(remaining, sizeof remaining, done, p->total, now - p->started_us);
    }
    const char *gap = *bar ? " " : "";
    snprintf(line, sizeof line, "%.100s %s%s%s  %s", p->what, bar, gap, remaining, detail ? detail : "");
    fputs("\r\033[K", p->out);
    text_put(p->out, line, table_terminal_width(p->fd) - 1);
    fflush(p->out);
}

void progress_clear(struct progress *p)
{
    if (!p->shown || !p->drawn_us)
        return;
    fputs("\r\033[K", p->out);
    fflush(p->out);
    p->drawn_us = 0;
}
