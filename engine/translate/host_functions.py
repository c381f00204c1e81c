# SPDX-License-Identifier: MIT
"""Host functions that are called where only the device runs, which nvcc refuses.

A call is refused where it is sure to be one: of a function of the standard library that has no form for
the device, or of a function of the program that is defined without `__device__` and that nothing else in
the program is named like. nvcc minds neither calls in `__host__ __device__` functions nor those that are
not evaluated, nor functions that it never compiles.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from device_code import BUILT_IN_TYPES, Declaration, DeviceCode, after_template
from source_text import (
    ATTRIBUTES,
    CLASS_KEYS,
    MARKER,
    WORD,
    SourceText,
    is_below,
    is_name,
    is_word,
)

# Functions of namespace std that nvcc refuses in device code, and that CUDA has no overload of. (It has
# of std::abs and the other mathematical ones; std::move and std::forward it lets pass.)
STANDARD = set(
    """accumulate addressof adjacent_difference adjacent_find advance all_of any_of as_const
    binary_search bit_cast bit_ceil bit_floor bit_width clamp copy copy_backward copy_if copy_n count
    count_if countl_one countl_zero countr_one countr_zero distance equal equal_range exchange
    exclusive_scan fill fill_n find find_end find_first_of find_if find_if_not for_each for_each_n gcd
    generate generate_n has_single_bit includes inclusive_scan inner_product inplace_merge iota is_heap
    is_partitioned is_permutation is_sorted is_sorted_until iter_swap lcm lexicographical_compare
    lower_bound make_heap make_pair make_tuple max max_element merge midpoint min min_element minmax
    minmax_element mismatch next_permutation none_of nth_element partial_sort partial_sum partition
    partition_copy partition_point pop_heap popcount prev_permutation push_heap rand reduce remove_copy
    remove_if replace replace_copy replace_if reverse reverse_copy rotate rotate_copy rotl rotr search
    search_n set_difference set_intersection set_symmetric_difference set_union shift_left shift_right
    shuffle sort sort_heap stable_partition stable_sort swap swap_ranges tie to_string transform
    transform_reduce unique unique_copy upper_bound""".split()
)
CLASS_OF_LIMITS = "numeric_limits"
# What to write instead; of any other, a function of one's own.
INSTEAD = {
    "clamp": "write max(low, min(value, high))",
    "countl_zero": "use CUDA's __clz() or __clzll()",
    "exchange": "write the two assignments",
    "max": "use CUDA's max(), without std::",
    "min": "use CUDA's min(), without std::",
    "popcount": "use CUDA's __popc() or __popcll()",
    "swap": "write the three assignments",
    CLASS_OF_LIMITS: (
        "give the value a name outside of the function, as in 'constexpr int largest = ...;', or use "
        "INT_MAX, FLT_MAX and their like"
    ),
}
OWN_FUNCTION = "write a __device__ function that does it"

# What these are asked about is never evaluated.
UNEVALUATED = set("sizeof decltype alignof noexcept typeid requires __typeof__ __alignof__".split())
NO_FUNCTION_NAME = ATTRIBUTES | UNEVALUATED | {"explicit", "__declspec", "asm", "__asm__"}
DECLARES = set("typename class struct union enum using concept namespace".split())
TYPE_WORDS = BUILT_IN_TYPES | {"void", "auto", "const", "volatile"}
NAMESPACE = re.compile(rf"(?<![{WORD}])(inline\s+)?namespace(?![{WORD}])([{WORD}:\s]*)\Z")
LINKAGE = re.compile(r'^\s*extern\s*"_*"\s*\Z')
# In a header of the backend: a function behind its type, or what a macro makes functions of.
DECLARED_NAME = re.compile(rf"[{WORD}>]\s+[*&]*(?<!return )(?<!else )([{WORD}]+)\s*\(")
ARGUMENT_OF_MACRO = re.compile(rf"^ *[A-Z_]{{4,}}\(([{WORD}]+)", re.M)
# What CUDA has no name for.
OF_THE_BACKEND = re.compile(
    r"^namespace (cpu_backend[\w:]*) \{$.*?^\}  // namespace \1$", re.MULTILINE | re.DOTALL
)
# Functions of C's <math.h>: a kernel that calls one of its own by such a name may mean CUDA's.
MATHEMATICAL = re.compile(
    r"(?:abs|labs|llabs|div|a?(?:sin|cos|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp2?|exp10|expm1|fabs"
    r"|fdim|floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|isfinite|isinf|isnan|j[01n]|ldexp|lerp|lgamma"
    r"|l?l?rint|l?l?round|log(?:10|1p|2|b)?|modf|nan|nearbyint|nextafter|pow|remainder|remquo|scalbl?n"
    r"|signbit|sqrt|tgamma|trunc|y[01n])[fl]?\Z"
)


class Definition(NamedTuple):
    """A function at namespace scope that no marker gives to the device."""

    name: str
    name_start: int
    namespaces: tuple[str, ...]  # around it, as far as they have names of their own


class Call(NamedTuple):
    name: str
    start: int
    qualifiers: tuple[str, ...]  # the names before it; "" is the global namespace


class HostFunctions:
    """The calls of host functions in one translation unit. own_folder holds the backend's headers."""

    def __init__(self, text: SourceText, device_code: DeviceCode, own_folder: str):
        self.text = text
        self.device_code = device_code
        self.own_folder = own_folder
        self.alone: dict[str, bool] = {}  # what is_the_only_one() has said of each name

    def check(self) -> None:
        """Adds what is refused to the failures of the device code."""
        places = set()
        for body in self.device_code.bodies:
            if not body.runs_on_device_alone or self.is_ours(body.start):
                continue
            what = "kernel" if "global" in body.markers else "function"
            caller = "a __device__ lambda" if body.is_lambda else f"the {what} {body.name}"
            for call in self.calls(body):
                refused = self.of_standard(call) or self.of_program(call)
                place = (*self.text.place(call.start), call.name) if refused else None
                if refused and place not in places and self.is_compiled(body):
                    places.add(place)
                    code, arguments = refused
                    self.device_code.refuse(call.start, code, caller=caller, **arguments)

    @staticmethod
    def of_standard(call: Call) -> tuple[str, dict[str, str]] | None:
        """The refusal of a call of the standard library's."""
        if call.qualifiers[:1] != ("std",):
            return None
        is_of_limits = call.qualifiers[1:] == (CLASS_OF_LIMITS,)
        if not is_of_limits and (call.name not in STANDARD or len(call.qualifiers) > 1):
            return None
        instead = INSTEAD.get(CLASS_OF_LIMITS if is_of_limits else call.name, OWN_FUNCTION)
        name = "::".join((*call.qualifiers, call.name))
        return "standard_function_called", {"name": name, "instead": instead}

    def of_program(self, call: Call) -> tuple[str, dict[str, str]] | None:
        """The refusal of a call of the program's own."""
        found = self.definitions.get(call.name)
        if not found or not self.is_visible(call, found):
            return None
        if call.name not in self.alone:
            self.alone[call.name] = self.is_the_only_one(found)
        return ("host_function_called", {"name": call.name}) if self.alone[call.name] else None

    def is_ours(self, position: int) -> bool:
        return is_below(self.text.place(position)[0], self.own_folder)

    # ---- What calls

    def is_compiled(self, body: Declaration) -> bool:
        """Whether nvcc is sure to compile this function: a template, or one that is inline, only if
        the program uses it."""
        if body.is_lambda:
            return True
        if not is_name(body.name or ";") or body.name.startswith("operator"):
            return False
        scope = self.text.scope(body.start)
        is_template = after_template(self.text.masked, body.start) != body.start
        if "global" in body.markers and scope == "namespace" and not is_template:
            return True
        alike = [each for each in self.device_code.declarations if each.name == body.name]
        if scope == "class" and len(alike) > 1:
            return False
        return any(
            not any(each.start <= match.start() < each.end for each in alike)
            for match in self.text.own_words.get(body.name, ())
        )

    def calls(self, body: Declaration) -> Iterator[Call]:
        """What the body calls by a name, in code that is sure to be compiled and evaluated."""
        masked = self.text.masked
        tokens = self.text.tokens(body.body + 1, body.end - 1)
        texts = [token.text for token in tokens]
        skipped_to = 0
        for index, (text, start, _) in enumerate(tokens):
            if start < skipped_to:
                continue
            following = texts[index + 1] if index + 1 < len(texts) else ""
            if text in UNEVALUATED and following == "(":
                skipped_to = self.text.closing(tokens[index + 1].start)
            elif text == "if" and following == "constexpr":
                skipped_to = self.end_of_constexpr_if(tokens[index + 2].start)
            elif text in CLASS_KEYS or self.is_generic_lambda(texts, index):
                opening = masked.find("{", start)
                statement = masked.find(";", start)
                if opening != -1 and (statement == -1 or opening < statement):
                    skipped_to = self.text.closing(opening)
            elif is_name(text) and self.is_called(texts, index):
                qualifiers = self.qualifiers(texts, index)
                if qualifiers is not None and self.device_code.around(start) is body:
                    yield Call(text, start, qualifiers)

    @staticmethod
    def is_generic_lambda(texts: list[str], index: int) -> bool:
        """Whether a list of parameters with `auto` begins there, after a lambda's captures."""
        if texts[index] != "(" or index == 0 or texts[index - 1] != "]":
            return False
        return "auto" in itertools.takewhile(lambda text: text != ")", texts[index:])

    @staticmethod
    def is_called(texts: list[str], index: int) -> bool:
        following = index + 1
        if texts[following : following + 1] == ["<"]:  # template arguments, or a comparison
            open_lists = 0
            for following in range(index + 1, min(index + 60, len(texts))):
                open_lists += {"<": 1, ">": -1}.get(texts[following], 0)
                if texts[following] in (";", "{", "}", "&&", "||") or open_lists == 0:
                    break
            if open_lists != 0:
                return False
            following += 1
        return texts[following : following + 1] == ["("]

    @staticmethod
    def qualifiers(texts: list[str], index: int) -> tuple[str, ...] | None:
        """The names before the one at index; None where it is a member, or more than names."""
        found: list[str] = []
        while index > 0 and texts[index - 1] == "::":
            before = texts[index - 2] if index > 1 else ";"
            if before == ">":  # std::numeric_limits<int>::max
                opening = index - 2
                while opening > 0 and texts[opening] != "<":
                    opening -= 1
                if texts[opening - 1] != CLASS_OF_LIMITS:
                    return None
                found.insert(0, CLASS_OF_LIMITS)
                index = opening - 1
            elif is_name(before):
                found.insert(0, before)
                index -= 2
            else:
                found.insert(0, "")
                break
        if not found and index > 0 and texts[index - 1] in (".", "->", "~"):
            return None
        return tuple(found[1:] if found[:2] == ["", "std"] else found)

    def end_of_constexpr_if(self, position: int) -> int:
        """The position behind the statement whose condition begins there, with its branches."""
        position = self.text.closing(position) + 1
        while True:
            position = self.end_of_statement(position)
            token = self.text.next_token(position)
            if token.text != "else":
                return position
            position = token.end

    def end_of_statement(self, position: int) -> int:
        while True:
            token = self.text.next_token(position)
            if token.text in ("", ";", "}"):
                return token.end
            position = token.end
            if token.text in ("(", "[", "{"):
                position = self.text.closing(token.start) + 1
                if token.text == "{":
                    return position

    # ---- What is called

    @functools.cached_property
    def definitions(self) -> dict[str, list[Definition]]:
        """The functions of the program that are defined for the host alone, by their names."""
        masked = self.text.masked
        found: dict[str, list[Definition]] = {}
        scopes: list[tuple[str, ...]] = []
        depth_of_body = 0
        for brace in self.text.braces:
            if masked[brace] == "}":
                if depth_of_body:
                    depth_of_body -= 1
                elif scopes:
                    scopes.pop()
            elif depth_of_body:
                depth_of_body += 1
            else:
                start = self.text.head_start(brace)
                head = masked[start:brace]
                scope = NAMESPACE.search(head)
                if scope or LINKAGE.match(head):
                    names = scope[2].replace("::", " ").split() if scope and not scope[1] else ()
                    scopes.append(tuple(names))
                else:
                    depth_of_body = 1
                    around = tuple(name for names in scopes for name in names)
                    definition = self.definition(start, brace, around)
                    if definition:
                        found.setdefault(definition.name, []).append(definition)
        return found

    def definition(self, start: int, end: int, namespaces: tuple[str, ...]) -> Definition | None:
        """The function whose head is there; None where it is anything else, or the device's."""
        marked = {match[1] for match in MARKER.finditer(self.text.masked, start, end)}
        if self.text.marker_before(end).is_system or marked - {"host"}:
            return None
        start = after_template(self.text.masked, start)
        tokens = self.text.tokens(start, end)
        for index, (text, _, _) in enumerate(tokens):
            if text == "=" or text.startswith("operator"):
                return None
            if text != "(" or index == 0 or tokens[index - 1].text in NO_FUNCTION_NAME:
                continue
            name = tokens[index - 1]
            before = tokens[index - 2].text if index > 1 else ""
            is_type = is_word(before) or before in ("*", "&", "&&", ">", "]", ")")
            if not is_name(name.text) or not is_type or self.is_ours(start):
                return None
            if self.text.closing(tokens[index].start) > end:
                return None
            return Definition(name.text, name.start, namespaces)
        return None

    def is_visible(self, call: Call, definitions: list[Definition]) -> bool:
        """Whether the call can only mean a function in the same namespace, or in one around it or named."""
        around = [each.namespaces for each in definitions]
        if call.qualifiers[:1] == ("",):
            return all(names == call.qualifiers[1:] for names in around)
        if call.qualifiers:
            count = len(call.qualifiers)
            return all(names[-count:] == call.qualifiers for names in around)
        inside = self.namespaces_around(call.start)
        return all(inside[: len(names)] == names for names in around)

    def namespaces_around(self, position: int) -> tuple[str, ...]:
        names: tuple[str, ...] = ()
        opening = self.text.enclosing_brace(position)
        while opening is not None:
            scope = NAMESPACE.search(self.text.masked[self.text.head_start(opening) : opening])
            if scope and not scope[1]:
                names = (*scope[2].replace("::", " ").split(), *names)
            opening = self.text.enclosing_brace(opening - 1) if opening > 0 else None
        return names

    def is_the_only_one(self, definitions: list[Definition]) -> bool:
        """Whether nothing else is named like these functions: no variable, no member, and nothing of
        CUDA's."""
        name = definitions[0].name
        if any(
            each.name == name and each.markers - {"host"} for each in self.device_code.declarations
        ):
            return False
        if MATHEMATICAL.match(name) or name in self.names_of_cuda:
            return False
        heads = {each.name_start for each in definitions}
        for match in self.text.own_words.get(name, ()):
            if match.start() in heads or not self.declares(match):
                continue
            is_function = self.text.next_token(match.end()).text == "("
            if not is_function or self.text.scope(match.start()) != "namespace":
                return False
        return True

    def declares(self, match: re.Match) -> bool:
        """Whether the name may be declared there, as anything at all."""
        tokens, _ = self.text.tokens_before(match.start(), 100)
        texts = [";", ";", ";", *(token.text for token in tokens)]
        before = texts[-1]
        if before in ("*", "&", "&&", ">"):
            type_name, first = texts[-2], texts[-3]
            if type_name == "(" and self.text.next_token(match.end()).text == ")":
                return True  # a pointer to functions
            if type_name in TYPE_WORDS or type_name in ("*", ">"):
                return True
            starts = {";", "{", "}", "::"}
            if self.text.next_token(match.end()).text != "(":
                starts |= {"(", ",", "<", "const"}
            return is_name(type_name) and first in starts
        return before in TYPE_WORDS or before in DECLARES or is_name(before)

    @functools.cached_property
    def names_of_cuda(self) -> set[str]:
        """The functions that the backend's own headers declare, and perhaps a few names more."""
        names: set[str] = set()
        backend = os.path.join(self.own_folder, "cpu_backend")
        for folder in ("include", "device_functions"):
            for path, _, files in os.walk(os.path.join(backend, folder)):
                for file in files:
                    with open(os.path.join(path, file), encoding="utf-8") as header:
                        text = OF_THE_BACKEND.sub("", header.read())
                    names.update(DECLARED_NAME.findall(text))
                    names.update(ARGUMENT_OF_MACRO.findall(text))
        return names
