# SPDX-License-Identifier: MIT
"""What the course's pictures share: their look, and how they are written."""

import os
import pathlib
import re
import tempfile

# Readable on white and on a dark page alike: the pictures themselves have no background.
INK = "#7a7f86"


def pyplot(font_size):
    """matplotlib.pyplot, set up for SVG in the course's look."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot

    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",  # Text stays text: it can be searched, and scales well.
            "svg.hashsalt": "the course",  # The same data give the same file.
            "font.family": "sans-serif",
            "font.size": font_size,
            "text.color": INK,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.facecolor": "none",
            "xtick.color": INK,
            "ytick.color": INK,
            "grid.color": INK,
            "grid.alpha": 0.25,
            "legend.frameon": False,
            "legend.fontsize": 8,
        }
    )
    return matplotlib.pyplot


def without_frame(axis):
    """Leaves the axes that carry numbers, and no others."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def with_license(text):
    """The SVG with its license on the second line."""
    line = "<!-- SPDX-License-Identifier: CC-BY-SA-4.0 -->\n"
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return text.replace("?>\n", "?>\n" + line, 1)


def save(figure, path, dots_per_inch=200):
    """Writes the file whole or not at all: beside the old one, and then in its place."""
    path = pathlib.Path(path).resolve()
    handle, name = tempfile.mkstemp(suffix=".svg", dir=path.parent)
    os.close(handle)
    drawn = pathlib.Path(name)
    try:
        nameless = {"Date": None, "Creator": None}
        figure.savefig(drawn, transparent=True, dpi=dots_per_inch, metadata=nameless)
        drawn.write_text(with_license(drawn.read_text(encoding="utf-8")), encoding="utf-8")
        drawn.chmod(0o644)
        drawn.replace(path)
    finally:
        drawn.unlink(missing_ok=True)
