# SPDX-License-Identifier: MIT
"""What is taken off for a submission that comes late, by a rule that the instructor writes in a file."""

import datetime
import fractions
import json
import math
import pathlib
import zoneinfo
from time import localtime, strftime
from typing import NamedTuple, Optional

from engine.command.errors import WRONG_USE, CommandError
from engine.command.json_files import json_object

SECONDS = {"day": 24 * 60 * 60, "hour": 60 * 60}
FORM = "%Y-%m-%d %H:%M"
MOST_GRACE = 7 * 24 * 60  # minutes


class LateRule(NamedTuple):
    facts: dict  # the file, which docs/grading.md describes
    due: float  # seconds since 1970
    zone: datetime.tzinfo

    @property
    def end(self):
        """Until then nothing is late."""
        return self.due + self.facts["grace_minutes"] * 60

    def penalty(self, time, points):
        """What becomes of these points of a file that was handed in at that time; None if it is not late."""
        if time <= self.end:
            return None
        per = self.facts["per"]
        started = math.ceil((time - self.due) / SECONDS[per])
        percent = min(_exact(self.facts["percent"]) * started, _exact(self.facts["most_percent"]))
        return {
            "handed_in": shown_time(time, self.zone),
            "started": started,
            "per": per,
            "percent": int(percent) if percent.denominator == 1 else float(percent),
            "points_before": points,
            # In the student's favour: what is taken off is rounded down.
            "taken_off": math.floor(points * percent / 100),
        }


def read_late_rule(path):
    """The LateRule in a JSON file. Raises CommandError, one sentence."""
    keys = ("due", "time_zone", "grace_minutes", "percent", "per", "most_percent")
    try:
        facts = json_object(pathlib.Path(), path, keys, others=False)
    except OSError as error:
        raise CommandError(
            f"--late-rule {path} can't be read: {error.strerror}.", WRONG_USE
        ) from error
    except (CommandError, RecursionError) as error:
        why = error if isinstance(error, CommandError) else f"{path}: it can't be read as JSON."
        raise CommandError(f"--late-rule {why}", WRONG_USE) from error

    def require(is_right, key, expected):
        if not is_right:
            value = json.dumps(facts[key], ensure_ascii=False)
            raise CommandError(
                f"--late-rule {path}: {key} is {value}, and {expected} is expected.", WRONG_USE
            )

    for key, least, most in (
        ("grace_minutes", 0, MOST_GRACE),
        ("percent", 0, 100),
        ("most_percent", 0, 100),
    ):
        is_number = type(facts[key]) in (int, float) and least <= facts[key] <= most
        require(is_number, key, f"a number from {least} to {most}")
    require(facts["per"] in ("day", "hour"), "per", '"day" or "hour"')
    zone = _zone(facts["time_zone"])
    require(zone, "time_zone", 'a name that this machine knows, such as "Europe/Berlin",')
    due = time_of(facts["due"], zone)
    require(due is not None, "due", 'a time, such as "2026-12-01T23:59",')
    return LateRule(facts, due, zone)


def time_of(text, zone=None) -> Optional[float]:
    """In seconds since 1970; None if it is no time. A time without a zone is one in `zone`, or else this
    machine's; a day lasts until its end."""
    try:
        try:
            day = datetime.date.fromisoformat(text)
            time = datetime.datetime.combine(day, datetime.time.max)
        except ValueError:  # it is a day and a time
            time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return (time if time.tzinfo else time.replace(tzinfo=zone)).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def shown_time(time, zone=None):
    """'2026-12-01 23:59', in the zone or else in this machine's."""
    try:
        return datetime.datetime.fromtimestamp(time, zone).strftime(FORM)
    except (ValueError, OverflowError, OSError):  # a file may claim to be of the year 33658
        return strftime(FORM, localtime(time))


def _zone(name):
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, TypeError, OSError, AttributeError):
        return None


def _exact(number):
    """0.1 as one tenth."""
    return fractions.Fraction(str(number))
