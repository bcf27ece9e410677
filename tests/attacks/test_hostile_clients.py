"""Hostile clients of the HTTP face: bodies that no program would send, and all that its document allows or forbids."""

from collections import Counter

import pytest

pytest.importorskip("starlette", reason="discreet[service] is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

import discreet
from clinic import opened, seen
from service_fuzz import fuzz
from service_http import serve_session

#: Bodies in `make test`, and in `make slow`, where they are split into parts.
QUICK, FULL, PART = 200, 10_000, 1_000
#: What a fuzzed request may be told: never a fault of the service.
TOLD = {200, 400, 401, 402, 403, 404, 409, 413, 415, 422, 429}
#: Examples of each operation, valid and invalid ones.
FEW, MANY = 2, 60
#: A text is no question (422), nor has it a price that fits (402); and to a document 10.0 is a whole number (400).
CONFIG = {"checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", 400, 401, 402, 403, 404, 409, 422]}}}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with opened(folder, ledger=None, budget=discreet.Budget(epsilon=1000, delta=1e-9)) as session:
        yield serve_session(session, tmp_path_factory.mktemp("served"))


@pytest.mark.parametrize(
    ("count", "seed"), [(QUICK, 0), *(pytest.param(PART, 1 + n, marks=pytest.mark.slow) for n in range(FULL // PART))]
)
def test_no_body_makes_the_service_fail_hang_or_tell_of_rows(clinic, count, seed):
    replies = fuzz(clinic.app, clinic.tokens["ada"], count, seed)
    statuses = Counter(status for status, _ in replies)
    assert statuses.keys() <= TOLD
    assert [text for _, text in replies if seen(text.decode())] == []
    assert statuses[200] >= count / 100
    assert statuses[422] >= count / 10


@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_schemathesis_finds_no_reply_that_the_document_does_not_allow(clinic, examples):
    """All checks of schemathesis, on valid and invalid requests of every operation, as an analyst and as a steward."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed: run `make everything`")
    document = schemathesis.openapi.from_asgi("/openapi.json", clinic.app, config=schemathesis.Config.from_dict(CONFIG))
    found, tried = {}, 0
    for operation in document.get_all_operations():
        for mode in schemathesis.GenerationMode:
            for failure in try_operation(operation.ok(), mode, examples, clinic.tokens["sam"]):
                found[operation.ok().label, mode.name] = str(failure)
            tried += 1
    assert found == {}
    assert tried > 20


def try_operation(operation, mode, examples, token):
    """Yield what schemathesis finds wrong with an operation."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis.errors import Unsatisfiable

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    def run(case):
        if "dataset" in case.path_parameters:
            case.path_parameters["dataset"] = "clinic"
        text = case.call_and_validate(headers={"Authorization": f"Bearer {token}"}).text
        assert not seen(text)

    try:
        run()
    except Unsatisfiable:
        return  # there is no invalid request of an operation without parameters
    except Exception as failure:  # noqa: BLE001 - it is told with its operation
        yield failure
