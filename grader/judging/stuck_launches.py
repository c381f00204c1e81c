# SPDX-License-Identifier: MIT
"""A launch that did not come to its end: where its threads are, out of the backend's records of it."""

import textwrap

from engine.command.diagnostics import sentences

MOST_PLACES = 3


def places_of_threads(records, width):
    """Lines that say where threads wait or run, and why a loop need never end; [] if none is known."""
    places, remarks = [], []
    for record in records:
        at, block, thread = map(record.fields.get, ("at", "block", "thread"))
        if record.kind == "late_block" and block:
            remarks += textwrap.wrap(f"Block {block} {record.sentence}.", width)
        if not (at and block and thread):
            continue
        if record.kind == "waiting":
            more = record.fields.get("more")
            who = f"thread {thread} and {more} more wait" if more else f"thread {thread} waits"
            awaits = record.fields["awaits"]
            place = f"block {block} {who} {sentences()[awaits]}    line {at.line}"
            places.append((awaits != "a_value_in_memory", place))
        elif record.is_stop:
            places.append((False, f"block {block} thread {thread} is in a loop    line {at.line}"))
        elif record.kind == "plain_poll":
            if record.fields["poll"] == "loops_without_reading":
                remarks.append("The compiler reads what it waits for once, before the loop.")
            remarks += textwrap.wrap(f"Such a loop {sentences()['without_an_atomic']}.", width)
    lines = [place for _, place in places]
    if len(places) > MOST_PLACES:
        # Those in loops: whoever waits at a barrier waits for them.
        lines = [place for _, place in sorted(places, key=lambda each: each[0])[:MOST_PLACES]]
        more = len(places) - MOST_PLACES
        lines.append(f"and {more} more place{'s' * (more != 1)}")
    return lines + remarks
