#!/usr/bin/env python3
"""A picture (SVG) of a stretch of a trace that `wavesmith run --trace` or `exec --trace` wrote.

    scripts/trace_picture.py trace.json picture.svg [--process TEXT] [--from CLK] [--clocks N]

Draws the first process whose name holds TEXT ("largest" by default): its waves, the VALU port and
the matrix pipe of two SIMDs, LDS, and what is in flight. Times are clocks from the process's first
event; without --from the stretch lies in the middle.
"""

import argparse
import collections
import html
import json
import sys

WIDTH, LEFT, ROW, GAP, TOP = 1200, 200, 15, 5, 78
COLOURS = {  # by class of instruction or reason of a stall; first match
    "matrix": "#c0392b",
    "transcendental": "#e67e22",
    "packed float32": "#b7950b",
    "vector load": "#1f618d",
    "vector store": "#1f618d",
    "LDS DMA": "#2e86c1",
    "LDS": "#17a589",
    "vector": "#f1c40f",
    "barrier": "#2c3e50",
    "scalar": "#8e44ad",
    "stall: matrix-pipe": "#f2c4be",
    "stall: valu-port": "#fbe9b0",
    "stall: arbitration": "#f7dcc4",
    "stall: barrier": "#b8bfc6",
    "stall: lds": "#bfe5df",
    "stall: vector-memory": "#bcd6ea",
    "stall: other": "#e3e3e3",
    "other": "#777777",
}
UNITS = {"port": "vector", "pipe": "matrix", "lds": "LDS", "barrier": "barrier"}


def colour_class(event, kinds):
    """What a slice is coloured by; `kinds` knows the class of each instruction by its pc."""
    name, category = event["name"], event["cat"]
    if category == "stall":
        return f"stall: {name}" if f"stall: {name}" in COLOURS else "stall: other"
    if category in UNITS:
        name = kinds.get(event.get("args", {}).get("pc"), UNITS[category])
    if name in COLOURS:
        return name
    return "scalar" if name.startswith("scalar") else "other"


def read(path, wanted):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    process = next((pid for pid, name in names.items() if wanted in name), None)
    if process is None:
        sys.exit(f"{path}: no process with {wanted!r}; there are {list(names.values())}")
    return names[process], [e for e in events if e["pid"] == process]


def clock_of(events):
    """Microseconds a clock: every slice is a whole number of them, most are a turn of 4."""
    lengths = collections.Counter(e["dur"] for e in events if e["ph"] == "X" and e["cat"] != "stall")
    return lengths.most_common(1)[0][0] / 4


def rectangles(slices, first, clocks, kinds):
    """Path data by colour class, touching slices of a class joined."""
    scale = (WIDTH - LEFT - 10) / clocks
    runs = collections.defaultdict(list)
    for event in slices:
        begin = max(event["at"] - first, 0)
        end = min(event["at"] + event["clk"] - first, clocks)
        if end <= begin:
            continue
        run = runs[colour_class(event, kinds)]
        if run and begin - run[-1][1] < 0.5:
            run[-1][1] = end
        else:
            run.append([begin, end])
    return {
        kind: "".join(
            f"M{LEFT + b * scale:.1f} 0h{max((e - b) * scale, 0.6):.1f}v{ROW}h-"
            f"{max((e - b) * scale, 0.6):.1f}z"
            for b, e in run
        )
        for kind, run in runs.items()
    }


def steps(values, first, clocks):
    """An area under the counter's steps, and its highest value."""
    scale = (WIDTH - LEFT - 10) / clocks
    before = [v for at, v in values if at <= first]
    inside = [(at - first, v) for at, v in values if first < at < first + clocks]
    level = before[-1] if before else 0
    most = max([level, *(v for _, v in inside), 1])
    path = f"M{LEFT} {ROW}"
    for at, value in [*inside, (clocks, 0)]:
        path += f"V{ROW - ROW * level / most:.1f}H{LEFT + at * scale:.1f}"
        level = value
    return path + f"V{ROW}z", most


def picture(title, events, first, clocks):
    microseconds = clock_of(events)
    origin = min(e["ts"] for e in events if e["ph"] == "X")
    tracks, slices, counters, kinds = {}, collections.defaultdict(list), {}, {}
    for event in events:
        if event["name"] == "thread_name":
            tracks[event["tid"]] = event["args"]["name"]
        elif event["ph"] == "X":
            event["at"] = (event["ts"] - origin) / microseconds
            event["clk"] = event["dur"] / microseconds
            slices[event["tid"]].append(event)
            if event["cat"] == "instruction":
                kinds[event["args"]["pc"]] = event["name"]
        elif event["ph"] == "C":
            at = (event["ts"] - origin) / microseconds
            counters.setdefault(event["name"], []).append((at, event["args"]["value"]))
    length = max(e["at"] + e["clk"] for e in slices[min(slices)])
    clocks = min(clocks, length)
    first = (length - clocks) / 2 // 100 * 100 if first is None else first
    rows, used = [], set()

    def label(y, text):
        rows.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{html.escape(text)}</text>')

    y = TOP
    for track in sorted(slices):
        name = tracks[track]
        if name.startswith(("SIMD 2", "SIMD 3")):
            continue
        label(y, name.replace(" of workgroup 0", ""))
        for kind, path in rectangles(slices[track], first, clocks, kinds).items():
            used.add(kind)
            rows.append(f'<path transform="translate(0 {y})" fill="{COLOURS[kind]}" d="{path}"/>')
        y += ROW + GAP
    for name, values in counters.items():
        path, most = steps(values, first, clocks)
        label(y, f"{name}, to {most}")
        rows.append(f'<path transform="translate(0 {y})" fill="#9fb6c9" d="{path}"/>')
        y += ROW + GAP
    scale = (WIDTH - LEFT - 10) / clocks
    step = 100 * max(1, round(clocks / 1000))
    for at in range(0, int(clocks) + 1, step):
        x = LEFT + at * scale
        rows.append(f'<path stroke="#999" stroke-width=".4" d="M{x:.1f} {TOP - 6}V{y}"/>')
        rows.append(f'<text x="{x:.1f}" y="{y + 13}" text-anchor="middle">{first + at:.0f}</text>')
    legend, x, line = [], LEFT, 30
    for kind in [k for k in COLOURS if k in used]:
        if kind.startswith("stall") and line == 30:
            x, line = LEFT, 48
        legend.append(f'<rect x="{x}" y="{line}" width="10" height="10" fill="{COLOURS[kind]}"/>')
        legend.append(f'<text x="{x + 13}" y="{line + 9}">{kind}</text>')
        x += 24 + 6.2 * len(kind)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 20}" '
            'font-family="sans-serif" font-size="11">',
            f'<rect width="{WIDTH}" height="{y + 20}" fill="#fff"/>',
            f'<text x="10" y="20" font-size="13">{html.escape(title)}; clocks, modelled</text>',
            *legend,
            *rows,
            "</svg>\n",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("picture")
    parser.add_argument("--process", default="largest")
    parser.add_argument("--from", dest="first", type=float)
    parser.add_argument("--clocks", type=float, default=2400)
    arguments = parser.parse_args()
    try:
        title, events = read(arguments.trace, arguments.process)
        text = picture(title, events, arguments.first, arguments.clocks)
    except (OSError, ValueError, KeyError) as problem:
        sys.exit(f"{arguments.trace}: no trace of ours: {problem}")
    with open(arguments.picture, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
