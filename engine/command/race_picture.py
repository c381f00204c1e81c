# SPDX-License-Identifier: MIT
"""Races as sequence diagrams: an SVG file, drawn from the chains in racecheck's findings.

Each thread, stream or the host is a line down. What it did stands on its line in its order; what two did
is ordered by arrows alone. A solid arrow is what the checker saw, a dashed one is what is missing.
"""

import math
import os

from engine.command.drawing import WIDTH, Figure, fitted
from engine.command.output import NO_BREAK, printable, say
from engine.command.paths import shown


def _index(index):
    return str(index[0]) if index[1:] == [0, 0] else "({},{},{})".format(*index)


def lane_name(lane):
    """'block 0 thread 30', 'kernel scale in stream 1, block 0 thread 30' or 'the host', for a lane."""
    thread = f"block {_index(lane['block'])} thread {_index(lane['thread'])}"
    work = lane.get("work", "")
    return thread if not work else f"{work}, {thread}" if work.startswith("kernel") else work


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
        lane = lane_name(chain["lanes"][event["lane"]])
        for arrow in chain["arrows"]:
            if arrow["to"] == number:
                for lack in arrow["lacks"]:
                    sentences.append(f"Here is missing: {lack['name']}; {lack['remedy']}.")
        sentences.append(f"{lane} {event['does']}, {line_of(event)}.".capitalize())
    return " ".join(sentences)


MOST_DRAWN = 20  # races of one picture
LANE_NAMES = "ABCD"
MARGIN = 12
LINE_HEIGHT = 17
LANE_WIDTH = 34
ROW_GAP = 12
MARK = 7  # from the middle of a mark to an arrow's end
MOST_CODE_LINES = 3
LEGEND = {"access": 74, "atomic": 72, "fence": 66, "barrier": 78}  # widths


def races_of(results):
    """[(program, finding)] of all races in what racecheck has found for each program."""
    return [
        (result["program"], finding)
        for result in results
        for finding in result.get("findings", ())
        if finding["kind"] == "race"
    ]


def race_figure(races, license_line=None):
    """The Figure of the first MOST_DRAWN of these races, one below the other."""
    drawn = races[:MOST_DRAWN]
    several_programs = len({program for program, _ in drawn}) > 1
    title = "A race" if len(drawn) == 1 else f"{len(drawn)} races"
    words = " ".join(printable(in_words(finding)) for _, finding in drawn)
    figure = Figure(math.inf, f"{title} that racecheck found", words, license_line)
    y = MARGIN
    for program, finding in drawn:
        name = os.path.basename(program).removesuffix("_racecheck") if several_programs else ""
        y = _Race(figure, finding, name, y).bottom + 2 * ROW_GAP
    end = _Legend(figure, y)
    end.add_legend([finding["chain"] for _, finding in drawn], len(races) - len(drawn))
    figure.end_at(round(end.bottom + MARGIN))
    return figure


def write_picture(races, picture, says=True):
    """Writes the picture of these races to an OutputFile, and says so; without a race there is none."""
    path = picture.path
    if not races:
        of_before = "; the one that is there is from before" if path.exists() else ""
        say(f"No race was found, so {shown(path)} is not written{of_before}.")
        return
    picture.write(race_figure(races).svg())
    if not says:
        return
    if len(races) == 1:
        say(f"The race is drawn in {shown(path)}.")
    elif len(races) <= MOST_DRAWN:
        say(f"The {len(races)} races are drawn in {shown(path)}, one below the other.")
    else:
        say(f"The first {MOST_DRAWN} of {len(races)} races are drawn in {shown(path)}.")


class _Column:
    """What is drawn into a figure from `bottom` down."""

    def __init__(self, figure, top):
        self.figure = figure
        self.bottom = top

    def add_paragraph(self, x, text, colour, code=False, bold=False, most_lines=None):
        width = WIDTH - MARGIN - x
        for line in fitted(printable(text), width, code=code, bold=bold, most_lines=most_lines):
            self.bottom += LINE_HEIGHT
            self.figure.label(x, self.bottom - 4, line, colour=colour, code=code, bold=bold)

    def add_arrow(self, is_missing, x_from, y_from, x_to, y_to):
        """Between two marks: solid where the order exists, dashed where it is missing."""
        length = max(math.hypot(x_to - x_from, y_to - y_from), 1)
        x, y = MARK * (x_to - x_from) / length, MARK * (y_to - y_from) / length
        ends = [(x_from + x, y_from + y), (x_to - x, y_to - y)]
        self.figure.arrow(ends, "red" if is_missing else "blue", is_missing, thickness=2)

    def add_mark(self, kind, x, y):
        if kind == "access":
            self.figure.dots([(x, y)], "orange", 5.5)
        elif kind == "fence":
            self.figure.bar(x - 4.5, y - 4.5, 9, 9, "ink")
        elif kind == "atomic":
            self.figure.area([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)], "ink")
        else:
            self.figure.bar(x - 8, y - 2.5, 16, 5, "blue")


class _Legend(_Column):
    def add_legend(self, chains, left_out):
        """What the marks and arrows of these chains mean."""
        if left_out:
            more = "1 more race is" if left_out == 1 else f"{left_out} more races are"
            self.add_paragraph(MARGIN, f"{more} not drawn.", "ink")
        used = {event["kind"] for chain in chains for event in chain["events"]}
        x, y = MARGIN + 8, self.bottom + LINE_HEIGHT
        for kind, width in LEGEND.items():
            if kind in used:
                self.add_mark(kind, x, y - 4)
                self.figure.label(x + 13, y, kind, colour="quiet")
                x += width
        x, y = MARGIN - 6, y + LINE_HEIGHT + 4
        arrows = {bool(arrow["lacks"]) for chain in chains for arrow in chain["arrows"]}
        for is_missing, words in (
            (False, "an order that exists"),
            (True, "an order that is missing"),
        ):
            if is_missing in arrows:
                self.add_arrow(is_missing, x, y - 4, x + 54, y - 4)
                self.figure.label(x + 55, y, words, colour="quiet")
                x += 216
        self.bottom = y + 6
        between_works = any(lane.get("work") for chain in chains for lane in chain["lanes"])
        rule = "Each line down is one thread. What two threads do is ordered by arrows alone."
        if between_works:
            rule = "Each line down is work in a stream, or the host. What two do is ordered by arrows alone."
        self.add_paragraph(MARGIN, rule, "quiet")


class _Race(_Column):
    """One race, from its heading down."""

    def __init__(self, figure, finding, program, top):
        super().__init__(figure, top)
        self.chain = finding["chain"]
        self.text_x = MARGIN + LANE_WIDTH * len(self.chain["lanes"]) + 6
        files = {event["file"] for event in self.chain["events"]}
        self.file = files.pop() if len(files) == 1 else ""
        self.rows = {}  # of events: their y
        self._add_heading(finding, program)
        first = self.bottom
        self._add_rows()
        for number in range(len(self.chain["lanes"])):
            x = self._x(number)
            figure.line([(x, first), (x, self.bottom)], "frame", thickness=1)
        self._add_arrows_and_marks()

    def _x(self, lane):
        return MARGIN + LANE_WIDTH * (lane + 0.5)

    def _add_heading(self, finding, program):
        of = f"{program}: " if program else ""
        heading = f"{of}race ({finding['memory']}) on {finding['object']}"
        self.add_paragraph(MARGIN, heading, "ink", bold=True)
        if self.file:
            self.add_paragraph(MARGIN, self.file, "quiet")
        self.bottom += ROW_GAP / 2
        lanes = self.chain["lanes"]
        for name, lane in zip(LANE_NAMES, lanes):
            top = self.bottom
            self.figure.label(MARGIN, top + LINE_HEIGHT - 4, name, bold=True)
            roles = " and ".join(lane["roles"])
            self.add_paragraph(MARGIN + 18, f"{lane_name(lane)} {roles}", "ink")
        self.bottom += ROW_GAP + LINE_HEIGHT
        for number, name in enumerate(LANE_NAMES[: len(lanes)]):
            self.figure.label(self._x(number), self.bottom - 4, name, "middle", bold=True)

    def _add_rows(self):
        events, arrows = self.chain["events"], self.chain["arrows"]
        for number, event in enumerate(events):
            for arrow in arrows:
                if arrow["to"] == number and (arrow["lacks"] or arrow["kind"] != "barrier"):
                    self._add_words_of(arrow)
            partner = _barrier_partner(arrows, number)
            if partner is not None and partner in self.rows:
                self.rows[number] = self.rows[partner]
                continue
            self.bottom += ROW_GAP
            self.rows[number] = self.bottom + 8
            self.add_paragraph(self.text_x, self._sentence(event, partner), "ink")
            if event["text"]:
                self.add_paragraph(
                    self.text_x, event["text"], "quiet", code=True, most_lines=MOST_CODE_LINES
                )
        self.bottom += ROW_GAP

    def _sentence(self, event, partner):
        name = LANE_NAMES[event["lane"]]
        where = line_of(event, self.file)
        if partner is None:
            return f"{name} {event['does']}, {where}"
        other = LANE_NAMES[self.chain["events"][partner]["lane"]]
        return f"{name} and {other} meet at a barrier, {where}"

    def _add_words_of(self, arrow):
        self.bottom += ROW_GAP
        for lack in arrow["lacks"]:
            self.add_paragraph(self.text_x, lack["name"], "red", bold=True)
            remedy = lack["remedy"].replace("line ", f"line{NO_BREAK}")
            self.add_paragraph(self.text_x, remedy, "red")
        if not arrow["lacks"]:
            self.add_paragraph(self.text_x, "release and acquire", "blue", bold=True)
        between = arrow["updates_between"]
        if between:
            atomics = "1 atomic" if between == 1 else f"{between:,} atomics"
            self.add_paragraph(self.text_x, f"handed on by {atomics} in between", "quiet")

    def _add_arrows_and_marks(self):
        events = self.chain["events"]
        for arrow in self.chain["arrows"]:
            ends = [
                (self._x(events[arrow[end]]["lane"]), self.rows[arrow[end]])
                for end in ("from", "to")
            ]
            self.add_arrow(bool(arrow["lacks"]), *ends[0], *ends[1])
        for number, event in enumerate(events):
            self.add_mark(event["kind"], self._x(event["lane"]), self.rows[number])


def _barrier_partner(arrows, event):
    """The other thread's event at the same barrier; None if `event` is none."""
    for arrow in arrows:
        ends = [arrow["from"], arrow["to"]]
        if arrow["kind"] == "barrier" and not arrow["lacks"] and event in ends:
            return ends[1 - ends.index(event)]
    return None
