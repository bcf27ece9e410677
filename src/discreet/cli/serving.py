"""The service of datasets, as the terminal starts it."""

from collections.abc import Callable, Sequence
from json import dumps

from discreet.cli.ledger.views import reachable
from discreet.cli.numbers import read_whole
from discreet.cli.output import VERSION, CommandOutput, Fact
from discreet.cli.parsing import PROJECT, Arguments
from discreet.core import whole
from discreet.service.datasets import DatasetSettings
from discreet.service.running import Addresses, Binding, check_service, run_service

#: Ports are numbers up to this one.
LAST_PORT = 65_535


def serve_or_check(arguments: Arguments, tell: Callable[[str], None]) -> CommandOutput:
    """Serve until a signal, and tell the addresses; or check the settings, and serve nothing."""
    paths = list(arguments.settings or ()) or [PROJECT]
    binding = Binding(
        host=arguments.host,
        http_port=_read_port(arguments.http_port, "--http-port"),
        postgres_port=None if arguments.pg_port is None else _read_port(arguments.pg_port, "--pg-port"),
        behind_proxy=arguments.behind_proxy,
    )
    if arguments.check:
        with reachable("The settings"):
            return _checked(check_service(paths, binding))
    with reachable("The service"):
        run_service(paths, binding, lambda addresses: tell(_told(addresses, json=arguments.json)))
    return CommandOutput("serve", {}, (), stream=() if arguments.json else ("The service has stopped.",))


def _read_port(text: str, name: str) -> int:
    return whole(read_whole(text, name), name, least=0, most=LAST_PORT)


def _told(addresses: Addresses, *, json: bool) -> str:
    """Return where the service is: a line for a program, which waits for it, or a few for a person."""
    if json:
        facts = {"http": addresses.http, "postgres": addresses.postgres or None, "datasets": addresses.datasets}
        return dumps({"version": VERSION, "verb": "serve", **facts})
    lines = [f"HTTP: {addresses.http}/v1/datasets/{name}" for name in addresses.datasets]
    if addresses.postgres:
        lines += [f"PostgreSQL: postgresql://{addresses.postgres}/{name}" for name in addresses.datasets]
    return "\n".join([*lines, "Serving. Ctrl-C stops the service."])


def _checked(datasets: Sequence[DatasetSettings]) -> CommandOutput:
    facts: list[Fact] = [
        {
            "name": one.name,
            "settings": str(one.path),
            "people": str(one.people),
            "audit_log": str(one.audit_log),
            "operator_log": str(one.operator_log),
            "workers": one.service.workers,
        }
        for one in datasets
    ]
    lines = (f"{one.name}: {one.service.workers} workers, people in {one.people.name}" for one in datasets)
    return CommandOutput("serve", {"datasets": facts}, (*lines, "The settings can be served."))
