"""Every public function and class that a user calls explains its arguments, its result and its errors."""

import doctest
import inspect
import re
from enum import Enum

import pytest

import discreet
from discreet import Budget, DiscreetError, Gate, Ledger, Plan, Release, Session

#: Classes that are not built by users: their docstrings say what they are.
RETURNED = (Release, Session, Ledger, DiscreetError, Plan)
#: Methods that analysts and stewards call; others are for those who write plans and stores.
CALLED = {
    Session: (
        *("sql", "release", "preview", "participation", "explain", "batch", "preview_batch", "hierarchy"),
        *("preview_hierarchy", "counter", "table", "buy_bounds", "for_analyst", "from_settings"),
    ),
    Gate: ("price", "release", "advance"),
    Ledger: (
        *("create", "open", "fits", "pay", "statement", "distribution", "recent", "resize", "review", "annotate"),
        *("disclose", "verify"),
    ),
    discreet.Sensitivity: ("box", "l1_ball", "l2_ball"),
    discreet.Window: ("of",),
    Budget: ("about",),
}


def callables():
    for name in discreet.__all__:
        one = getattr(discreet, name)
        if callable(one) and one not in RETURNED and not (inspect.isclass(one) and issubclass(one, Enum)):
            yield name, one
    for owner, names in CALLED.items():
        for name in names:
            yield f"{owner.__name__}.{name}", getattr(owner, name)


PUBLIC = dict(callables())
#: Results of these are values to look at, or nothing but a record: an example would show no more than the signature.
WITHOUT_EXAMPLE = {
    *("Gate", "Gate.price", "Gate.release", "Gate.advance", "Session.from_settings", "Session.participation"),
    *("Ledger.pay", "Ledger.statement", "Ledger.distribution", "Ledger.review", "Ledger.disclose", "Budget.about"),
    *("Sensitivity.box", "Sensitivity.l1_ball", "Sensitivity.l2_ball"),
}
VISITS = "patient_id,ward,stay,day\n" + "".join(
    f"{n % 40},{'AB'[n % 2]},{n % 9},2024-01-{n % 28 + 1:02}\n" for n in range(80)
)


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """Return a small clinic, in a folder of its own that has the file `visits.csv`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text(VISITS)
    with discreet.open(
        "visits.csv",
        person="patient_id",
        bounds={"stay": (0, 60)},
        groups={"ward": ["A", "B"]},
        kinds={"day": "date"},
        budget=Budget(epsilon=3, delta=1e-9),
        ledger="given.ledger",
    ) as session:
        yield session


def section(text, name):
    """Return the lines of a section, without its indentation."""
    found = re.search(rf"^{name}:\n((?:    .*\n|\n)+)", text + "\n", flags=re.MULTILINE)
    return inspect.cleandoc("\n" + found.group(1)) if found else ""


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_explained(name):
    signature, text = inspect.signature(PUBLIC[name]), inspect.getdoc(PUBLIC[name])
    named = {one for one in signature.parameters if one != "self"}
    explained = set(re.findall(r"^\*{0,2}(\w+):", section(text, "Args"), flags=re.MULTILINE))
    if "options" in explained:  # keywords that many methods share: `Session.sql` lists them
        assert explained - {"options"} <= named
        shared = section(inspect.getdoc(Session.sql), "Args") + section(inspect.getdoc(Session.hierarchy), "Args")
        assert named - explained <= set(re.findall(r"`(\w+)`:", shared))
    else:
        assert explained == named


@pytest.mark.parametrize("name", PUBLIC)
def test_every_result_and_refusal_is_explained(name):
    one, text = PUBLIC[name], inspect.getdoc(PUBLIC[name])
    if not inspect.isclass(one) and inspect.signature(one).return_annotation is not None:
        assert section(text, "Returns")
    raised = re.findall(r"^(\w+):", section(text, "Raises"), flags=re.MULTILINE)
    errors = vars(discreet.core) | {"DiscreetError": DiscreetError}
    from discreet.query import QueryRefused

    errors["QueryRefused"] = QueryRefused
    assert all(issubclass(errors[kind], Exception) for kind in raised)


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in WITHOUT_EXAMPLE])
def test_every_example_shows_what_comes_out(name, clinic):
    text = inspect.getdoc(PUBLIC[name])
    assert section(text, "Example")
    names = {"discreet": discreet, "clinic": clinic, "session": clinic}
    examples = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    told = []
    runner.run(examples, out=told.append)
    assert not runner.failures, "".join(told)
