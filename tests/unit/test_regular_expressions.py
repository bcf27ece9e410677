"""Regular expressions that are a few plain patterns: what they match, and what is refused."""

import re
from itertools import product

import pytest

from discreet.algebra.expressions import ColumnValue
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.query.sql.expressions import build_call
from discreet.query.sql.row_functions.regular_expressions import MOST_SEQUENCES, build_match, read_regular_expression
from plain_values import value_of

TEXT = ColumnValue("t", Kind.TEXT)
#: Every text of up to three letters, some of which mean something elsewhere.
TEXTS = ["".join(letters) for length in range(4) for letters in product("ab1\n", repeat=length)]
TEXTS += ["a%b", "a_b", "%", "_", "a.b", "(a)", "a|b", "A", "AB", "é", "aé1", "b" * 9, "E10", "E14.2", "E15"]
EXPRESSIONS = (
    *(
        "a",
        "ab",
        "a|b1",
        "^a",
        "b$",
        "^a$",
        "^(a|b)$",
        "a.b",
        "a.*b",
        "^a.*1$",
        "a.+b",
        "^.$",
        "^..",
        "[ab]1",
        "[a-b1]{2}",
    ),
    *(
        "[a-b1]{2}",
        "a?b",
        "^(ab?){1,2}$",
        "(a|b)(1|a)",
        "^$",
        "a%b",
        "a_b",
        "a\\.b",
        "\\(a\\)",
        "a\\|b",
        "\\d",
        "^\\da",
        "[a\\d]$",
    ),
    *(
        "^(?:a|b)1",
        "a|b1",
        "a{2}",
        "a{1,2}b",
        "b{3}",
        "^E1[0-4]",
        ".{2,}1",
        "^.{3}$",
        "a.*?b",
        "[.]b",
        "^a|1$",
        "(^a|b$)",
    ),
    # Repetitions without end.
    *("a+", "[ab]+", "[ab]+1", "1[ab]+", "1[ab]*", "a+?b", "[ab]+1+", "(a+|b)1", "a{2,}", "[ab]{1,}1"),
    *("^[ab]+$", "^[ab]*$", "^a[b1]+$", "^a[b1]*$", "^(a|b)1+$", "^ab{2,}$", "^(a+|1b*)$", "\\d+$", "^\\d+$"),
    *(".*[ab]+$", "^[ab]+.*", "^[ab]+.*1$", "[ab]+.*1+", "^a.*[b1]+$"),
)
REFUSED = (
    *(
        "",
        "a*",
        "(ab)*",
        "^[ab]+1$",
        "1[ab]+1",
        "^a.[b1]+$",
        "^[a-m]+$",
        "a{21}",
        "a{x}",
        "a{2",
        "a?",
        "^",
        "$",
        "(a|)",
        "a(",
        "a)",
        "[a",
        "[]",
    ),
    *(
        "[^a]",
        "[[:digit:]]",
        "\\w",
        "\\b",
        "(a)\\1",
        "(?=a)",
        "(?!a)",
        "(?i)a",
        "(?P<x>a)",
        "*a",
        "a**",
        "a++",
        "[b-a]",
    ),
    *("a++", "[b-a]", "a^b", "a$b", "[0-9]{3}", "(a|b|c|d){4}", "a_.b", "\\", "[\\x00-\\x10]", "a" * 201),
)


def match(text, pattern, **options):
    options = {"folded": False, "whole": False, **options}
    return value_of(build_match(TEXT, pattern, build_call, **options), {"t": text})


def test_expressions_match_what_python_says():
    wrong = []
    for pattern in EXPRESSIONS:
        expected = re.compile(pattern.replace("$", r"\Z"), re.DOTALL | re.ASCII)
        condition = build_match(TEXT, pattern, build_call, folded=False, whole=False)
        wrong += [
            (pattern, text) for text in TEXTS if value_of(condition, {"t": text}) is not bool(expected.search(text))
        ]
    assert not wrong


def test_the_whole_text_is_matched_where_that_is_asked():
    assert match("a", "a|b1", whole=True)
    assert not match("ab", "a|b1", whole=True)
    assert match("b1", "^a|b1$", whole=True)


def test_a_run_of_letters_may_be_all_of_a_text():
    assert match("111", "1+", whole=True)
    assert match("a11", "a?1+", whole=True)
    assert not match("1a1", "1+", whole=True)
    assert not match("", "1+", whole=True)
    assert match("", "1*", whole=True)
    assert match(None, "^1+$") is None
    with pytest.raises(InvalidInput):
        match("a", "^a+$", folded=True)


def test_capitals_do_not_matter_where_that_is_asked():
    assert match("xABx", "ab", folded=True)
    assert match("Ab", "^(ab|c)$", folded=True)
    assert not match("xAB", "^ab", folded=True)


def test_null_matches_nothing_and_is_not_refused():
    assert match(None, "a|b.") is None


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_list_of_plain_patterns_is_refused(pattern):
    with pytest.raises(InvalidInput):
        build_match(TEXT, pattern, build_call, folded=False, whole=False)


def test_no_expression_stands_for_more_sequences_than_are_allowed():
    assert len(read_regular_expression("[0-9][0-9a-i]")) == 190 <= MOST_SEQUENCES
    with pytest.raises(InvalidInput):
        read_regular_expression("((a?b?c?d?e?f?){20}){20}")
