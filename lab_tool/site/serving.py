# SPDX-License-Identifier: MIT
"""Showing the site to a browser of this machine."""

import functools
import http.server

from engine.driver.errors import CommandError
from engine.driver.output import say

ADDRESS = "127.0.0.1"  # no other machine is served


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and says nothing about each of them."""

    def log_message(self, *words):
        pass


def serve(folder, port):
    """Serves the folder until Ctrl-C. Port 0 takes any free one."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer((ADDRESS, port), handler)
    except OSError as error:
        raise CommandError(
            f"port {port} can't be used ({error.strerror}); ./lab site --serve --port 0 takes a free one."
        ) from error
    with server:
        say(f"http://{ADDRESS}:{server.server_address[1]}/  (Ctrl-C ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("")
    return 0
