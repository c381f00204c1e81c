# SPDX-License-Identifier: MIT
"""A launch that did not come to its end: where its threads are, out of the backend's report of it."""

import re
import textwrap

MOST_PLACES = 3

# Each ends in the line of the source, which is the student's or one of the course's headers.
BLOCK = re.compile(r" +block \((\d+),\d+,\d+\):$")
WAITING = re.compile(
    r" +thread \((\d+),\d+,\d+\)(?: and (\d+) more)? ((?:at|for) [^,]+), .*:(\d+)$"
)
RUNNING = re.compile(r" +block \((\d+),\d+,\d+\), thread \((\d+),\d+,\d+\): Stopped at .*:(\d+): ")
READS_ONCE = re.compile(
    r" +block \d+ thread \d+ loops at .*, and the loop does not read memory again$"
)
POLLS = re.compile(r" +(?:the|if it waits for that value, its) loop (polls without an atomic, .*)$")


def places_of_threads(output, width):
    """Lines that say where threads wait or run, and why a loop need never end; [] if none is known."""
    places, remarks = [], []
    block = None
    for line in output.splitlines():
        if match := BLOCK.match(line):
            block = match[1]
        elif (match := WAITING.match(line)) and block is not None:
            thread, more, what, number = match.groups()
            who = f"thread {thread} and {more} more wait" if more else f"thread {thread} waits"
            places.append(f"block {block} {who} {what}    line {number}")
        elif match := RUNNING.match(line):
            places.append(f"block {match[1]} thread {match[2]} is in a loop    line {match[3]}")
        elif READS_ONCE.match(line):
            remarks.append("The compiler reads what it waits for once, before the loop.")
        elif match := POLLS.match(line):
            remarks += textwrap.wrap(f"Such a loop {match[1]}.", width)
    if len(places) > MOST_PLACES:
        places[MOST_PLACES:] = [f"and {len(places) - MOST_PLACES} more places"]
    return places + remarks
