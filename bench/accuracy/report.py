"""Tables and figures of bench/run_accuracy.py's results. Intervals: 95 %, by resampling seeds, and
where no row flipped up to three in as many rows (the rule of three).
"""

import json
import random
from collections import defaultdict

METHODS = [("bf16", False)] + [
    (scales, rotated)
    for scales in ("dynamic", "static", "per-tensor", "unit")
    for rotated in (False, True)
]
RESAMPLES = 1000
# What cases of a distribution differ by.
PARAMETERS = {"needle": "depth", "outlier-channels": "outlier"}
TITLES = {
    "depth": lambda value: f", depth {100 * value:.0f} %",
    "outlier": lambda value: f", {value:g} times larger",
}
RATES = ("flips", "clear_flips")
METRICS = {
    "relative": "Relative error of the output, %",
    "lse": "Mean |LSE error|, 1e-3",
    "flips": "Flipped argmax, % of rows",
    "clear_flips": "Flipped argmax among clear rows, %",
    "logits": "Relative error of the model's logits, %",
}


def name_of(method) -> str:
    return method[0] + (", rotated" if method[1] else "")


def rows_of(lines: list[dict], metric: str) -> int:
    return sum(line["rows" if metric == "flips" else "clear"] for line in lines)


def estimate(lines: list[dict], metric: str) -> float:
    if metric in RATES:
        rows = rows_of(lines, metric)
        return 100 * sum(line[metric] for line in lines) / rows if rows else 0
    factor = 1000 if metric == "lse" else 100
    return factor * sum(line[metric] for line in lines) / len(lines)


def interval(lines: list[dict], metric: str):
    """The estimate and its 95 % bootstrap interval; seeds are what is resampled."""
    draw = random.Random(0)
    drawn = sorted(estimate(draw.choices(lines, k=len(lines)), metric) for _ in range(RESAMPLES))
    value, low, high = estimate(lines, metric), drawn[RESAMPLES // 40], drawn[-RESAMPLES // 40]
    if metric in RATES and value == 0:
        high = min(100, 300 / max(1, rows_of(lines, metric)))
    return value, low, high


def digits(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def cell(lines: list[dict], metric: str) -> str:
    if not lines:
        return "–"
    value, low, high = interval(lines, metric)
    return f"{digits(value)} ({digits(low)}–{digits(high)})"


def load(paths) -> dict:
    """(distribution, depth of a needle or size of outliers) -> method -> keys -> lines, one for each seed.

    Results of other kernels, or of a seed for the second time, are no further samples.
    """
    groups = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    kinds, seen = {}, set()
    for path in paths:
        for text in path.read_text().splitlines():
            line = json.loads(text)
            parameter = PARAMETERS.get(line["distribution"])
            value = line.get(parameter) if parameter else None
            method = (line["scales"], line["rotated"])
            kind = (line.get("target"), line.get("head_dim"))
            if kinds.setdefault((line["distribution"], value), kind) != kind:
                raise SystemExit(f"{path}: results of {kind} beside others of {line['distribution']}")
            key = (line["distribution"], value, method, line["keys"], line["seed"])
            if key in seen:
                raise SystemExit(f"{path}: {key} is there twice")
            seen.add(key)
            groups[line["distribution"], value][method][line["keys"]].append(line)
    return groups


def table(group: dict, metric: str) -> str:
    lengths = sorted({keys for lengths in group.values() for keys in lengths})
    rows = [["", *(f"{keys:,}" for keys in lengths)], ["---"] * (len(lengths) + 1)]
    for method in METHODS:
        if method in group:
            cells = [cell(group[method][keys], metric) for keys in lengths]
            rows.append([name_of(method), *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


PREAMBLE = """# What FP8 costs: all numbers

Printed by `bench/run_accuracy.py report`; what was measured and how: [accuracy.md](accuracy.md). In brackets
95 % bootstrap intervals over seeds; where no row flipped, up to three in as many rows."""


def describe(groups: dict) -> str:
    parts = [PREAMBLE]
    for (distribution, value), group in groups.items():
        where = "" if value is None else TITLES[PARAMETERS[distribution]](value)
        parts.append(f"## {distribution}{where}")
        first = next(iter(next(iter(group.values())).values()))[0]
        for metric, title in METRICS.items():
            if metric in first:
                parts.append(f"{title}, by keys:\n\n{table(group, metric)}")
    return "\n\n".join(parts)


def draw(groups: dict, directory, metric: str, name: str):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "wavesmith"})
    from matplotlib import pyplot

    shown = [
        ("bf16", False, "black", "-"),
        ("dynamic", False, "tab:blue", "-"),
        ("dynamic", True, "tab:blue", "--"),
        ("static", False, "tab:orange", "-"),
        ("static", True, "tab:orange", "--"),
        ("unit", False, "tab:red", "-"),
        ("unit", True, "tab:red", "--"),
    ]
    panels = [(key[0], group) for key, group in groups.items() if key[0] not in NOT_DRAWN]
    figure, axes = pyplot.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.4), sharey=True)
    for axis, (title, group) in zip(axes, panels, strict=True):
        for scales, rotated, colour, style in shown:
            lengths = sorted(group[scales, rotated])
            points = [interval(group[scales, rotated][keys], metric) for keys in lengths]
            values, low, high = zip(*points, strict=True)
            label = name_of((scales, rotated))
            axis.plot(lengths, values, color=colour, linestyle=style, label=label, linewidth=1.2)
            axis.fill_between(lengths, low, high, color=colour, alpha=0.12, linewidth=0)
        axis.axvline(1024, color="grey", linewidth=0.7, linestyle=":")
        axis.set_xscale("log", base=2)
        if metric == "relative":
            axis.set_yscale("log")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("keys", fontsize=9)
        axis.tick_params(labelsize=8)
    axes[0].set_ylabel(METRICS[metric], fontsize=9)
    axes[0].legend(fontsize=7, loc="center left")
    figure.tight_layout()
    figure.savefig(directory / name, metadata={"Date": None})


NOT_DRAWN = ("needle", "antiberty")


def report(paths, figures):
    groups = load(paths)
    print(describe(groups))
    if figures:
        draw(groups, figures, "relative", "accuracy-error.svg")
        draw(groups, figures, "flips", "accuracy-flips.svg")
