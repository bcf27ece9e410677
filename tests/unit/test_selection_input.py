"""Wrong calls of the selection mechanisms: each is refused with a fix, and no message quotes a score."""

import math
from array import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.core import DiscreetError, InvalidInput, OutOfRange, WrongType
from discreet.mechanisms.selection.choice import ExponentialMechanism, NoiseKind, PermuteAndFlip, ReportNoisyMax
from discreet.mechanisms.selection.scores import read_scores
from discreet.mechanisms.selection.top_k import TopK, TopKMethod
from discreet.noise import Entropy

#: A score that no message may contain.
SECRET = 987654


def laplace_max(**terms):
    return ReportNoisyMax(noise=NoiseKind.LAPLACE, **terms)


def two_at_once(**terms):
    return TopK(k=2, method=TopKMethod.ONE_SHOT, **terms)


def two_by_peeling(**terms):
    return TopK(k=2, **terms)


KINDS = pytest.mark.parametrize(
    "kind", [ExponentialMechanism, PermuteAndFlip, laplace_max, two_at_once, two_by_peeling]
)

WRONG_SCORES = {
    "none": (None, WrongType),
    "a number": (SECRET, WrongType),
    "a text": ("987654", WrongType),
    "a dict": ({"a": SECRET, "b": 2}, WrongType),
    "a set": ({SECRET, 2}, WrongType),
    "a generator": ((score for score in (SECRET, 2)), WrongType),
    "a buffer": (array("d", [SECRET, 2]), WrongType),
    "an empty list": ([], InvalidInput),
    "an empty tuple": ((), InvalidInput),
    "an empty array": (np.array([]), InvalidInput),
    "an empty integer array": (np.array([], np.int64), InvalidInput),
    "an empty object array": (np.array([], object), InvalidInput),
    "no dimension": (np.array(SECRET), InvalidInput),
    "two dimensions": (np.array([[SECRET, 2], [3, 4]]), InvalidInput),
    "a list of lists": ([[SECRET], [2]], WrongType),
    "booleans in a list": ([True, SECRET], WrongType),
    "numpy booleans in a list": ([np.True_, SECRET], WrongType),
    "a boolean array": (np.array([True, False]), WrongType),
    "texts in a list": (["987654", 2], WrongType),
    "a text array": (np.array(["987654", "2"]), WrongType),
    "a none among numbers": ([SECRET, None], WrongType),
    "a none in an object array": (np.array([SECRET, None], object), WrongType),
    "complex numbers": ([SECRET + 1j, 2], WrongType),
    "a complex array": (np.array([SECRET + 1j, 2]), WrongType),
    "dates": (np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"), WrongType),
    "a structured array": (np.array([(SECRET,), (2,)], [("score", np.int64)]), WrongType),
    "a masked array": (np.ma.array([SECRET, 2, 3], mask=[False, True, False]), WrongType),
    "long doubles": (np.array([SECRET, 2], np.longdouble), WrongType),
    "nan in a list": ([SECRET, math.nan], InvalidInput),
    "nan in an array": (np.array([SECRET, math.nan]), InvalidInput),
    "infinity in a list": ([SECRET, math.inf], InvalidInput),
    "infinity in an array": (np.array([SECRET, -math.inf]), InvalidInput),
    "infinity in a narrow array": (np.array([1, np.inf], np.float16), InvalidInput),
    "a decimal that is none": ([SECRET, Decimal("NaN")], InvalidInput),
    "a list's score beyond all sense": ([SECRET, 10**200], OutOfRange),
    "a list's score below all sense": ([SECRET, 1e-200], OutOfRange),
}


@KINDS
@pytest.mark.parametrize(("scores", "error"), WRONG_SCORES.values(), ids=WRONG_SCORES)
def test_scores_that_are_none_are_refused_without_being_quoted(kind, scores, error):
    mechanism = kind(epsilon=1)
    with pytest.raises(error) as caught:
        mechanism.choose(scores)
    assert isinstance(caught.value, DiscreetError)
    assert caught.value.fix
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip, laplace_max])
def test_probabilities_refuse_what_choose_refuses(kind):
    for scores, error in ((None, WrongType), ([], InvalidInput), ([1, math.nan], InvalidInput)):
        with pytest.raises(error):
            kind(epsilon=1).probabilities(scores)


WRONG_TERMS = {
    "no epsilon": ({"epsilon": 0}, InvalidInput),
    "a negative epsilon": ({"epsilon": -1}, InvalidInput),
    "an infinite epsilon": ({"epsilon": math.inf}, InvalidInput),
    "epsilon a text": ({"epsilon": "1"}, WrongType),
    "epsilon a bool": ({"epsilon": True}, WrongType),
    "epsilon none": ({"epsilon": None}, WrongType),
    "no sensitivity": ({"epsilon": 1, "sensitivity": 0}, InvalidInput),
    "a negative sensitivity": ({"epsilon": 1, "sensitivity": -2}, InvalidInput),
    "sensitivity nan": ({"epsilon": 1, "sensitivity": math.nan}, InvalidInput),
    "sensitivity an array": ({"epsilon": 1, "sensitivity": np.array([1, 2])}, WrongType),
    "monotone a number": ({"epsilon": 1, "monotone": 1}, WrongType),
    "monotone a text": ({"epsilon": 1, "monotone": "yes"}, WrongType),
    "worlds apart": ({"epsilon": 1e-60, "sensitivity": 1e60}, OutOfRange),
}


@KINDS
@pytest.mark.parametrize(("terms", "error"), WRONG_TERMS.values(), ids=WRONG_TERMS)
def test_terms_that_make_no_sense_are_refused_at_birth(kind, terms, error):
    with pytest.raises(error) as caught:
        kind(**terms)
    assert isinstance(caught.value, DiscreetError)
    assert caught.value.fix


WRONG_CALLS = {
    "noise a text": (lambda: ReportNoisyMax(epsilon=1, noise="laplace"), WrongType),
    "method a text": (lambda: TopK(k=1, epsilon=1, method="peeling"), WrongType),
    "a grid without a need": (lambda: ReportNoisyMax(epsilon=1, step=1), InvalidInput),
    "a grid for peeling": (lambda: TopK(k=1, epsilon=1, step=1), InvalidInput),
    "a step of nothing": (lambda: laplace_max(epsilon=1, step=0), InvalidInput),
    "a step too fine": (lambda: laplace_max(epsilon=1e-30, step=1e-90), OutOfRange),
    "k of nothing": (lambda: TopK(k=0, epsilon=1), InvalidInput),
    "k a float": (lambda: TopK(k=2.0, epsilon=1), WrongType),
    "k a bool": (lambda: TopK(k=True, epsilon=1), WrongType),
    "more than there are, peeling": (lambda: two_by_peeling(epsilon=1).choose([SECRET]), InvalidInput),
    "more than there are, at once": (lambda: two_at_once(epsilon=1).choose([SECRET]), InvalidInput),
    "a generator for noise": (
        lambda: ExponentialMechanism(epsilon=1).choose([1, 2], entropy=np.random.default_rng()),
        WrongType,
    ),
    "a seed for noise": (lambda: laplace_max(epsilon=1).choose([1, 2], entropy=7), WrongType),
    "no noise for coins": (lambda: PermuteAndFlip(epsilon=1).choose([1, 2], entropy=None), WrongType),
    "no noise for peeling": (lambda: two_by_peeling(epsilon=1).choose([1, 2], entropy=None), WrongType),
    "certainty": (lambda: ExponentialMechanism(epsilon=1).error(1, candidates=10), InvalidInput),
    "percent": (lambda: PermuteAndFlip(epsilon=1).error(95, candidates=10), InvalidInput),
    "no candidates": (lambda: laplace_max(epsilon=1).error(0.9, candidates=0), InvalidInput),
    "candidates a float": (lambda: two_at_once(epsilon=1).error(0.9, candidates=10.0), WrongType),
    "more best ones than there are": (
        lambda: ExponentialMechanism(epsilon=1).error(0.9, candidates=3, optimal=4),
        OutOfRange,
    ),
    "fewer candidates than chosen": (lambda: two_by_peeling(epsilon=1).error(0.9, candidates=1), InvalidInput),
    "one index for two": (lambda: two_at_once(epsilon=1).probability([1, 2, 3], (0,)), InvalidInput),
    "one index twice": (lambda: two_at_once(epsilon=1).probability([1, 2, 3], (0, 0)), InvalidInput),
    "three indices for two": (lambda: two_by_peeling(epsilon=1).probability([1, 2, 3], (0, 1, 2)), InvalidInput),
    "an index beyond": (lambda: two_by_peeling(epsilon=1).probability([1, 2, 3], (0, 3)), OutOfRange),
    "a negative index": (lambda: two_by_peeling(epsilon=1).probability([1, 2, 3], (0, -1)), InvalidInput),
    "no indices": (lambda: two_by_peeling(epsilon=1).probability([1, 2, 3], None), WrongType),
    "too wide to add up": (lambda: laplace_max(epsilon=1).probabilities([0, 10**12]), OutOfRange),
    "too wide to add up an order": (lambda: two_at_once(epsilon=1).probability([0, 10**12], (0, 1)), OutOfRange),
}


@pytest.mark.parametrize(("call", "error"), WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_wrong_calls_are_refused_with_a_fix(call, error):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, DiscreetError)
    assert caught.value.fix
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip, laplace_max])
@pytest.mark.parametrize(
    "scores",
    [
        np.array([1, 2], ">i8"),
        np.array([1, 2], ">f4"),
        np.array([1, 9, 2, 9])[::2],
        np.array([1, 2], np.float16),
        np.array([1, 2], np.uint64),
        np.array([1, 2.0], object),
        (1, 2),
        [np.int8(1), np.float32(2)],
        [Decimal(1), Fraction(2)],
    ],
    ids=str,
)
def test_the_same_scores_are_the_same_however_they_are_kept(kind, scores):
    mechanism = kind(epsilon=1)
    assert mechanism.probabilities(scores).tolist() == mechanism.probabilities([1, 2]).tolist()
    assert mechanism.choose(scores, entropy=Entropy()) in (0, 1)


def test_a_listed_float_is_what_was_typed_and_an_array_s_what_it_is():
    assert Fraction(int(read_scores([0.1]).values[0])) * read_scores([0.1]).unit == Fraction(1, 10)
    assert Fraction(read_scores(np.array([0.1])).values[0].item()) == Fraction(0.1)


def test_scores_are_not_shown():
    assert str(SECRET) not in repr(read_scores([SECRET, 2]))


def test_choosing_leaves_the_scores_as_they_were():
    for scores in (np.array([3, 1, 2]), np.array([3.0, 1.0, 2.5])):
        before = scores.copy()
        for kind in (ExponentialMechanism, PermuteAndFlip, laplace_max, two_at_once, two_by_peeling):
            kind(epsilon=1).choose(scores)
        assert scores.tolist() == before.tolist()
        scores.setflags(write=False)
        for kind in (ExponentialMechanism, PermuteAndFlip, laplace_max, two_at_once, two_by_peeling):
            kind(epsilon=1).choose(scores)
