"""Canonical texts stay as they were written, whatever classes, fields and members are called in the code."""

import importlib
import inspect
import json
import pkgutil
import re
import types
import typing
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, make_dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import canonical_cases
import discreet
from canonical_cases import GOLDEN, WITH_TORCH, encoder_cases, loss_cases, plans, question_digests, texts
from discreet.accounting import Parallel, Pure, Repeated
from discreet.algebra.aggregates import Rows, Total
from discreet.algebra.expressions import ColumnValue
from discreet.core import Bounds, WrongType
from discreet.core.canonical_text import (
    PLAIN,
    Choices,
    OwnText,
    Record,
    canonical_name,
    canonical_text,
    foreign_text,
)
from discreet.core.schema import Kind
from discreet.market import FacilityLine
from discreet.query.planning.spending import Epsilon

STORED = json.loads(GOLDEN.read_text(encoding="utf-8"))
#: Without those that need an extra that is not installed.
EXPECTED = {name: text for name, text in STORED["texts"].items() if WITH_TORCH or not name.startswith("training")}
#: Fields of plans that are no part of their texts as they are: of a schema the table's name, the unit and the cap are
#: written, of a question of a batch only where it is measured, of other plans their digests, of a number of runs its
#: inverse.
ELSEWHERE = {"schema", "items", "others", "thresholds", "question", "candidates", "score", "mean_runs"}
#: What is written where a caller's own class may stand.
PROTOCOLS = {"FiniteClass", "Setting"}


def modules():
    """Return all modules of the package that can be imported here; some need extras."""
    found = []
    for one in pkgutil.walk_packages(discreet.__path__, "discreet.", onerror=lambda _: None):
        if "__main__" not in one.name and not one.name.rpartition(".")[2].startswith("lib"):  # a library in C
            with suppress(ModuleNotFoundError):
                found.append(importlib.import_module(one.name))
    return found


def classes():
    """Return all classes of the package, each once."""
    found = {}
    for module in modules():
        for _, one in inspect.getmembers(module, inspect.isclass):
            if one.__module__.startswith("discreet."):
                found[one] = None
    return list(found)


CLASSES = classes()
WRITTEN = [one for one in CLASSES if "__canonical__" in vars(one)]
CASES = plans()
PLANS = [one for one in CLASSES if "canonical" in vars(one) and not getattr(one, "_is_protocol", False)]


def leaves(hint):
    """Return the classes that a type is made of."""
    if typing.get_origin(hint) is typing.Literal:
        return {type(one) for one in typing.get_args(hint)}
    assert not isinstance(hint, str | typing.ForwardRef)
    if isinstance(hint, types.GenericAlias | types.UnionType) or typing.get_origin(hint) is not None:
        return {leaf for one in typing.get_args(hint) if one is not Ellipsis for leaf in leaves(one)}
    return {hint}


def hints_of(one):
    return typing.get_type_hints(one, vars(importlib.import_module(one.__module__)))


# Golden texts


@pytest.fixture(scope="module")
def written():
    return {name: text() for name, text in texts().items()}


def test_texts_are_those_that_were_written_before(written):
    changed = [name for name, text in EXPECTED.items() if written.get(name) != text]
    assert not changed


def test_every_case_is_in_the_golden_file(written):
    assert set(written) == set(EXPECTED), "run `python tests/canonical_cases.py`"


def test_questions_of_the_corpus_have_the_digests_that_they_had():
    changed = []
    for name, digests in STORED["questions"].items():
        file, _, question = name.partition(": ")
        if question_digests(file, question) != digests:
            changed.append(name)
    assert not changed
    assert len(STORED["questions"]) > 300


def test_adding_texts_leaves_those_that_are_there(tmp_path, monkeypatch):
    place = tmp_path / "golden.json"
    place.write_text(json.dumps({"texts": {"old": "as it was"}, "questions": STORED["questions"]}))
    monkeypatch.setattr(canonical_cases, "GOLDEN", place)
    monkeypatch.setattr(canonical_cases, "texts", lambda: {"old": lambda: "as it is", "new": lambda: "new"})
    canonical_cases.add_new_texts()
    found = json.loads(place.read_text())
    assert found == {"texts": {"old": "as it was", "new": "new"}, "questions": STORED["questions"]}


# Names


@pytest.fixture
def other_names():
    """Call all classes otherwise, and let none of them show what it is."""
    kept = [(one, name, getattr(one, name)) for one in {*WRITTEN, *PLANS} for name in ("__name__", "__qualname__")]
    shown = [(one, name, getattr(one, name)) for one in {*WRITTEN, *PLANS} for name in ("__module__", "__repr__")]
    for one in {*WRITTEN, *PLANS}:
        one.__name__ = one.__qualname__ = "Renamed"
        one.__module__ = "discreet.moved"
        one.__repr__ = lambda self: "renamed"
    yield
    for one, name, before in (*kept, *shown):
        setattr(one, name, before)


@pytest.mark.usefixtures("other_names")
def test_texts_do_not_depend_on_names_or_on_repr():
    assert repr(Epsilon(1)) == "renamed"
    assert {name: text() for name, text in texts().items()} == EXPECTED


def test_nothing_is_put_in_order_by_its_repr():
    """Orders decide texts, and the last digits of sums of floats."""
    sources = Path(discreet.__file__).parent.rglob("*.py")
    assert not [path.name for path in sources if re.search(r"key=repr|\brepr\(each", path.read_text(encoding="utf-8"))]


def renamed(value):
    """Return a value whose classes and fields have other names, and fields another order; what is written is said."""
    kind = type(value)
    if kind in (tuple, list):
        return kind(renamed(one) for one in value)
    form = vars(kind).get("__canonical__")
    if not isinstance(form, Record):
        return value
    held = {f"now_{attribute}": renamed(getattr(value, attribute)) for _, attribute in form.fields}
    said = Record(form.name, *(f"{name}=now_{attribute}" for name, attribute in form.fields), foreign=form.foreign)
    twin = make_dataclass(
        "Twin", list(reversed(held)), kw_only=True, namespace={"__canonical__": said, "__module__": "discreet.moved"}
    )
    return twin(**held)


@pytest.mark.parametrize("name", [name for name, plan in CASES.items() if "__canonical__" in vars(type(plan))])
def test_renamed_fields_are_written_as_they_were(name):
    plan = CASES[name]
    assert "Twin" in repr(renamed(plan))
    assert STORED["texts"][name].endswith(canonical_text(renamed(plan)))


def test_renamed_expressions_are_written_as_they_were():
    plan = CASES["several parts"]
    assert canonical_text(renamed((plan.keys, plan.parts))) == canonical_text((plan.keys, plan.parts))


def test_a_member_of_an_enumeration_may_be_renamed():
    class Renamed(Enum):
        __canonical__ = Choices("Kind", {"whole": "INTEGER: 'integer'"})

        WHOLE = "whole"
        OTHER = "other"

    assert list(Renamed) == [Renamed.WHOLE, Renamed.OTHER]
    assert canonical_text(Renamed.WHOLE) == canonical_text(Kind.INTEGER) == "<Kind.INTEGER: 'integer'>"
    with pytest.raises(WrongType, match="no canonical text"):
        canonical_text(Renamed.OTHER)


# Completeness


def test_all_plans_are_in_the_corpus():
    found = {type(plan) for plan in CASES.values()}
    trained = {one for one in PLANS if one.__module__.startswith("discreet.learn.torch")}
    assert len(trained) == int(WITH_TORCH)
    assert set(PLANS) - trained == found
    assert any(name.startswith("training") for name in STORED["texts"])


@pytest.mark.parametrize("one", WRITTEN, ids=lambda one: one.__name__)
def test_a_form_says_of_every_field_whether_it_is_written(one):
    form = vars(one)["__canonical__"]
    if isinstance(form, Choices):
        assert set(form.texts) == {member.value for member in one}
        assert len(set(form.texts.values())) == len(form.texts)
    elif isinstance(form, Record):
        assert sorted([*(attribute for _, attribute in form.fields), *form.unwritten]) == sorted(
            field.name for field in fields(one)
        )
        assert set(form.foreign) <= {name for name, _ in form.fields}
        assert len({name for name, _ in form.fields}) == len(form.fields)
    else:
        assert isinstance(form, OwnText)


def test_no_two_classes_are_written_alike():
    names = [vars(one)["__canonical__"].name for one in WRITTEN]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("one", WRITTEN, ids=lambda one: one.__name__)
def test_whatever_a_written_field_may_hold_is_written(one):
    form = vars(one)["__canonical__"]
    if not isinstance(form, Record):
        return
    hints = hints_of(one)
    for name, attribute in form.fields:
        for leaf in leaves(hints[attribute]):
            need_written(leaf, foreign=name in form.foreign)


def need_written(leaf, *, foreign=False):
    if getattr(leaf, "_is_protocol", False):
        assert foreign
        assert leaf.__name__ in PROTOCOLS
    else:
        assert leaf in PLAIN or "__canonical__" in vars(leaf), leaf


@pytest.mark.parametrize("one", PLANS, ids=lambda one: one.__name__)
def test_whatever_a_plan_may_hold_is_written(one):
    if "__canonical__" in vars(one) or one.__module__.startswith("discreet.learn.torch"):
        return  # see above; and a training is written by its terms, of which the corpus has all
    hints = hints_of(one)
    for field in fields(one):
        for leaf in () if field.name in ELSEWHERE else leaves(hints[field.name]):
            if leaf.__name__ == "BatchPass":
                written_of = {"where", "keys", "limit", "measured"}
                inner = hints_of(leaf)
                for part in {part for name in written_of for part in leaves(inner[name])}:
                    need_written(part)
            else:
                need_written(leaf)


@pytest.mark.parametrize("one", WRITTEN, ids=lambda one: one.__name__)
def test_every_class_that_can_be_written_is_in_a_golden_text(one):
    form = vars(one)["__canonical__"]
    all_texts = "\n".join(STORED["texts"].values())
    if isinstance(form, Choices):
        unseen = [text for text in form.texts.values() if f"<{form.name}.{text}>" not in all_texts]
        assert not unseen
    else:
        assert f"{form.name}(" in all_texts


# What is refused


@dataclass(frozen=True)
class Unknown:
    """A class of nobody's."""

    value: int = 1


class NarrowBounds(Bounds):
    """A class that derives from one that can be written."""


@pytest.mark.parametrize(
    "value",
    [
        Unknown(),
        NarrowBounds(0, 1),
        (1, [Unknown()]),
        Total(ColumnValue("x", Kind.REAL), Unknown()),  # type: ignore[arg-type]
        {"a": 1},
        {1, 2},
        frozenset({1}),
        object(),
        np.zeros(2),
        len,
        Unknown,
        float,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_form_is_refused(value):
    with pytest.raises(WrongType, match="no canonical text"):
        canonical_text(value)


def test_a_text_of_a_callers_class_may_show_anything_and_is_refused():
    class Odd(str):
        __slots__ = ()

        def __repr__(self):
            return "'always the same'"

    with pytest.raises(WrongType):
        canonical_text(Odd("a"))


def test_a_number_of_our_own_class_needs_a_form():
    own = type("Own", (int,), {"__module__": "discreet.somewhere"})
    others = type("Others", (int,), {"__module__": "numpy"})
    with pytest.raises(WrongType):
        canonical_text(own(3))
    assert canonical_text(others(3)) == "3"


def test_callers_classes_are_known_by_their_repr_where_they_may_stand():
    assert foreign_text(Unknown()) == "Unknown(value=1)"
    assert foreign_text(FacilityLine(3)) == "Line(places=3, facilities=2)"
    ours = type("Ours", (), {"__module__": "discreet.somewhere"})()
    with pytest.raises(WrongType):
        foreign_text(ours)


@dataclass(frozen=True)
class Own:
    """A class with one field for anybody's values, and one for written ones."""

    __canonical__: ClassVar[Record] = Record("Own", "open", "shut", foreign=["open"])

    open: Any
    shut: Any


def test_a_callers_class_is_refused_where_it_may_not_stand():
    assert canonical_text(Own(Unknown(), 1)) == "Own(open=Unknown(value=1), shut=1)"
    with pytest.raises(WrongType):
        canonical_text(Own(1, Unknown()))


# Syntax


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        2**200,
        0.1,
        -0.0,
        1e300,
        float("inf"),
        'it\'s "A"\n\u2028\ud800',
        b"\x00'",
        Fraction(-1, 3),
        date(2024, 2, 29),
        datetime(2024, 2, 29, 1, 2, 3, 4),  # noqa: DTZ001 - as tables have them
        (),
        (1,),
        (1, (2, "a"), [None]),
        [],
        [(1.5,)],
        np.float64(0.25),
        np.int64(3),
        np.str_("a"),
    ],
    ids=repr,
)
def test_plain_values_are_written_as_python_shows_them(value):
    assert canonical_text(value) == repr(value)


def test_classes_are_written_with_the_names_of_their_fields():
    loss = Parallel([Repeated(Pure(1), 3)])
    assert canonical_text(loss) == "Parallel(parts=(Repeated(part=Pure(epsilon=Fraction(1, 1)), times=3),))"
    assert canonical_text((Kind.REAL, Rows())) == "(<Kind.REAL: 'real'>, Rows())"


def test_depth_does_not_matter():
    value: Any = 1
    for _ in range(5_000):
        value = (value,)
    assert canonical_text(value) == "(" * 5_000 + "1" + ",)" * 5_000


def test_the_name_of_a_class_is_the_written_one():
    assert canonical_name(Epsilon(1)) == "Epsilon"
    with pytest.raises(WrongType):
        canonical_name(1)


def test_the_other_texts_of_a_ledger_are_in_the_corpus():
    assert set(loss_cases()) | set(encoder_cases()) <= set(STORED["texts"])
    assert all(is_dataclass(one) or issubclass(one, Enum) for one in WRITTEN)
