# SPDX-License-Identifier: MIT
"""Many runs of one racecheck program by one process, which makes a child for each
(engine/cpu_backend/scheduled/forked_runs.hpp)."""

import contextlib
import os
import pathlib
import select
import socket
import subprocess
import tempfile
import threading
import time

from engine.command.processes import AT_ONCE, BoundedRun, kill_all_of

READY = b"ready"


class RunServer:
    """The process, one of `programs`, which begins with its first run. From any thread, and several runs at a
    time.

    The runs begin before anything of the program's own has run, or else `at_launch`: then they are the same
    up to the first launch. To be closed.
    """

    def __init__(self, command, environment, programs, at_launch=False):
        self._command, self._environment = [*map(str, command)], environment
        self._programs, self._at_launch = programs, at_launch
        self._begins, self._process, self._is_ready = threading.Lock(), None, False
        self._asks, self._folder = None, None
        self._before = b""  # what was printed before the runs part

    def run(self, settings, seconds, most_output, given=b""):
        """A BoundedRun with these variables; None if there can be no such run, or all were ended.

        `settings` may have the number of an argument instead of a variable's name. The last `most_output`
        bytes of what it prints are kept. After so many seconds it is killed, unless they are None.
        """
        if not self._can_serve():
            return None
        answer, told = socket.socketpair()
        reading, printing = os.pipe()
        with answer, open(reading, "rb", buffering=0) as printed:
            words = "".join(f"{name}={value}\0" for name, value in settings.items())
            try:
                with told, open(printing, "wb"), tempfile.TemporaryFile() as standard_input:
                    standard_input.write(given)
                    standard_input.seek(0)
                    passed = [standard_input.fileno(), printing, told.fileno()]
                    socket.send_fds(self._asks, [os.fsencode(words) or b"\0"], passed)
            except OSError:
                return None
            return self._watched(answer, printed, seconds, most_output)

    def _can_serve(self):
        with self._begins:
            if not self._process:
                self._start()
            return self._is_ready

    def _start(self):
        self._folder = tempfile.TemporaryDirectory(prefix="lab-runs-")
        before, lines = (pathlib.Path(self._folder.name, each) for each in ("before", "lines"))
        self._asks, asked = socket.socketpair(type=socket.SOCK_SEQPACKET)
        own = {
            "LAB_RUNS_AT_LAUNCH" if self._at_launch else "LAB_RUNS": str(asked.fileno()),
            "LAB_LINES": str(lines),
            "LD_BIND_NOW": "1",  # functions are looked up once, and not in each child at their first call
        }
        with asked, before.open("wb") as printed:
            self._process = self._programs.start(
                self._command,
                self._end,
                env={**self._environment, **own},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                pass_fds=(asked.fileno(),),
            )
        with contextlib.suppress(OSError):
            self._is_ready = self._asks.recv(len(READY)) == READY
        self._before = before.read_bytes()

    def _watched(self, answer, printed, seconds, most_output):
        end = None if seconds is None else time.monotonic() + seconds
        answered, kept, total, is_killed = b"", self._before, len(self._before), False
        events = select.poll()
        for each in (answer, printed):
            events.register(each, select.POLLIN)
        while answered.count(b"\n") < 2:
            left = None if end is None else max(0, 1000 * (end - time.monotonic()))
            ready = [descriptor for descriptor, _ in events.poll(left)]
            if not ready:
                is_killed, end = True, None
                answer.shutdown(socket.SHUT_WR)
            if printed.fileno() in ready:
                part = printed.read(AT_ONCE)
                kept, total = (kept + part)[-most_output:], total + len(part)
                if not part:
                    events.unregister(printed)
            if answer.fileno() in ready:
                part = answer.recv(AT_ONCE)
                if not part:
                    return None
                answered += part
        os.set_blocking(printed.fileno(), False)
        while part := printed.read(AT_ONCE):
            kept, total = (kept + part)[-most_output:], total + len(part)
        code = None if is_killed else int(answered.split()[1])
        return BoundedRun(code, kept.decode(errors="replace"), total - len(kept))

    def _end(self, process):
        """From any thread: it ends its runs, if it has come so far, and itself."""
        if self._is_ready:
            with contextlib.suppress(OSError):
                self._asks.shutdown(socket.SHUT_RDWR)
        else:
            kill_all_of(process)

    def close(self):
        if self._process:
            self._end(self._process)
            self._process.wait()
            kill_all_of(self._process)
            self._programs.forget(self._process)
            self._asks.close()
            self._folder.cleanup()
