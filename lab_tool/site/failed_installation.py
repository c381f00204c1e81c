# SPDX-License-Identifier: MIT
"""Why an installation from PyPI failed, in one sentence, out of what pip or venv printed."""

import re

# In this order: pip reports a full disk in the middle of other messages.
CAUSES = [
    (
        r"No space left on device|Errno 28|Disk quota exceeded",
        "the disk is full; make room, and run the command again",
    ),
    (
        r"Read-only file system|Errno 30",
        "the folder of the course can't be written; copy the course to one that can",
    ),
    (
        r"Permission denied|Errno 13",
        "you have no right to write into the folder .venv of the course",
    ),
    (
        r"ensurepip is not|No module named venv|No module named ensurepip",
        "Python's venv is not here; on Debian and Ubuntu the package python3-venv has it",
    ),
    (
        r"ProxyError|Cannot connect to proxy|Tunnel connection failed|Proxy Authentication",
        "the proxy refused the connection; the variables HTTPS_PROXY and https_proxy name it",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification",
        "the certificate of the package index is not trusted here; if a proxy has one of its own, "
        "the variable PIP_CERT names the file",
    ),
    (
        r"name resolution|Name or service not known|NewConnectionError|Network is unreachable|"
        r"Connection refused|Connection reset|ConnectTimeout|ReadTimeout|timed out|nodename nor servname",
        "there is no connection to the package index; with a network, or with the wheels in a folder "
        "that the variable PIP_FIND_LINKS names, run the command again",
    ),
    (
        r"requires a different Python|Requires-Python|No matching distribution|"
        r"Could not find a version",
        "the package index has no version that fits this Python",
    ),
]


def cause_of(lines):
    """The cause and what to do, in words; None if the lines name none that is known."""
    text = "\n".join(lines)
    return next((words for pattern, words in CAUSES if re.search(pattern, text, re.I)), None)
