"""What a server makes of reports: unbiased, within its error bars, nearest where it is projected."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import Pure, Shuffled, epsilon
from discreet.accounting import RandomisedResponse as ResponseLoss
from discreet.core import Bounds, InvalidInput
from discreet.local import (
    Hadamard,
    KaryResponse,
    LocalHashing,
    NumberResponse,
    PrefixTree,
    Rappor,
    SubsetSelection,
    Survey,
    Unary,
    VectorResponse,
    best_encoder,
    cost_of,
    encode_all,
    encode_survey,
    encode_texts,
    error_of,
    errors_of_mean,
    estimate,
    estimate_marginals,
    estimate_mean,
    find_texts,
    on_simplex,
    report_bits,
    shuffled_cost,
    variance_of,
)
from discreet.local.device.surveys import unit_variance
from scripted import Seeded

ENCODERS = {
    "k-ary": KaryResponse(domain=8, epsilon=1),
    "optimal unary": Unary.optimal(domain=8, epsilon=1),
    "symmetric unary": Unary.symmetric(domain=8, epsilon=1),
    "subset": SubsetSelection(domain=8, epsilon=1),
    "rappor": Rappor.for_epsilon(domain=8, epsilon=2, once=1),
    "Hadamard": Hadamard(domain=8, epsilon=1),
    "hashing": LocalHashing(domain=8, epsilon=1),
}
TRUTH = np.array([900, 500, 300, 150, 100, 40, 10, 0])
PEOPLE = np.repeat(np.arange(8), TRUTH)


@pytest.mark.parametrize("name", ENCODERS)
def test_counts_are_unbiased_their_deviation_is_the_stated_one_and_the_error_holds_for_all_at_once(name):
    """400 runs, seed 7: means within 4.5 of their deviations, deviations within 15 %, the bar in 95 % of all runs."""
    encoder, stream, runs = ENCODERS[name], Seeded(7), 400
    made = [estimate(encoder, encode_all(encoder, PEOPLE, entropy=stream)) for _ in range(runs)]
    errors = np.array([each.counts for each in made]) - TRUTH
    exact = np.sqrt([len(PEOPLE) * variance_of(encoder, Fraction(int(held), len(PEOPLE))) for held in TRUTH])
    assert np.all(np.abs(errors.mean(axis=0)) < 4.5 * exact / math.sqrt(runs))
    assert np.all(np.abs(errors.std(axis=0) / exact - 1) < 0.15)
    assert np.all(np.abs(np.mean([each.deviation for each in made], axis=0) / exact - 1) < 0.02)
    assert np.mean([np.all(np.abs(each.counts - TRUTH) <= each.error) for each in made]) >= 0.95
    assert made[0].error.max() <= error_of(encoder, people=len(PEOPLE)) * (1 + 1e-12)
    assert np.all(made[0].error < 5 * exact + 40)  # close to what normal bars would be: 2.7 deviations


@pytest.mark.parametrize("name", ENCODERS)
def test_reports_of_devices_and_of_a_crowd_are_read_alike(name):
    encoder = ENCODERS[name]
    reports = [encoder.encode(value) for value in (0, 1, 2, 3, 3, 3, 7)]
    counts = estimate(encoder, reports).counts
    supports = np.array([sum(encoder.supports(report, category) for report in reports) for category in range(8)])
    wanted = (supports - 7 * float(encoder.others)) / float(encoder.kept - encoder.others)
    assert np.allclose(counts, wanted)
    assert np.allclose(estimate(encoder, reports, candidates=[3, 0]).counts, wanted[[3, 0]])


def test_bars_of_a_rare_category_are_narrower_where_only_its_holders_vary_much():
    encoder = KaryResponse(domain=1024, epsilon=1)
    made = estimate(encoder, encode_all(encoder, np.arange(1_000_000) % 1024, entropy=Seeded(3)))
    assert made.error.max() < 0.75 * error_of(encoder, people=1_000_000)
    assert np.all(np.abs(made.counts - 1_000_000 / 1024) <= made.error)


def test_the_error_grows_with_the_confidence_and_the_number_of_categories():
    encoder = ENCODERS["hashing"]
    assert error_of(encoder, people=1000, confidence=0.99) > error_of(encoder, people=1000, confidence=0.9)
    assert error_of(encoder, people=1000, categories=1) < error_of(encoder, people=1000)


# Simplex.


@pytest.mark.parametrize("seed", range(6))
def test_the_projection_is_the_nearest_point_that_could_be_counts(seed):
    """By the conditions of the least distance: one shift for all that stay, and none that leave would be above 0."""
    values = np.random.default_rng(seed).normal(3, 10, 9)
    found = on_simplex(values, 20)
    assert found.min() >= 0
    assert math.isclose(found.sum(), 20)
    shift = (values - found)[found > 0]
    assert np.allclose(shift, shift[0])
    assert np.all(values[found == 0] <= shift[0] + 1e-9)


def test_what_could_be_counts_stays_as_it_is():
    assert on_simplex(np.array([3.0, 0.0, 7.0]), 10).tolist() == [3, 0, 7]
    assert on_simplex(np.array([-3.0, 5.0]), 0).tolist() == [0, 0]


def test_projected_counts_are_nearer_to_the_truth():
    encoder, stream = ENCODERS["Hadamard"], Seeded(2)
    made = [estimate(encoder, encode_all(encoder, PEOPLE, entropy=stream)) for _ in range(50)]
    plain = np.mean([np.sum((each.counts - TRUTH) ** 2) for each in made])
    assert np.mean([np.sum((each.projected() - TRUTH) ** 2) for each in made]) < plain
    assert math.isclose(made[0].projected().sum(), len(PEOPLE))


# Means.


@pytest.mark.parametrize("name", ["duchi", "piecewise", "hybrid"])
@pytest.mark.parametrize("level", [1, 4])
def test_a_mean_is_unbiased_and_within_its_error(name, level):
    """300 runs of 500 people, seed 9."""
    encoder = getattr(NumberResponse, name)(bounds=Bounds(-2, 6), epsilon=level)
    values, stream = np.linspace(-2, 5, 500), Seeded(9)
    made = [estimate_mean(encoder, encode_all(encoder, values, entropy=stream)) for _ in range(300)]
    errors = np.array([each.mean[0] for each in made]) - values.mean()
    assert abs(errors.mean()) < 4.5 * made[0].deviation / math.sqrt(300)
    assert errors.std() < 1.1 * made[0].deviation
    assert np.mean(np.abs(errors) <= made[0].error) >= 0.95
    assert (made[0].deviation, made[0].error) == errors_of_mean(encoder, people=500)


@pytest.mark.parametrize("level", [1, 6])
def test_the_mean_of_vectors_is_unbiased_and_within_its_error(level):
    """200 runs of 500 people, seed 10."""
    encoder = VectorResponse(size=4, bounds=Bounds(-1, 1), epsilon=level)
    values = np.tile([-1.0, 0.0, 0.5, 1.0], (500, 1))
    stream = Seeded(10)
    made = [estimate_mean(encoder, encode_all(encoder, values, entropy=stream)) for _ in range(200)]
    errors = np.array([each.mean for each in made]) - values[0]
    assert np.all(np.abs(errors.mean(axis=0)) < 4.5 * made[0].deviation / math.sqrt(200))
    assert errors.std(axis=0).max() < 1.1 * made[0].deviation
    assert np.mean(np.abs(errors).max(axis=1) <= made[0].error) >= 0.95
    single = [encoder.encode([0.1, 0.2, 0.3, 0.4]) for _ in range(3)]
    assert estimate_mean(encoder, single).mean.shape == (4,)


def test_vectors_are_told_better_by_a_few_coordinates_than_by_all():
    """Each coordinate by an ε of its own share would vary more: why only some are told."""
    some = errors_of_mean(VectorResponse(size=16, bounds=Bounds(-1, 1), epsilon=1), people=1000)[0]
    each = NumberResponse.hybrid(bounds=Bounds(-1, 1), epsilon=Fraction(1, 16))
    assert some < errors_of_mean(each, people=1000)[0] / 2


# Texts.

TEXTS = [*["the"] * 12_000, *["and"] * 7_000, *["andes"] * 5_000, *[f"w{number % 997}" for number in range(6_000)]]


def test_frequent_texts_are_found_with_counts_within_their_errors_and_no_others():
    tree = PrefixTree(length=4, epsilon=4)
    for seed in range(3):
        found = find_texts(tree, encode_texts(tree, TEXTS, entropy=Seeded(seed)))
        counts = {each.text: each for each in found.found}
        assert list(counts) == [b"the", b"and", b"ande"]
        for text, truth in {b"the": 12_000, b"and": 7_000, b"ande": 5_000}.items():
            assert abs(counts[text].count - truth) <= counts[text].error
            assert counts[text].error < truth
        assert found.people == len(TEXTS)
        assert found.least < 5_000


def test_where_nobody_agrees_no_text_is_found():
    tree = PrefixTree(length=3, epsilon=2)
    texts = [number.to_bytes(2, "big") for number in range(20_000)]
    assert sum(len(find_texts(tree, encode_texts(tree, texts, entropy=Seeded(seed))).found) for seed in range(5)) == 0


def test_texts_that_devices_tell_one_by_one_are_found():
    tree = PrefixTree(length=1, epsilon=5)
    found = find_texts(tree, [tree.encode("x") for _ in range(150)] + [tree.encode("yy") for _ in range(150)])
    assert {each.text for each in found.found} == {b"x", b"y"}


@pytest.mark.parametrize("level", [Fraction(1, 2), 1, 2, 3])
def test_what_a_prefix_adds_is_taken_off_whatever_the_field(level):
    """Counts of all 256 next bytes, found by the transform, are those by asking each report."""
    from discreet.local.server.heavy_hitters import _children

    tree = PrefixTree(length=2, epsilon=level)
    encoder, reports = tree.levels[1], [tree.levels[1].encode(tree.category(b"ab")) for _ in range(25)]
    rows = np.array([_digits(encoder, report) for report in reports], np.uint8)
    counts = _children(tree, encoder, rows, b"a")
    for byte in (0, 97, 98, 255):
        category = tree.category(bytes([97, byte]))
        support = sum(encoder.supports(report, category) for report in reports)
        assert math.isclose(
            counts[byte], (support - 25 * encoder.others) / (encoder.kept - encoder.others), abs_tol=1e-9
        )


def _digits(encoder, report):
    seed, bucket = divmod(report, encoder.buckets)
    return [*(seed // encoder.buckets**place % encoder.buckets for place in range(encoder.digits)), bucket]


# Marginals.


def test_marginals_are_unbiased_within_their_error_and_agree():
    """60 runs, seed 12."""
    survey = Survey(attributes={"a": 2, "b": 3, "c": 2}, epsilon=2)
    columns = {"a": np.arange(3000) % 2, "b": np.arange(3000) % 3, "c": (np.arange(3000) % 3 == 0).astype(int)}
    truth = np.zeros((3, 2))
    np.add.at(truth, (columns["b"], columns["c"]), 1)
    stream, plain, agreed, kept = Seeded(12), [], [], []
    for _ in range(60):
        made = estimate_marginals(survey, encode_survey(survey, columns, entropy=stream))
        plain.append(made.counts["b", "c"] - truth)
        agreed.append(made.agreed["b", "c"] - truth)
        kept.append(np.abs(plain[-1]).max() <= made.error)
        assert np.allclose(made.agreed["a", "b"].sum(axis=0), made.agreed["b", "c"].sum(axis=1))
        assert abs(made.agreed["a", "c"].sum() - 3000) < 1
    spread = np.std(plain, axis=0)
    assert np.all(np.abs(np.mean(plain, axis=0)) < 4.5 * spread / math.sqrt(60))
    assert np.all(np.abs(np.mean(agreed, axis=0)) < 4.5 * spread / math.sqrt(60))
    assert np.mean(np.square(agreed)) < np.mean(np.square(plain))
    assert np.mean(kept) >= 0.95


def test_a_survey_is_read_from_devices_one_by_one():
    survey = Survey(attributes={"a": 2, "b": 3}, epsilon=4, ways=1)
    made = estimate_marginals(survey, [survey.encode({"a": 1, "b": 2}) for _ in range(400)])
    assert set(made.counts) == {("a",), ("b",)}
    assert made.agreed["a",][1] > 300
    assert made.agreed["b",][2] > 300


# Choosing and paying.


@pytest.mark.parametrize("domain", [2, 3, 8, 30, 200])
@pytest.mark.parametrize("level", [Fraction(1, 10), 1, 3, 6])
def test_the_best_encoder_varies_no_more_than_a_hundredth_above_the_least(domain, level):
    rivals = [
        KaryResponse(domain=domain, epsilon=level),
        Hadamard(domain=domain, epsilon=level),
        LocalHashing(domain=domain, epsilon=level),
        Unary.optimal(domain=domain, epsilon=level),
        Unary.symmetric(domain=domain, epsilon=level),
        SubsetSelection(domain=domain, epsilon=level),
    ]
    share = Fraction(1, domain)
    best = best_encoder(domain=domain, epsilon=level)
    least = min(unit_variance(each, share) for each in rivals)
    assert unit_variance(best, share) <= least * Fraction(101, 100)
    assert unit_variance(best_encoder(domain=domain, epsilon=level, slack=0), share) == least


def test_few_bits_are_kept_to_and_too_few_are_refused():
    assert isinstance(best_encoder(domain=1024, epsilon=1, most_bits=11), Hadamard)
    assert isinstance(best_encoder(domain=1024, epsilon=1, most_bits=10), KaryResponse)
    assert isinstance(best_encoder(domain=1024, epsilon=1), LocalHashing)
    assert isinstance(best_encoder(domain=1024, epsilon=1, slack=0), SubsetSelection)
    assert report_bits(best_encoder(domain=10**30, epsilon=1)) < 110
    with pytest.raises(InvalidInput, match="fix: allow 10 bits"):
        best_encoder(domain=1024, epsilon=1, most_bits=9)


def test_costs_are_stated_in_the_words_of_the_accountant():
    assert cost_of(Hadamard(domain=8, epsilon=1)) == Pure(1)
    response = KaryResponse(domain=4, epsilon=1)
    assert cost_of(response) == ResponseLoss(response.kept, 4)
    assert epsilon(cost_of(response), 0) <= 1 + 1e-14
    rappor = Rappor.for_epsilon(domain=4, epsilon=2, once=1)
    assert cost_of(rappor).epsilon == rappor.epsilon
    assert shuffled_cost(rappor, people=10) == Shuffled(Pure(rappor.once), 10)


def test_shuffling_is_billed_by_the_accountant_and_costs_less():
    shuffled = shuffled_cost(KaryResponse(domain=4, epsilon=2), people=100_000)
    assert epsilon(shuffled, Fraction(1, 10**8)) < 0.1
    assert epsilon(shuffled_cost(Hadamard(domain=8, epsilon=2), people=100_000), Fraction(1, 10**8)) < 0.1
