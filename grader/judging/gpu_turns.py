# SPDX-License-Identifier: MIT
"""Who may use the GPU: many that only want results, or one whose time is taken."""

import contextlib
import threading


class GpuTurns:
    """Of one process. Who wants it alone waits for those that share it, and lets no new ones begin."""

    def __init__(self):
        self.changes = threading.Condition()
        self.sharing, self.wanting_alone = 0, 0
        self.is_taken = False

    @contextlib.contextmanager
    def shared(self):
        with self.changes:
            self.changes.wait_for(lambda: not self.is_taken and not self.wanting_alone)
            self.sharing += 1
        try:
            yield
        finally:
            with self.changes:
                self.sharing -= 1
                self.changes.notify_all()

    @contextlib.contextmanager
    def alone(self):
        with self.changes:
            self.wanting_alone += 1
            self.changes.wait_for(lambda: not self.is_taken and not self.sharing)
            self.wanting_alone -= 1
            self.is_taken = True
        try:
            yield
        finally:
            with self.changes:
                self.is_taken = False
                self.changes.notify_all()


GPU_TURNS = GpuTurns()
