"""`discreet local …`: what a person reads, what a program reads, and what is refused."""

import pytest

from discreet.cli.commands.local import local_command

ROOM = ("local",)


def test_people_who_do_not_exist_are_asked_and_the_truth_stands_beside_the_estimates(run):
    status, out, err = run("simulate", "--people", "20000", "--categories", "16", "--epsilon", "2")
    assert (status, err) == (0, "")
    assert "20,000 people who do not exist, 16 categories, ε = 2 each." in out
    assert "category  people  estimate  ±" in out
    assert "error bars hold the truth." in out


def test_a_program_reads_all_categories(facts):
    found = facts("simulate", "--people", "2e4", "--categories", "16", "--epsilon", "2", "--delta", "1e-8")
    assert len(found["counts"]) == 16
    assert sum(line["people"] for line in found["counts"]) == found["people"] == 20_000
    assert 0 < found["error_measured"] < 4 * found["error_predicted"]
    assert found["bars_held"] >= 15
    assert 0 < found["shuffled_epsilon"] < 0.5


@pytest.mark.parametrize("name", ["k-ary", "optimal-unary", "symmetric-unary", "hashing", "hadamard", "subset"])
def test_every_encoder_can_be_tried(facts, name):
    found = facts("simulate", "--people", "1000", "--categories", "8", "--epsilon", "1", "--encoder", name)
    assert found["encoder"] == name


def test_few_bits_choose_a_small_report(facts):
    found = facts("simulate", "--people", "1000", "--categories", "1024", "--epsilon", "1", "--bits", "11")
    assert (found["encoder"], found["bits"]) == ("hadamard", 11)


def test_encoders_are_compared(facts, run):
    found = facts("encoders", "--categories", "1024", "--epsilon", "1", "--people", "1e6")
    variances = {each["name"]: each["variance"] for each in found["encoders"]}
    assert found["best"] == "hashing"
    assert min(variances, key=variances.get) == "subset"
    assert abs(variances["optimal-unary"] - 3.68) < 0.01
    assert "best" in run("encoders", "--epsilon", "1")[1]


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--epsilon", "0"),
        ("simulate", "--epsilon", "30"),
        ("simulate", "--epsilon", "1", "--people", "0"),
        ("simulate", "--epsilon", "1", "--people", "1e12"),
        ("simulate", "--epsilon", "1", "--categories", "1"),
        ("simulate", "--epsilon", "1", "--categories", "60000", "--people", "1e6", "--encoder", "subset"),
        ("simulate", "--epsilon", "1", "--encoder", "magic"),
        ("simulate", "--epsilon", "1", "--encoder", "subset", "--bits", "3"),
        ("simulate", "--epsilon", "1", "--bits", "1"),
        ("simulate", "--epsilon", "1", "--delta", "2"),
        ("simulate", "--epsilon", "1", "--confidence", "1"),
        ("simulate",),
        ("encoders",),
        (),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(run, words):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "fix:" in err


def test_every_verb_has_help(run):
    for verb in local_command.modules:
        assert run(verb, "--help")[0] == 0
