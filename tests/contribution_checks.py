"""The checks of personal accounts that every engine has to pass, as functions: also the broken ones that must not."""

import hashlib
import threading
from dataclasses import dataclass, field

import numpy as np

from data_checks import typed

KEY = "of these accounts"
#: The names of each key's accounts, in the order of their numbers. As in a ledger's process, a name has one number for
#: all admissions of its key: tables keep numbers.
DIRECTORIES = {}
GUARD = threading.Lock()


def everybody(name, told):
    """Admit all."""
    return True


@dataclass(frozen=True)
class Some:
    """Admits by a name's own coin, and by what is added: each unit by itself."""

    seed: int
    #: Of 16 names so many are admitted whatever they add.
    always: int
    #: Of others, those that add no more than this to each aggregate.
    most: float

    def __call__(self, name, told):
        coin = hashlib.sha256(f"{self.seed} {name}".encode()).digest()[0] % 16
        return coin < self.always or all(one is None or one[0] <= self.most for one in told)


@dataclass
class Recorder:
    """An admission that remembers who was asked, and with what."""

    rule: object = everybody
    key: str = KEY
    #: What each name was asked with.
    asked: dict = field(default_factory=dict)
    #: How often names were looked up, and units were asked in one call.
    lookups: int = 0
    calls: list = field(default_factory=list)

    def accounts(self, names, /):
        assert names.dtype == np.uint64
        assert names.shape[1:] == (2,)
        self.lookups += 1
        listed = list(map(tuple, names.tolist()))
        assert len(set(listed)) == len(listed), "they are different units"
        with GUARD:
            known = DIRECTORIES.setdefault(self.key, {})
            return np.array([known.setdefault(name, len(known)) for name in listed], dtype=np.int64)

    def admit(self, accounts, contributions, /):
        self.calls.append(len(accounts))
        names = list(DIRECTORIES[self.key])
        admitted = []
        for place, account in enumerate(accounts.tolist()):
            told = tuple(None if one is None else pair_of(one, place, len(accounts)) for one in contributions)
            name = names[account]
            assert name not in self.asked, "a unit is asked once"
            self.asked[name] = told
            admitted.append(self.rule(name, told))
        return np.array(admitted, dtype=bool)


def pair_of(contribution, place, units):
    """Return what one unit adds: reach and square."""
    for numbers in (contribution.reach, contribution.square):
        assert numbers.dtype == np.float64
        assert numbers.shape == (units,)
    return float(contribution.reach[place]), float(contribution.square[place])


def told_alike(expected, found, above):
    """Whether units were asked alike: with the same reach, and with squares so far above at most, and none below."""
    if expected.keys() != found.keys():
        return False
    pairs = [pair for name in expected for pair in zip(expected[name], found[name], strict=True)]
    return all(
        one == other or (one and other and one[0] == other[0] and one[1] <= other[1] <= one[1] * (1 + above))
        for one, other in pairs
    )


def among_mismatches(plain, given, aggregation, rule=everybody, above=0.0):
    """Return where a table does not say the same as the plain one of those who take part, or asks otherwise.

    Squares may be told so far above the true ones.
    """
    expecting, asking = Recorder(rule), Recorder(rule)
    expected = plain.aggregate_among(aggregation, expecting)
    found = given.aggregate_among(aggregation, asking)
    if not told_alike(expecting.asked, asking.asked, above):
        return [("asked", expecting.asked, asking.asked)]
    if typed(found.groups) != typed(expected.groups):
        return [("groups", expected.groups, found.groups)]
    return [
        (aggregate, expected_answer.tolist(), answer.tolist())
        for aggregate, expected_answer, answer in zip(
            aggregation.aggregates, expected.answers, found.answers, strict=True
        )
        if expected_answer.shape != answer.shape or expected_answer.tolist() != answer.tolist()
    ]
