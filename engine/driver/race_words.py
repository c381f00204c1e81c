# SPDX-License-Identifier: MIT
"""What a race's chain says in words."""

import os

NO_BREAK = "\u00a0"  # a space at which no line ends


def printable(text):
    """The text with a space for each letter that XML may not hold, and for each end of a line."""
    return "".join(letter if letter.isprintable() or letter == NO_BREAK else " " for letter in text)


def _index(index):
    return str(index[0]) if index[1:] == [0, 0] else "({},{},{})".format(*index)


def thread_name(lane):
    """'block 0 thread 30' for a lane of a chain."""
    return f"block {_index(lane['block'])} thread {_index(lane['thread'])}"


def line_of(event, file=""):
    """Where an event is: 'a.cu:15', or 'line 15' if all of the picture is about this file."""
    if not event["file"]:
        return "at a line that the compiler does not name"
    if file:
        return f"line {event['line']}"
    return f"{os.path.basename(event['file'])}:{event['line']}"


def in_words(finding):
    """The chain for a reader who does not see the picture."""
    chain = finding["chain"]
    sentences = [f"Race ({finding['memory']}) on {finding['object']}."]
    for number, event in enumerate(chain["events"]):
        lane = thread_name(chain["lanes"][event["lane"]])
        for arrow in chain["arrows"]:
            if arrow["to"] == number:
                for lack in arrow["lacks"]:
                    sentences.append(f"Here is missing: {lack['name']}; {lack['remedy']}.")
        sentences.append(f"{lane} {event['does']}, {line_of(event)}.".capitalize())
    return " ".join(sentences)
