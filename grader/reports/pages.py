# SPDX-License-Identifier: MIT
"""An HTML page that needs nothing else: no script, no other file."""

import html

STYLE = """
:root { color-scheme: light dark; --line: #8888; --full: #1a7f37; --less: #b35900; --bar: #4a78b5; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { font: 14px/1.45 ui-monospace, monospace; border: 1px solid var(--line); padding: .7rem;
  overflow-x: auto; }
h3 { margin-bottom: .3rem; } .full { color: var(--full); } .less { color: var(--less); }
table { border-collapse: collapse; } td, th { border-bottom: 1px solid var(--line);
  padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
svg.plot text { font: 13px system-ui, sans-serif; fill: currentColor; }
svg.plot rect { fill: var(--bar); } svg.plot line { stroke: var(--line); }
"""


def page(title, body):
    """The page; `body` is HTML, `title` plain text."""
    title = html.escape(title)
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{title}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )
