"""The texts of losses, which a ledger keeps for life."""

import contextlib
import time
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.composites import (
    DEEPEST,
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
)
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
)
from discreet.accounting.text_reader import FORMS, MOST_DIGITS, MOST_ENTRIES
from discreet.accounting.texts import loss_from_text, loss_to_text
from discreet.core import InvalidInput, OutOfRange, Sensitivity, WrongType
from loss_strategies import WIDE, losses

#: Written in ledgers already: to change one of these lines is to change what people have paid.
GOLDEN = [
    (Pure(0.1), "loss/1 pure(epsilon=1/10)"),
    (Pure(3), "loss/1 pure(epsilon=3)"),
    (BoundedRange(0.5), "loss/1 bounded_range(epsilon=1/2)"),
    (Approximate(1, 1e-9), "loss/1 approximate(epsilon=1, delta=1/1000000000)"),
    (Concentrated(0.125), "loss/1 concentrated(rho=1/8, delta=0)"),
    (Concentrated(0.125, 1e-6), "loss/1 concentrated(rho=1/8, delta=1/1000000)"),
    (Renyi([(8, 0.5), (2, 0.1), (1.5, 0)]), "loss/1 renyi(curve=[3/2: 0, 2: 1/10, 8: 1/2])"),
    (GaussianDP(1), "loss/1 gaussian_dp(mu=1)"),
    (LaplaceNoise(10), "loss/1 laplace_noise(scale=10, sensitivity=1)"),
    (GaussianNoise(1.1, 2.5), "loss/1 gaussian_noise(sigma=11/10, sensitivity=5/2)"),
    (DiscreteLaplaceNoise(7.5, 3), "loss/1 discrete_laplace_noise(scale=15/2, sensitivity=3)"),
    (
        DiscreteGaussianNoise(100, Sensitivity(l0=2, linf=3, l1=5, l2_squared=13)),
        "loss/1 discrete_gaussian_noise(variance=100, l0=2, linf=3, l1=5, l2_squared=13)",
    ),
    (RandomisedResponse(0.75), "loss/1 randomised_response(truth=3/4, categories=2)"),
    (
        DominatingPair([0.5, 0.5, 0], [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)]),
        "loss/1 dominating_pair(present=[1/2, 1/2, 0], absent=[1/3, 1/3, 1/3])",
    ),
    (DominatingPair([1], [1]), "loss/1 dominating_pair(present=[1], absent=[1])"),
    (Composed([]), "loss/1 composed()"),
    (Composed([Pure(1), Composed([])]), "loss/1 composed(pure(epsilon=1), composed())"),
    (Repeated(Pure(1), 3), "loss/1 repeated(pure(epsilon=1), times=3)"),
    (Parallel([]), "loss/1 parallel()"),
    (Parallel([Pure(1), Pure(2)]), "loss/1 parallel(pure(epsilon=1), pure(epsilon=2))"),
    (Group(Concentrated(1), 5), "loss/1 group(concentrated(rho=1, delta=0), size=5)"),
    (
        Subsampled(GaussianNoise(2), 0.01, Sampling.WITHOUT_REPLACEMENT),
        "loss/1 subsampled(gaussian_noise(sigma=2, sensitivity=1), rate=1/100, sampling=without_replacement)",
    ),
    (Shuffled(Pure(1), 1000), "loss/1 shuffled(pure(epsilon=1), people=1000)"),
    (
        Repeated(Subsampled(GaussianNoise(1), 0.01), 100),
        "loss/1 repeated(subsampled(gaussian_noise(sigma=1, sensitivity=1), rate=1/100, sampling=poisson), times=100)",
    ),
]


@pytest.mark.parametrize(("loss", "text"), GOLDEN)
def test_what_is_written_stays_as_it_is(loss, text):
    assert loss_to_text(loss) == text
    assert loss_from_text(text) == loss


def test_every_kind_of_loss_is_pinned_and_has_a_form():
    kinds = set(get_args(PrivacyLoss))
    assert {type(loss) for loss, _ in GOLDEN} == kinds
    assert len(FORMS) == len(kinds) == 18


@given(losses(WIDE))
def test_a_text_reads_back_as_the_loss_that_was_written(loss):
    text = loss_to_text(loss)
    assert loss_from_text(text) == loss
    assert loss_to_text(loss_from_text(text)) == text


@given(losses(), losses())
def test_equal_losses_have_equal_texts_and_others_have_not(one, other):
    assert (loss_to_text(one) == loss_to_text(other)) == (one == other)


@given(losses(), st.data())
def test_a_text_with_a_slip_is_refused_or_is_the_text_of_another_loss(loss, data):
    text = loss_to_text(loss)
    place = data.draw(st.integers(0, len(text) - 1))
    inserted = data.draw(st.sampled_from(["", *"0123456789/=(),:[] .-_ +eE", "\n", "٣", "pure", "composed()"]))
    removed = data.draw(st.integers(0, 2))
    slipped = text[:place] + inserted + text[place + removed :]
    with contextlib.suppress(InvalidInput):
        assert loss_to_text(loss_from_text(slipped)) == slipped


@pytest.mark.parametrize(("loss", "text"), GOLDEN)
def test_a_truncated_text_is_refused(loss, text):
    for end in range(len(text)):
        with pytest.raises(InvalidInput):
            loss_from_text(text[:end])


REFUSED = [
    # Not a text of this kind, or not of this version.
    ("", "not the text"),
    ("pure(epsilon=1)", "not the text"),
    (" loss/1 pure(epsilon=1)", "not the text"),
    ("loss/1", "not the text"),
    ("loss/1pure(epsilon=1)", "not the text"),
    ("Loss/1 pure(epsilon=1)", "not the text"),
    ("loss/01 pure(epsilon=1)", "not the text"),
    ("loss/-1 pure(epsilon=1)", "not the text"),
    ("loss/١ pure(epsilon=1)", "not the text"),
    ("loss/1\tpure(epsilon=1)", "not the text"),
    ("loss/2 pure(epsilon=1)", "version 2; this release reads version 1"),
    ("loss/10 pure(epsilon=1)", "version 10; this release reads version 1"),
    # Spaces, ends, brackets.
    ("loss/1  pure(epsilon=1)", "character 8"),
    ("loss/1 pure(epsilon=1) ", "the end of the text"),
    ("loss/1 pure(epsilon=1)\n", "the end of the text"),
    ("loss/1 pure(epsilon=1))", "the end of the text"),
    ("loss/1 pure(epsilon=1)pure(epsilon=1)", "the end of the text"),
    ("loss/1 pure( epsilon=1)", "'epsilon='"),
    ("loss/1 pure(epsilon =1)", "'epsilon='"),
    ("loss/1 pure(epsilon= 1)", "a number"),
    ("loss/1 pure (epsilon=1)", r"'\('"),
    ("loss/1 composed(pure(epsilon=1),pure(epsilon=1))", r"'\)'"),
    ("loss/1 composed(pure(epsilon=1), )", "No kind of loss"),
    ("loss/1 composed( )", "No kind of loss"),
    # Names and fields.
    ("loss/1 ", "No kind of loss"),
    ("loss/1 impure(epsilon=1)", "No kind of loss"),
    ("loss/1 Pure(epsilon=1)", "No kind of loss"),
    ("loss/1 __import__(epsilon=1)", "No kind of loss"),
    ("loss/1 pure()", "'epsilon='"),
    ("loss/1 pure(1)", "'epsilon='"),
    ("loss/1 pure(rho=1)", "'epsilon='"),
    ("loss/1 pure(epsilon=1, delta=0)", r"'\)'"),
    ("loss/1 approximate(epsilon=1)", "', delta='"),
    ("loss/1 approximate(delta=1/10, epsilon=1)", "'epsilon='"),
    ("loss/1 concentrated(rho=1)", "', delta='"),
    ("loss/1 repeated(times=3, pure(epsilon=1))", "No kind of loss"),
    ("loss/1 repeated(pure(epsilon=1))", "', times='"),
    ("loss/1 repeated(pure(epsilon=1), pure(epsilon=1), times=3)", "', times='"),
    ("loss/1 subsampled(pure(epsilon=1), rate=1/2, sampling=cyclic)", "'without_replacement'"),
    ("loss/1 subsampled(pure(epsilon=1), rate=1/2, sampling=poissonian)", r"'\)'"),
    # Numbers.
    ("loss/1 pure(epsilon=0.1)", r"'\)'"),
    ("loss/1 pure(epsilon=1e-3)", r"'\)'"),
    ("loss/1 pure(epsilon=nan)", "a number"),
    ("loss/1 pure(epsilon=inf)", "a number"),
    ("loss/1 pure(epsilon=-1)", "a number"),
    ("loss/1 pure(epsilon=+1)", "a number"),
    ("loss/1 pure(epsilon=1_0)", r"'\)'"),
    ("loss/1 pure(epsilon=١)", "a number"),
    ("loss/1 pure(epsilon=1٠)", r"'\)'"),
    ("loss/1 pure(epsilon=²)", "a number"),
    ("loss/1 pure(epsilon=1/0)", "denominator of 0"),
    ("loss/1 pure(epsilon=1/)", "a number"),
    ("loss/1 pure(epsilon=1/2/3)", r"'\)'"),
    ("loss/1 repeated(pure(epsilon=1), times=3/2)", r"'\)'"),
    # Read, but not as they are written.
    ("loss/1 pure(epsilon=2/4)", r"canonical[\s\S]*write it as 'loss/1 pure\(epsilon=1/2\)'"),
    ("loss/1 pure(epsilon=3/1)", "canonical"),
    ("loss/1 pure(epsilon=01)", "canonical"),
    ("loss/1 pure(epsilon=1/010)", "canonical"),
    ("loss/1 concentrated(rho=1, delta=0/5)", "canonical"),
    ("loss/1 repeated(pure(epsilon=1), times=03)", "canonical"),
    # Losses that cannot be.
    ("loss/1 pure(epsilon=0)", "above 0"),
    ("loss/1 approximate(epsilon=1, delta=1)", "between 0 and 1"),
    ("loss/1 repeated(pure(epsilon=1), times=0)", "at least 1"),
    ("loss/1 renyi(curve=[])", "one ε for each"),
    ("loss/1 renyi(curve=[2: 1, 2: 1])", "rising orders"),
    ("loss/1 renyi(curve=[8: 1, 2: 1])", "rising orders"),
    ("loss/1 renyi(curve=[1: 1])", "above 1"),
    ("loss/1 renyi(curve=[2:1])", "': '"),
    ("loss/1 dominating_pair(present=[1/2], absent=[1])", "not a distribution"),
    ("loss/1 dominating_pair(present=[1/2, 1/2], absent=[1])", "same outcomes"),
    ("loss/1 shuffled(gaussian_noise(sigma=1, sensitivity=1), people=9)", "purely private"),
    ("loss/1 discrete_gaussian_noise(variance=1, l0=1, linf=2, l1=1, l2_squared=1)", "contradict"),
    ("loss/1 randomised_response(truth=1/3, categories=2)", "less often"),
    (
        "loss/1 composed(shuffled(pure(epsilon=1), people=9), parallel(pure(epsilon=1)))",
        "different neighbours",
    ),
    # Too much.
    (f"loss/1 pure(epsilon={'9' * (MOST_DIGITS + 1)})", "digits"),
    (f"loss/1 pure(epsilon=1{'0' * 101})", "beyond the range"),
    (f"loss/1 pure(epsilon=1/1{'0' * 101})", "beyond the range"),
    (f"loss/1 {'repeated(' * DEEPEST}pure(epsilon=1){', times=2)' * DEEPEST}", "deeper"),
    (f"loss/1 {'composed(' * 100_000}", "deeper"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_not_canonical_is_refused_with_a_reason_and_a_fix(text, reason):
    with pytest.raises(InvalidInput, match=reason) as caught:
        loss_from_text(text)
    assert caught.value.fix


@pytest.mark.parametrize("wrong", [None, 1, b"loss/1 pure(epsilon=1)", ["loss/1 pure(epsilon=1)"], Pure(1)])
def test_only_a_str_is_read(wrong):
    with pytest.raises(WrongType, match="not a str"):
        loss_from_text(wrong)


def test_only_a_loss_is_written():
    with pytest.raises(WrongType, match="A loss is expected"):
        loss_to_text("loss/1 pure(epsilon=1)")


def test_as_deep_as_a_loss_may_be_a_text_may_be():
    loss = Pure(1)
    for _ in range(DEEPEST - 1):
        loss = Repeated(loss, 2)
    assert loss_from_text(loss_to_text(loss)) == loss


def test_the_longest_number_that_a_parameter_may_be_is_written_and_read():
    longest = Fraction(2**4096 - 1, 2**4095)
    assert loss_from_text(loss_to_text(Pure(longest))) == Pure(longest)


def test_what_could_not_be_read_back_is_not_written():
    with pytest.raises(OutOfRange, match="digits"):
        loss_to_text(Repeated(Pure(1), 10**MOST_DIGITS))
    with pytest.raises(OutOfRange, match="entries"):
        loss_to_text(Composed([Pure(1)] * (MOST_ENTRIES + 1)))
    with pytest.raises(OutOfRange, match="common denominator"):
        loss_to_text(DominatingPair(*[_many_denominators()] * 2))
    # A thousand parts that share one long table: small in memory, 14 million characters when written.
    table = DominatingPair(*[[Fraction(1, 2000)] * 2000] * 2)
    with pytest.raises(OutOfRange, match="characters"):
        loss_to_text(Composed([table] * 1000))
    deep = Composed([Pure(1)] * 8000)
    for _ in range(DEEPEST - 2):
        deep = Repeated(deep, 2)
    with pytest.raises(OutOfRange, match="too deep"):
        loss_to_text(deep)


def _many_denominators() -> list[Fraction]:
    """Return a distribution whose common denominator is long, though each of its denominators is short."""
    parts = [Fraction(2**3998 + 1, 20 * (2**4000 + step)) for step in range(1, 40, 2)]
    return [probability for part in parts for probability in (part, Fraction(1, 20) - part)]


#: The fastest of these takes a few milliseconds; quadratic work on any of them would take hours.
HOSTILE = {
    "one long number": f"loss/1 pure(epsilon={'1' * 9_000_000})",
    "a long name": f"loss/1 {'a' * 9_000_000}",
    "deep": f"loss/1 {'repeated(' * 1_000_000}",
    "deep and wide": f"loss/1 {'repeated(' * 62}composed({'composed(), ' * 100_000}",
    "a long curve": f"loss/1 renyi(curve=[{'2: 1, ' * 1_000_000}",
    "many denominators": f"loss/1 dominating_pair(present=[{', '.join(f'1/{n}' for n in range(10**6, 10**6 + 50_000))}",
    "too long": f"loss/1 composed({'pure(epsilon=1), ' * 600_000}",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_is_refused_soon(kind):
    started = time.process_time()
    with pytest.raises(InvalidInput):
        loss_from_text(HOSTILE[kind])
    assert time.process_time() - started < 10
