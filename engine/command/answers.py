# SPDX-License-Identifier: MIT
"""What the threads of a pool have made, for a thread that waits for it.

By queues, and not by futures: Ctrl-C can come while the lock of a future is being taken, which then stays
so, and both threads would wait for ever.
"""

import queue


def put_answer(ended, name, function, *words):
    """Puts (name, what the function returns, what it raises) into the queue. For a thread of a pool."""
    try:
        ended.put((name, function(*words), None))
    except BaseException as problem:  # it belongs to the thread that waits
        ended.put((name, None, problem))


def answers_as_ended(pool, function, items):
    """Begins function(item) for each of these items, and yields (its number among them, what it returns,
    what it raises) of each as it ends."""
    ended, begun = queue.SimpleQueue(), 0
    for item in items:
        pool.submit(put_answer, ended, begun, function, item)
        begun += 1
    for _ in range(begun):
        yield ended.get()
