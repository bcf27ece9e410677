"""`discreet.connect` and `discreet mcp` at a service of real processes: slots, workers that die, and one payment."""

import asyncio
import json
import os
import signal
import sys
import time

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")
pytest.importorskip("jwt", reason="discreet[oidc] is not installed")

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

import discreet
from clinic import BY_WARD, COUNT
from discreet.core import DiscreetError
from discreet.gate import Ledger
from discreet.session import NotAllowed
from running import running, write_served

QUICK = 'rows = 10_000\nslot = "100ms"\nworkers = 1'
OIDC = """
[service.oidc]
issuer = "https://login.hospital.example"
audience = "clinic"
keys = "jwks.json"
"""
#: A key of an identity provider.
KEY = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remote")
    public = {**ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "one"}
    (folder / "jwks.json").write_text(json.dumps({"keys": [public]}))
    return write_served(folder, service=f"{QUICK}{OIDC}")


@pytest.fixture(scope="module")
def service(clinic):
    with running(clinic[0]) as service:
        yield service


def payments(clinic):
    """Return the payments of a ledger, by request."""
    with Ledger.open(clinic[0].parent / "visits.ledger", anchors=[]) as ledger:
        return [receipt.request for receipt in ledger.recent(1000)]


def test_a_remote_session_asks_a_service_of_processes(service, clinic):
    with discreet.connect(service.http, token=clinic[1]["ada"], patience=60) as remote:
        assert remote.preview(BY_WARD, epsilon=0.5).fits
        answer = remote.sql(BY_WARD, epsilon=0.5, request="wards")
        assert answer.fresh
        assert len(answer) == 3
        again = remote.table().group_by("ward").agg(n=discreet.count(), stay=discreet.mean("stay")).release(epsilon=0.5)
        assert again.release.stored == answer.release.stored
        batch = remote.batch([COUNT, BY_WARD], epsilon=1)
        assert [len(one) for one in batch] == [1, 3]
        assert remote.account().analyst == "ada"


def test_what_is_lost_or_late_is_asked_for_again_and_paid_once(service, clinic):
    """Workers are killed while questions run; each question that is answered in the end was paid for once."""
    with discreet.connect(service.http, token=clinic[1]["bob"], patience=60) as remote:
        for number in range(2):
            request, text = f"killed-{number}", f"SELECT COUNT(*) AS n FROM visits WHERE age > {number}"
            for worker in service.workers:
                os.kill(worker, signal.SIGKILL)
            for _ in range(5):
                try:
                    answer = remote.sql(text, epsilon=0.1, request=request)
                    break
                except DiscreetError:
                    continue
            assert answer.receipt.request == f"bob:{request}"
    paid = payments(clinic)
    assert [paid.count(f"bob:killed-{number}") for number in range(2)] == [1, 1]


def test_somebody_whom_an_identity_provider_names_asks_and_pays(service, clinic):
    now = int(time.time())
    said = {"iss": "https://login.hospital.example", "aud": "clinic", "sub": "sam", "iat": now, "exp": now + 600}
    token = jwt.encode(said, KEY, algorithm="ES256", headers={"kid": "one"})
    with discreet.connect(service.http, token=token) as remote:
        assert remote.analyst == "sam"
        assert remote.sql(COUNT, epsilon=0.125).receipt.analyst == "sam"
    for wrong in ({"sub": "eva"}, {"aud": "census"}, {"exp": now - 60}):
        with pytest.raises(NotAllowed):
            discreet.connect(
                service.http, token=jwt.encode({**said, **wrong}, KEY, algorithm="ES256", headers={"kid": "one"})
            )


def test_an_assistant_asks_a_service_of_processes(service, clinic):
    pytest.importorskip("mcp", reason="discreet[mcp] is not installed")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters

    # The token is in the environment, and not among the words that every user of a machine can read.
    environment = {**os.environ, "DISCREET_TOKEN": clinic[1]["sam"]}
    program = StdioServerParameters(
        command=sys.executable, args=["-m", "discreet", "mcp", "--url", service.http], env=environment
    )

    async def run():
        async with Client(program) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            return tools, (await client.call_tool("ask", {"sql": COUNT, "epsilon": "0.5"})).structured_content

    tools, answer = asyncio.run(run())
    assert tools == ["schema", "preview", "ask", "account"]
    assert answer["rows_in_all"] == 1
    assert answer["request"].startswith("sam:")
