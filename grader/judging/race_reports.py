# SPDX-License-Identifier: MIT
"""The race checker's report as a program has sent it: whole and as the checker writes it, or none.

The checker shares its process with a student's code. So nothing is believed that it could not have written,
and a report is one text: what comes twice, or has something before, around or after it, is none.
"""

from engine.command.untrusted_files import json_in
from grader.judging.runner import MOST_REPORT

# What each begins with, and what no part of one can have in it: JSON keeps a text's new lines apart.
HEAD = b'{\n "seed": '
MOST_LAUNCHES = 1000  # that the checker counts one by one, and as many calls of the host
MOST_STEPS = 100  # threads, events or arrows of one race: far more than there are


def _number(value):
    return type(value) is int and value >= 0


def _flag(value):
    return type(value) is bool


def _text(value):
    return type(value) is str


def _size(value):
    return type(value) is list and len(value) == 3 and all(map(_number, value))


def _pieces(value):
    return type(value) is list and all(_number(each) and each < 1 << 63 for each in value)


def _object_of(optional=(), **checks):
    def check(value):
        return (
            type(value) is dict
            and value.keys() <= checks.keys() <= value.keys() | set(optional)
            and all(checks[name](each) for name, each in value.items())
        )

    return check


_of_blocks = _object_of(total=_number, most_per_block=_number)
_of_threads = _object_of(total=_number, most_per_block=_number, most_per_thread=_number)
_launch = _object_of(
    optional=("unseen_bytes_stored", "loaded"),
    kernel=_text,
    file=_text,
    line=_number,
    blocks=_size,
    threads=_size,
    completed=_flag,
    blocks_begun=_number,
    static_shared_bytes=_number,
    dynamic_shared_bytes=_number,
    unseen_bytes_stored=_number,
    loaded=_pieces,
    **{
        f"{space}_{what}": _of_threads
        for space in ("global", "shared")
        for what in ("loads", "stores", "atomics")
    },
    fences=_of_threads,
    global_bytes_loaded=_of_blocks,
    global_bytes_stored=_of_blocks,
    block_barriers=_of_blocks,
    warp_barriers=_of_blocks,
    grid_barriers=_of_blocks,
)


def _launches(value):
    return type(value) is list and len(value) <= MOST_LAUNCHES and all(map(_launch, value))


def _calls(value):
    return type(value) is list and len(value) <= MOST_LAUNCHES and all(map(_text, value))


def _findings(value):
    """What they are made of, merge_reports looks at, which reads them all."""
    return type(value) is list and all(map(_has_short_chain, value))


def _has_short_chain(finding):
    chain = finding.get("chain", {}) if type(finding) is dict else None
    return type(chain) is dict and all(
        type(each) is list and len(each) <= MOST_STEPS for each in chain.values()
    )


_report = _object_of(
    seed=_number,
    launches=_number,
    failed_launches=_number,
    ended_in_kernel=_flag,
    ended_by_time=_flag,
    accesses=_number,
    forgotten_reads=_number,
    why_lines_are_missing=_text,
    findings=_findings,
    launch_counts=_launches,
    runtime_calls=_calls,
    number_of_runtime_calls=_number,
    unfreed_allocations=_number,
)


def report_in(content):
    """The report that these bytes are; None if they are none."""
    # With one in another, the checker's own could become a part of what a submission sends.
    is_one = content.rfind(HEAD) == 0 and content.endswith(b"}\n")
    if len(content) > MOST_REPORT or not is_one:
        return None
    made = json_in(content)
    return made if _report(made) else None
