# SPDX-License-Identifier: MIT
"""Recorded runs of `./lab bench`: reading them, and the figures that follow from them."""

import json
import pathlib

DEFINITION = json.loads(
    pathlib.Path(__file__).with_name("recorded_run.schema.json").read_text(encoding="utf-8")
)
FORMAT = DEFINITION["properties"]["format"]["const"]
FIELDS = set(DEFINITION["required"])


class RunError(Exception):
    """One sentence on what is wrong with a recorded run, or with what is asked of it."""


def load(path):
    """The recorded run in this file, which may be anybody's. Throws RunError. Needs jsonschema."""
    run = load_course_run(path)
    for problem in problems(run):
        raise RunError(f"{path}: {problem}.")
    return run


def load_course_run(path):
    """A recorded run of the course itself, by the standard library alone: that it is as the schema
    says is tested. Throws RunError."""
    path = pathlib.Path(path)
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise RunError(f"{path} is no JSON: {error}.") from error
    missing = FIELDS - set(run) if isinstance(run, dict) else FIELDS
    if missing:
        raise RunError(f"{path} is no recorded run: it has no {', '.join(sorted(missing))}.")
    if run["format"] != FORMAT:
        raise RunError(f"{path} has format {run['format']}, and this is for format {FORMAT}.")
    if not run["rows"]:
        raise RunError(f"{path} has no rows.")
    return run


def problems(run):
    """What of `run` is not as the schema says: sentences without a full stop. Needs jsonschema."""
    try:
        from jsonschema import Draft202012Validator, validators
    except ImportError as error:
        raise RunError("jsonschema is not here; ./lab plot FILE.json installs it.") from error
    # To JSON Schema 4.0 is an integer, which has no bit_length().
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: type(value) is int
    )
    validator = validators.extend(Draft202012Validator, type_checker=types)(DEFINITION)
    return map(_sentence, validator.iter_errors(run))


def _sentence(error):
    """An error of jsonschema, with the place of the value as in rows[3].name."""
    place = error.json_path.lstrip("$.") or "it"
    value, wanted = error.instance, error.validator_value
    if error.validator == "type":
        return f"{place} is no {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    if error.validator == "enum":
        return f"{place} is {value!r}, and none of {', '.join(map(repr, wanted))}"
    if error.validator == "minimum":
        return f"{place} is {value}, and less than {wanted}"
    if error.validator == "required":
        return f"{place} has no {', '.join(sorted(set(wanted) - set(value)))}"
    if error.validator == "additionalProperties":
        unknown = sorted(set(value) - set(error.schema["properties"]))
        return f"{place} has {', '.join(unknown)}, which the format does not know"
    return f"{place}: {error.message}"


def size_of(row):
    """How large a row is: what varies in the CPU backend's own benchmark is the number of threads."""
    return row.get("threads", row["elements"])


def bandwidth(row):
    """Gigabytes (10^9 bytes) a second; 0 where no bytes are counted."""
    return row["bytes"] / (row["median_ms"] * 1e6)


def bandwidth_text(row):
    return f"{three_digits(bandwidth(row))} GB/s" if row["bytes"] else ""


def share_of_copy(run, row):
    """The share of the bandwidth of the run's copy from device to device, in words."""
    return _percent(row, bandwidth(run["copy"]) if "copy" in run else None)


def share_of_peak(run, row):
    """Of what the memory's clock and bus allow, in words; none if the driver did not say."""
    return _percent(row, run.get("device", {}).get("theoretical_gigabytes_per_second"))


def _percent(row, whole):
    return f"{100 * bandwidth(row) / whole:.0f} %" if whole and row["bytes"] else ""


def quartiles(row):
    return row["lower_quartile_ms"], row["upper_quartile_ms"]


def ratio_to(row, other):
    """The row's ratio to the time of `other`, as recorded, or None."""
    return next((ratio for ratio in row["ratios"] if ratio["to"] == other), None)


def place_of(run):
    """What the run ran on, in words: 'NVIDIA H200, 132 SMs, driver 580.1, CUDA 13.0, CCCL 3.5.0'."""
    device = run["device"]
    if run["backend"] == "cuda":
        words = [device["name"], f"{device['multiprocessors']} SMs"]
        words += [f"driver {run['driver']}"] if run.get("driver") else []
        words += [f"CUDA {run['cuda_runtime']}"]
        words += [
            f"{name} {run[name.lower()]}" for name in ("CCCL", "cuBLAS") if name.lower() in run
        ]
        return ", ".join(words)
    machine = run["machine"]
    return f"{machine['processor']}, {machine['cores']} cores, {run['compiler']}"


def commit_of(run):
    """'commit abc1234', and whether the files had changed since."""
    if not run["commit"]:
        return "no commit"
    changed = " with changes" if run.get("tree_has_changes") else ""
    return f"commit {run['commit'][:7]}{changed}"


def caption(run, *remarks):
    source = f"{place_of(run)}; {run['date'][:10]}, {commit_of(run)}"
    about = f"Medians of {run['rounds']} rounds on {source}: `{run['command']}`."
    return " ".join([about, *remarks])


def size_text(elements):
    is_power = elements >= 1024 and elements & (elements - 1) == 0
    return f"2^{elements.bit_length() - 1}" if is_power else f"{elements:,}"


def duration(*milliseconds):
    """'4.02 µs' or '3.99 to 4.10 µs': three digits, in the last one's unit."""
    unit, factor = next(
        (unit, factor)
        for unit, factor in (("ms", 1), ("µs", 1e3), ("ns", 1e6))
        if milliseconds[-1] * factor >= 1 or unit == "ns"
    )
    return f"{' to '.join(three_digits(value * factor) for value in milliseconds)} {unit}"


def three_digits(value):
    if value < 0.995:
        return f"{value:.2g}"
    return f"{value:,.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"
