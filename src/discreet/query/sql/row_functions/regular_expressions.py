"""Regular expressions that are a few plain patterns: read as comparisons, searches and LIKE.

Engines have different regular expressions, and some of them take time that grows with the rows (Java's backtrack). So
none is handed on. An expression is parsed here and written out as the sequences that it stands for, of which there may
be `MOST_SEQUENCES`: letters, any one letter, and any text. What is not such a list, as `a+b`, is refused.

Where only a part of the text is looked for, a repetition at an end of the expression does not matter: `[0-9]+` is in a
text that `[0-9]` is in. `^A[0-9]+$` is A with nothing but digits behind it, of which at least one.

The dot is any letter, a line break as well, as in PostgreSQL and in LIKE; `$` is the end of the text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

from discreet.algebra.expressions import Expression, InSet, Like, Literal
from discreet.algebra.functions import F
from discreet.core import InvalidInput
from discreet.core.schema import Kind

Make = Callable[..., Expression]
#: One of these, or a letter, is a step of a sequence.
ONE, ANY, START, END = "one", "any", "start", "end"
#: Before the letters of a class of which there may be any number, at least one: no step is as long.
RUN = "run of "
Steps = tuple[str, ...]
MOST_SEQUENCES, MOST_REPEATED, MOST_STEPS = 200, 20, 200
#: Letters of a class that is looked for behind others, each of which is a search; and those that a text may have.
MOST_CLASS, LONGEST = 12, 10_000
DIGITS = "0123456789"
FIX = (
    "use letters, (a|b), [abc], [0-9], \\d, a?, {2}, ., .*, ^ and $, such as '^E1[0-4]', and [0-9]+ at the end, for "
    f"at most {MOST_SEQUENCES} texts; for numbers write TRY_CAST(x AS INTEGER) IS NOT NULL"
)


def _refuse(what: str) -> InvalidInput:
    return InvalidInput(f"This regular expression has {what}.", fix=FIX)


@dataclass(slots=True)
class _Parser:
    """Reads an expression from left to right; each method returns the sequences that its part stands for."""

    text: str
    at: int = field(default=0, init=False)

    def alternatives(self) -> list[Steps]:
        found = self.sequence()
        while self.take("|"):
            found = found + self.sequence()
        return _need_few(found)

    def sequence(self) -> list[Steps]:
        found: list[Steps] = [()]
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            found = _join(found, self.repeated())
        return found

    def repeated(self) -> list[Steps]:
        part = self.atom()
        if self.take("?"):
            found: list[Steps] = [(), *part]
        elif self.take("*"):
            found = [(ANY,)] if part == [(ONE,)] else [(), *_run_of(part)]
        elif self.take("+"):
            found = [(ONE, ANY)] if part == [(ONE,)] else _run_of(part)
        elif self.take("{"):
            found = self.counted(part)
        else:
            return part
        self.take("?")  # whether as few or as many are taken first does not matter for whether there is a match
        if self.at < len(self.text) and self.text[self.at] in "*+?{":
            raise _refuse("two repetitions side by side")
        return found

    def counted(self, part: list[Steps]) -> list[Steps]:
        """Return {2}, {2,3} or, of one letter, {2,}."""
        end = self.text.find("}", self.at)
        least, comma, most = self.text[self.at : max(end, self.at)].partition(",")
        self.at = end + 1
        if end < 0 or not _is_count(least) or (most and not _is_count(most)):
            raise _refuse("a repetition that is not a number, or more than twenty times")
        if comma and not most:
            number = int(least)
            if part == [(ONE,)]:
                return [(ONE,) * number + (ANY,)]
            return _join([()], *[part] * (number - 1), _run_of(part)) if number else [(), *_run_of(part)]
        counts = range(int(least), int(most or least) + 1)
        return [one for count in counts for one in _join([()], *[part] * count)]

    def atom(self) -> list[Steps]:
        sign = self.text[self.at]
        self.at += 1
        match sign:
            case "(":
                return self.group()
            case "[":
                return [(letter,) for letter in self.letters()]
            case "\\":
                return [(letter,) for letter in self.escaped()]
            case ".":
                return [(ONE,)]
            case "^":
                return [(START,)]
            case "$":
                return [(END,)]
            case "*" | "+" | "?" | "{":
                raise _refuse("a repetition of nothing")
            case _:
                return [(sign,)]

    def group(self) -> list[Steps]:
        if self.take("?") and not self.take(":"):
            raise _refuse("a group that looks around, or has a name or a flag")
        found = self.alternatives()
        if not self.take(")"):
            raise _refuse("a parenthesis that is not closed")
        return found

    def escaped(self) -> str:
        """Return the letters that a sign behind a backslash stands for."""
        sign = self.text[self.at : self.at + 1]
        self.at += 1
        if sign == "d":
            return DIGITS
        if not sign or sign.isalnum():
            raise _refuse("a backslash before a letter, but for \\d")
        return sign

    def letters(self) -> str:
        """Return the letters of a class: [abc] or [a-f]."""
        found: list[str] = []
        while self.at < len(self.text) and self.text[self.at] != "]":
            first = self.one_of_class(found)
            if self.text[self.at : self.at + 1] == "-" and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                last = self.one_of_class(found)
                if len(first) != 1 or len(last) != 1 or not first <= last or ord(last) - ord(first) > MOST_SEQUENCES:
                    raise _refuse("a range of letters that goes backwards, or is long")
                found += map(chr, range(ord(first), ord(last) + 1))
            else:
                found += first
        if not self.take("]") or not found:
            raise _refuse("a bracket that is not closed, or empty")
        return "".join(dict.fromkeys(found))

    def one_of_class(self, before: list[str]) -> str:
        sign = self.text[self.at]
        self.at += 1
        if sign == "\\":
            return self.escaped()
        if sign == "[" or (sign == "^" and not before):
            raise _refuse("a class of all other letters, or of named ones")
        return sign

    def take(self, sign: str) -> bool:
        """Whether a sign comes next, and step over it."""
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found


def _run_of(part: list[Steps]) -> list[Steps]:
    """Return any number of letters of a class."""
    if not all(len(steps) == 1 and len(steps[0]) == 1 for steps in part):
        return _never()
    return [(RUN + "".join(steps[0] for steps in part),)]


def _shorten_runs(found: list[Steps], *, whole: bool) -> list[Steps]:
    """Return sequences in which a run beside any text, or at an open end, is one letter: more may follow."""
    shortened: list[Steps] = []
    for steps in found:
        parts: list[list[Steps]] = []
        for place, step in enumerate(steps):
            beside = (steps[place - 1 : place] == (ANY,)) or (steps[place + 1 : place + 2] == (ANY,))
            # Where ^ or $ is written, it is the first or the last step, and no run is.
            ends = not whole and place in (0, len(steps) - 1)
            one = step.startswith(RUN) and (beside or ends)
            parts.append([(letter,) for letter in step.removeprefix(RUN)] if one else [(step,)])
        shortened += _join(*parts) if parts else [()]
    return _need_few(shortened)


def _hold_run(body: Steps, runs: dict[tuple[int, str], list[Literal]]) -> None:
    """Keep a sequence of letters with a run behind them, beside those of the same length and run."""
    *before, run = body
    letters = run.removeprefix(RUN)
    if not run.startswith(RUN) or any(len(step) > 1 for step in before) or len(letters) > MOST_CLASS:
        _never()
    runs.setdefault((len(before), letters), []).append(Literal.of("".join(before)))


def _match_run(value: Expression, length: int, letters: str, starts: Sequence[Literal], make: Make) -> Expression:
    """Return whether a text begins in one of some ways, and has nothing but letters of a class behind, at least one."""
    rest = make(F.SUBSTRING, value, Literal.of(length + 1), Literal.of(LONGEST)) if length else value
    left = rest
    for letter in letters:
        left = make(F.REPLACE, left, Literal.of(letter), Literal.of(""))
    begins = _find(value, "start", length, starts, make) if length else []
    return make(F.AND, *begins, make(F.EQ, left, Literal.of("")), make(F.NE, rest, Literal.of("")))


def _never() -> list[Steps]:
    raise _refuse("a part that may be repeated without end")


def _is_count(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) <= 2 and int(text) <= MOST_REPEATED


def _join(*parts: list[Steps]) -> list[Steps]:
    """Return every sequence of the first part with every one of the next behind it."""
    found: list[Steps] = [()]
    for part in parts:
        if len(found) * len(part) > MOST_SEQUENCES:
            raise _refuse(f"more than {MOST_SEQUENCES} texts")
        found = [(*one, *other) for one, other in product(found, part)]
    if any(len(one) > MOST_STEPS for one in found):
        raise _refuse(f"a text of more than {MOST_STEPS} letters")
    return _need_few(found)


def _need_few(found: list[Steps]) -> list[Steps]:
    if len(found) > MOST_SEQUENCES:
        raise _refuse(f"more than {MOST_SEQUENCES} texts")
    return list(dict.fromkeys(found))


def read_regular_expression(pattern: str) -> list[Steps]:
    """Return the sequences that an expression stands for."""
    parser = _Parser(pattern)
    found = parser.alternatives()
    if parser.at < len(pattern):
        raise _refuse("a parenthesis that is not opened")
    for steps in found:
        if START in steps[1:] or END in steps[:-1]:
            raise _refuse("^ or $ in the middle of a text")
    return found


def build_match(value: Expression, pattern: str, make: Make, *, folded: bool, whole: bool) -> Expression:
    """Return whether a text has a part that a regular expression describes; with `whole`, all of it."""
    groups: dict[tuple[str, int], list[Literal]] = {}
    runs: dict[tuple[int, str], list[Literal]] = {}
    tests: list[Expression] = []
    for steps in _shorten_runs(read_regular_expression(pattern), whole=whole):
        first, last = whole or steps[:1] == (START,), whole or steps[-1:] == (END,)
        body = tuple(step for step in steps if step not in (START, END))
        if any(step.startswith(RUN) for step in body):
            if not (first and last) or folded:
                _never()
            _hold_run(body, runs)
            continue
        literal = None if folded or ONE in body or ANY in body else "".join(body)
        if literal is None:
            tests.append(_like(value, body, folded=folded, first=first, last=last))
        elif not literal and not (first and last):
            raise _refuse("a part that every text has")
        else:
            place = "all" if first and last else "start" if first else "end" if last else "inside"
            groups.setdefault((place, 0 if place == "all" else len(literal)), []).append(Literal.of(literal))
    found = [test for (place, length), texts in groups.items() for test in _find(value, place, length, texts, make)]
    found += [_match_run(value, length, letters, starts, make) for (length, letters), starts in runs.items()]
    found += tests
    return found[0] if len(found) == 1 else make(F.OR, *dict.fromkeys(found))


def _find(value: Expression, place: str, length: int, texts: Sequence[Literal], make: Make) -> list[Expression]:
    """Return whether one of some texts of a length stands at a place."""
    match place:
        case "all":
            part = value
        case "start":
            part = make(F.SUBSTRING, value, Literal.of(1), Literal.of(length))
        case "end":
            part = make(F.RIGHT, value, Literal.of(length))
        case _:
            return [make(F.GT, make(F.POSITION, value, text), Literal.of(0)) for text in texts]
    return [make(F.EQ, part, texts[0]) if len(texts) == 1 else InSet(part, tuple(texts))]


def _like(value: Expression, body: Steps, *, folded: bool, first: bool, last: bool) -> Expression:
    if "%" in body or "_" in body:
        raise _refuse("% or _ beside a dot, or where capitals do not matter, for which LIKE has no signs")
    signs = {ONE: "_", ANY: "%"}
    pattern = "".join(signs.get(step, step) for step in body)
    return Like(value, ("" if first else "%") + pattern + ("" if last else "%"), folded)


def build_matching(arguments: Sequence[Expression], make: Make, *, whole: bool = False) -> Expression | None:
    """Return REGEXP_MATCHES(text, 'a|b'), or with the option 'i', for which capitals do not matter."""
    match arguments:
        case [value, Literal(value=str() as pattern)] if value.kind is Kind.TEXT:
            return build_match(value, pattern, make, folded=False, whole=whole)
        case [value, Literal(value=str() as pattern), Literal(value="i" | "c" as option)] if value.kind is Kind.TEXT:
            return build_match(value, pattern, make, folded=option == "i", whole=whole)
        case _:
            return None


MATCHING = "write REGEXP_MATCHES(text, '^E1[0-4]') with a constant, or text LIKE 'A%'"
PATTERN_CALLS: dict[str, Callable[[Sequence[Expression], Make], Expression | None]] = {
    "REGEXP_MATCHES": build_matching,
    "REGEXP_LIKE": build_matching,
    "REGEXP_CONTAINS": build_matching,
    "REGEXP_FULL_MATCH": lambda arguments, make: build_matching(arguments, make, whole=True),
}
PATTERN_USAGE: dict[str, str] = dict.fromkeys(PATTERN_CALLS, MATCHING)
