# SPDX-License-Identifier: MIT
"""A launch that did not come to its end: where its threads are, out of the backend's records of it."""

import textwrap

from engine.driver.diagnostics import sentences

MOST_PLACES = 3


def places_of_threads(records, width):
    """Lines that say where threads wait or run, and why a loop need never end; [] if none is known."""
    places, remarks = [], []
    for record in records:
        at, block, thread = map(record.fields.get, ("at", "block", "thread"))
        if not (at and block and thread):
            continue
        if record.kind == "waiting":
            more = record.fields.get("more")
            who = f"thread {thread} and {more} more wait" if more else f"thread {thread} waits"
            what = sentences()[record.fields["awaits"]]
            places.append(f"block {block} {who} {what}    line {at.line}")
        elif record.is_stop:
            places.append(f"block {block} thread {thread} is in a loop    line {at.line}")
        elif record.kind == "plain_poll":
            if record.fields["poll"] == "loops_without_reading":
                remarks.append("The compiler reads what it waits for once, before the loop.")
            remarks += textwrap.wrap(f"Such a loop {sentences()['without_an_atomic']}.", width)
    if len(places) > MOST_PLACES:
        places[MOST_PLACES:] = [f"and {len(places) - MOST_PLACES} more places"]
    return places + remarks
