"""`discreet serve` as a process: addresses, people, signals, and what is left when a process of it is killed."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import psycopg
import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")

from clinic import BY_WARD, COUNT, seen
from command_line import runner
from discreet.gate import Ledger
from running import Client, is_alive, running, wait_for_run, wait_until_gone, write_served
from scripted_http import certify
from served import TOML

CENSUS = TOML.replace('table = "visits"', 'table = "visits"\nledger = "census.ledger"')
#: Slots of 50 ms.
QUICK = 'rows = 10_000\nslot = "100ms"\nworkers = 1\nquestions_at_once = 1000\nrequests_per_minute = 1_000_000'
#: Of what is told of a service: nobody may read anything of the rows in it.
LOGS = (".audit.log", ".operator.log")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("running")
    os.environ["DISCREET_STATE"] = str(folder / "state")
    return folder


@pytest.fixture(scope="module")
def datasets(folder):
    """Two datasets, with people of their own."""
    return {
        "clinic": write_served(folder / "clinic", service=QUICK),
        "census": write_served(folder / "other", CENSUS, f'name = "census"\n{QUICK}'),
    }


@pytest.fixture(scope="module")
def service(datasets):
    with running(*(path for path, _ in datasets.values()), options=("--pg-port", "0")) as service:
        yield service


def connect(service, token, dataset="clinic"):
    """Return a connection of PostgreSQL's protocol."""
    host, _, port = service.told["postgres"].rpartition(":")
    options = "-c discreet.epsilon=0.5"
    return psycopg.connect(host=host, port=port, user="ada", password=token, dbname=dataset, options=options)


def test_a_service_tells_its_addresses_in_one_line_and_answers_there(service, datasets):
    told = urlsplit(service.http)
    assert (told.scheme, told.hostname) == ("http", "127.0.0.1")
    assert service.told["datasets"] == ["clinic", "census"]
    assert service.client().get("/v1/health") == (200, {"status": "ok"})
    ada = service.client(datasets["clinic"][1]["ada"])
    status, answer = ada.post("ask", sql=BY_WARD, epsilon="0.5", request="wards")
    assert (status, answer["receipt"]["request"]) == (200, "ada:wards")
    assert not seen(json.dumps(answer))


@pytest.mark.parametrize("replays", [200, pytest.param(1000, marks=pytest.mark.slow)])
def test_racing_replays_of_one_key_are_one_payment_and_one_answer(service, datasets, replays):
    question = {"sql": COUNT, "epsilon": "0.25", "fresh": True, "request": f"race{replays}"}

    def ask_often(_):
        with service.client(datasets["clinic"][1]["ada"]) as ada:
            return [ada.post("ask", **question) for _ in range(replays // 40)]

    with ThreadPoolExecutor(40) as pool:
        replies = [reply for some in pool.map(ask_often, range(40)) for reply in some]
    assert {status for status, _ in replies} == {200}
    assert len({(reply["stored"], reply["release"]) for _, reply in replies}) == 1
    with Ledger.open(next(datasets["clinic"][0].parent.glob("*.ledger"))) as ledger:
        assert [receipt.request for receipt in ledger.recent(10_000)].count(f"ada:race{replays}") == 1


def test_the_same_people_ask_the_same_datasets_over_postgresqls_protocol(service, datasets):
    ada = datasets["clinic"][1]["ada"]
    _, answer = service.client(ada).post("ask", sql=COUNT, epsilon="0.5")
    with connect(service, ada) as client:
        assert client.execute(COUNT).fetchone()[0] == int(answer["table"]["rows"][0][0])
    for dataset in ("census", "nowhere"):
        with pytest.raises(psycopg.OperationalError):
            connect(service, ada, dataset)


def test_a_token_is_for_the_datasets_whose_registry_has_it_and_others_are_not_there(service, datasets):
    ada = service.client(datasets["clinic"][1]["ada"])
    assert ada.get("/v1/datasets")[1]["datasets"] == ["clinic"]
    foreign, missing = (service.client(ada.token, dataset) for dataset in ("census", "nowhere"))
    assert foreign.send("GET", "/v1/datasets/census/schema") == missing.send("GET", "/v1/datasets/nowhere/schema")
    assert foreign.post("ask", sql=COUNT, epsilon="0.5")[0] == 404
    assert service.client(datasets["census"][1]["ada"], "census").get("schema")[0] == 200


def test_metrics_are_of_the_datasets_whose_auditor_asks(service, datasets):
    _, text = service.client(datasets["census"][1]["eve"]).send("GET", "/v1/metrics")
    assert b'dataset="clinic"' not in text
    _, text = service.client(datasets["clinic"][1]["eve"]).send("GET", "/v1/metrics")
    assert b'discreet_requests{dataset="clinic",act="ask"}' in text


def test_logs_are_for_their_owner_alone_and_no_log_but_the_operators_has_rows(service, datasets):
    for name, (path, tokens) in datasets.items():
        status, answer = service.client(tokens["ada"], name).post("ask", sql=COUNT, epsilon="0.5", request="logged")
        assert (status, seen(json.dumps(answer))) == (200, seen(""))
        for log in (path.with_suffix(ending) for ending in LOGS):
            assert log.stat().st_mode & 0o777 == 0o600
        assert not seen(path.with_suffix(".audit.log").read_text())
        assert not any(token in path.with_suffix(".audit.log").read_text() for token in tokens.values())


def test_a_front_that_is_killed_takes_nursery_and_workers_with_it_and_its_answers_are_there_again(folder):
    path, tokens = write_served(folder / "killed", service=f'name = "clinic"\n{QUICK}')
    question = {"sql": COUNT, "epsilon": "0.5", "request": "one"}
    with running(path) as service:
        _, first = service.client(tokens["ada"]).post("ask", **question)
        processes = service.tree
        assert len(processes) == 3
        os.kill(service.workers[0], signal.SIGSTOP)  # like one that computes, it hears of no closed pipe
        service.process.kill()
        assert wait_until_gone(processes) == []
    with running(path) as again:
        _, second = again.client(tokens["ada"]).post("ask", **question)
    assert second["stored"] == first["stored"]


def test_a_signal_drains_the_service_within_five_seconds_and_what_runs_is_answered(folder):
    path, tokens = write_served(folder / "drained", service='name = "clinic"\nslot = "400ms"\nworkers = 1')
    with running(path) as service:
        asking, processes = ask_meanwhile(service.client(tokens["ada"]), request="short"), service.tree
        wait_for_run(path, "ada:short")
        status, seconds = service.stop(signal.SIGINT)  # as Ctrl-C does; the next test sends SIGTERM
        assert (status, asking.result()[0], service.end()) == (0, 200, "")
        assert seconds < 5
        assert not any(is_alive(pid) for pid in processes)
    with Ledger.open(next(path.parent.glob("*.ledger"))) as ledger:
        assert ledger.runs.state.total == 0


def test_a_run_that_is_longer_than_the_drain_is_excused_and_no_failure(folder):
    path, tokens = write_served(folder / "excused", service='name = "clinic"\nslot = "5s"\nworkers = 1')
    with running(path) as service:
        asking = ask_meanwhile(service.client(tokens["ada"]), request="long")
        wait_for_run(path, "ada:long")
        status, seconds = service.stop()
        assert (status, asking.result()[0]) == (0, 503)
        assert seconds < 5
    with Ledger.open(next(path.parent.glob("*.ledger"))) as ledger:
        assert (ledger.runs.state.total, ledger.spent) == (0, 1)


def test_a_service_with_a_certificate_speaks_tls_alone_and_may_listen_beyond_this_machine(folder, capsys):
    path, tokens = write_served(
        folder / "tls", service=f'{QUICK}\ncertificate = "localhost.pem"\nkey = "localhost.key"'
    )
    certify(path.parent)
    with running(path, options=("--pg-port", "0")) as service:
        assert service.http.startswith("https://")
        assert service.client(tokens["ada"], "tls").get("schema")[0] == 200
        with connect(service, tokens["ada"], "tls") as client:
            assert client.pgconn.ssl_in_use
        plain = Client(service.http.replace("https", "http"))
        with pytest.raises(ConnectionError), plain:
            plain.get("/v1/health")
    run = runner(capsys, ("serve", "--check"))
    assert run(path, "--host", "0.0.0.0")[0] == 0
    (path.parent / "localhost.key").write_text("no key")
    assert "cannot be used for TLS" in run(path)[2]


def test_a_service_whose_nursery_is_killed_ends_with_an_error_and_so_do_its_workers(folder):
    path, _ = write_served(folder / "orphaned", service=QUICK)
    with running(path) as service:
        processes = service.tree
        os.kill(service.workers[0], signal.SIGSTOP)
        os.kill(service.nurseries[0], signal.SIGKILL)
        assert wait_until_gone(processes[1:]) == []
        assert service.process.wait(10) == 2
        assert "start it again" in service.end()


def ask_meanwhile(client, **fields):
    """Ask in a thread, and return what will be the reply."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(client.post, "ask", sql=COUNT, epsilon="1", **fields)
    finally:
        pool.shutdown(wait=False)


def test_what_is_wrong_is_refused_before_anything_is_served(datasets, folder, capsys):
    path = datasets["clinic"][0]
    twin, _ = write_served(folder / "twin", service='name = "Clinic"')
    lonely = folder / "twin" / "lonely.toml"
    lonely.write_text(f'ledger = "lonely.ledger"\n{twin.read_text()}'.replace('"Clinic"', '"lonely"'))
    bad = folder / "twin" / "bad.toml"
    bad.write_text(twin.read_text().replace('"Clinic"', '"no name"'))
    expected = {
        "two datasets of one name": ([path, twin], "called clinic"),
        "an address beyond this machine": ([path, "--host", "0.0.0.0"], "--behind-proxy"),
        "nobody": ([lonely], "discreet people add"),
        "a name": ([bad], "cannot stand in an address"),
        "a port": ([path, "--http-port", "70000"], "65535"),
    }
    run, wrong = runner(capsys, ("serve", "--check")), {}
    for what, (words, said) in expected.items():
        status, _, told = run(*words)
        if status != 2 or said not in told:
            wrong[what] = told
    assert wrong == {}
    assert run(path, "--host", "0.0.0.0", "--behind-proxy")[0] == 0
