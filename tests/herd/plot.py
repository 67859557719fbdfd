#!/usr/bin/env python3
"""plot.py FOLDER - draws what t_herd.sh has left there (HERD_OUT): checks run in each slot of a
minute, one panel for each way of asking. Writes an SVG to stdout."""
import sys

WIDTH, HEIGHT, LEFT, GAP = 760, 130, 60, 62
PANELS = (
    ("cron", "cron */5 * * * *: no spread", 0),
    ("every", "every 5 minutes, with its bias", 0),
    ("within", "10,000 checks for 12:00, within an hour", 720),
)


def read(path):
    with open(path, encoding="utf-8") as lines:
        return {int(minute): int(n) for minute, n in (line.split() for line in lines)}


def panel(loads, title, first, top):
    # FROM is half a minute past the hour: the slot of 12:00 is minute 719 of it
    first = min(loads) if first else 0
    last = max(loads)
    most = max(loads.values())
    wide = (WIDTH - LEFT - 10) / (last - first + 1)
    mean = sum(n for minute, n in loads.items() if minute >= first) / (last - first + 1)
    yield f'<text x="{LEFT}" y="{top - 10}">{title}</text>'
    path = "".join(
        f"M{LEFT + (minute - first + 0.5) * wide:.1f} {top + HEIGHT}v{-n * HEIGHT / 10000:.1f}"
        for minute, n in sorted(loads.items()))
    yield f'<path d="{path}" stroke="#2a6fb0" stroke-width="{max(wide * 0.8, 0.4):.2f}"/>'
    at = top + HEIGHT - mean * HEIGHT / 10000
    yield f'<path d="M{LEFT} {at:.1f}H{WIDTH - 10}" stroke="#c0392b" stroke-dasharray="4 3"/>'
    yield f'<path d="M{LEFT} {top}V{top + HEIGHT}H{WIDTH - 10}" stroke="#555" fill="none"/>'
    for n in (0, 5000, 10000):
        yield (f'<text x="{LEFT - 6}" y="{top + HEIGHT - n * HEIGHT / 10000 + 4:.0f}" '
               f'text-anchor="end">{n:,}</text>')
    yield (f'<text x="{WIDTH - 10}" y="{top - 10}" text-anchor="end">peak {most:,}, '
           f"mean {mean:,.0f}</text>")
    yield (f'<text x="{WIDTH - 10}" y="{top + HEIGHT + 16}" text-anchor="end">'
           f"{last - first + 1} slots of a minute</text>")


def main():
    tall = len(PANELS) * (HEIGHT + GAP) + 20
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{tall}" '
          f'font-family="sans-serif" font-size="12">')
    print(f'<rect width="{WIDTH}" height="{tall}" fill="white"/>')
    for i, (name, title, first) in enumerate(PANELS):
        for line in panel(read(f"{sys.argv[1]}/{name}.tsv"), title, first, 40 + i * (HEIGHT + GAP)):
            print(line)
    print("</svg>")


main()
