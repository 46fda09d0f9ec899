# SPDX-License-Identifier: GPL-2.0
"""Plots of what run.py measured."""

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt                             # noqa: E402

STYLE = {"gpu": "o-", "ring": "s--", "post": "^:"}
LABEL = {"gpu": "GPU posts and rings", "ring": "GPU posts, CPU rings", "post": "CPU posts and rings"}


def curves(axes, title, xlabel, points, value):
    """One curve for each way; points are (x, key), value is a function of way and key."""
    for way, style in STYLE.items():
        axes.plot([x for x, _ in points], [value(way, key) for _, key in points], style,
                  label=LABEL[way])
    axes.set(title=title, xlabel=xlabel)
    axes.set_xscale("log", base=2)
    axes.grid(alpha=0.3)


def by_size(figures, operation, peers):
    """Points of an operation among so many peers."""
    return [(size, (peers, size)) for p, size in figures.points(operation) if p == peers]


def by_peers(figures, operation, size):
    """Points of an operation with messages of a size."""
    return [(peers, (peers, size)) for peers, s in figures.points(operation) if s == size]


def draw(figures, path, note):
    """Writes latency.svg and rate.svg to a folder; note stands below each."""
    def latency(operation):
        return lambda way, key: figures.latency(operation, way, *key) / 1000

    def rate(operation):
        return lambda way, key: figures.rate(operation, way, *key)

    most = max(peers for peers, _ in figures.points("alltoall"))
    pages = {
        "latency": ("us", latency, [
            ("put", "bytes", by_size(figures, "put", 1)),
            ("put-signal", "bytes", by_size(figures, "put-signal", 1)),
            ("alltoall", "bytes", by_size(figures, "alltoall", most)),
            ("alltoall", "peers", by_peers(figures, "alltoall", 8)),
            ("dispatch", "bytes", by_size(figures, "dispatch", most)),
            ("combine", "bytes", by_size(figures, "combine", most))]),
        "rate": ("million messages/s", rate, [
            ("rate", "queues", by_peers(figures, "rate", 8)),
            ("rate-merged", "queues", by_peers(figures, "rate-merged", 8)),
            ("rate", "bytes", by_size(figures, "rate", most)),
            ("rate-merged", "bytes", by_size(figures, "rate-merged", most))]),
    }
    for name, (unit, value, plots) in pages.items():
        height = 3.6 * len(plots) / 2
        figure, grid = plt.subplots(len(plots) // 2, 2, figsize=(11, height))
        for axes, (operation, xlabel, points) in zip(grid.flat, plots):
            what = f"{points[0][1][0]} peers" if xlabel == "bytes" else f"{points[0][1][1]} bytes"
            curves(axes, f"{operation}, {what}", xlabel, points, value(operation))
            axes.set_ylabel(unit)
            axes.set_yscale("log")
        grid.flat[0].legend()
        figure.text(0.01, 0.005, note, fontsize=6, va="bottom")
        figure.tight_layout(rect=(0, 0.8 / height, 1, 1))
        figure.savefig(path / f"{name}.svg", metadata={"Date": None})
        plt.close(figure)
