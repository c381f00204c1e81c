# SPDX-License-Identifier: MIT
"""Showing the site to a browser of this machine."""

import functools
import http.server
import os
import re

from engine.command.errors import CommandError
from engine.command.output import say

ADDRESS = "127.0.0.1"  # no other machine is served
# How a browser of this machine names it. Another name is a page of somebody else's, whose server has
# let its own name lead here to read what is served.
OWN_NAMES = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.IGNORECASE)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a folder, and says nothing about each of them."""

    def log_message(self, *words):
        pass

    def send_head(self):
        names = self.headers.get_all("Host") or []
        if len(names) != 1 or not OWN_NAMES.fullmatch(names[0].strip()):
            self.send_error(421, "This server answers to 127.0.0.1 and localhost alone")
            return None
        path = self.translate_path(self.path)
        folder = os.path.realpath(self.directory)
        if "\0" in path or os.path.commonpath([folder, os.path.realpath(path)]) != folder:
            self.send_error(404, "There is no such page")
            return None
        return super().send_head()


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
