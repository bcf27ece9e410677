"""The running service: datasets behind addresses, from its start until it is told to stop.

A sub-face for the terminal. Signals end it: nothing new is begun, what runs has a few seconds, and then all processes
are gone. It ends by itself, with an error, if a process that it cannot do without is gone, so that a supervisor starts
it again.
"""

import asyncio
import logging
import resource
import signal
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.core import InvalidInput, NotReady
from discreet.core.operator_log import OPERATOR
from discreet.service.datasets import DatasetSettings, load_certificate, need_private_address, read_datasets
from discreet.service.front import FrontDoor
from discreet.service.guarded_door import GuardedDoor
from discreet.service.limits import RateCounter
from discreet.service.log import AuditLog, OperatorFile
from discreet.service.nursery import Nursery
from discreet.service.postgres.listening import PostgresFace, PostgresListening
from discreet.service.postgres.server import PostgresServer
from discreet.service.registry import Registry
from discreet.service.serving import serve_dataset, start_nursery
from discreet.service.settings import ServiceSettings

try:
    from discreet.service.http.app import Authenticator, HttpFace, build_app
    from discreet.service.http.server import Listening, build_server
except ImportError:
    raise InvalidInput("A service needs Starlette and uvicorn.", fix="pip install 'discreet[service]'") from None

#: Seconds, when the service stops, until runs must have ended, until replies over HTTP must have left, and until
#: statements must have ended, which have up to two more for their replies.
RUNS_DRAIN, REPLIES_DRAIN, STATEMENTS_DRAIN = 3.4, 4, 2.8
#: Seconds between two looks at the processes that fork workers.
WATCH = 0.5
#: Threads of the front for questions and previews: more than one person can take.
THREADS = 16
#: Files that the service has open beside its connections.
OTHER_FILES = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Where the service listens, as its starter says; the rest is in the settings."""

    #: None: as the settings say.
    host: str | None = None
    #: 0: any port that is free.
    http_port: int = 8417
    #: None: PostgreSQL's protocol is not spoken.
    postgres_port: int | None = None
    #: Whether a proxy in front encrypts, from whose address all clients come.
    behind_proxy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Where a service can be asked."""

    http: str
    #: Host and port of PostgreSQL's protocol; empty if it is not spoken.
    postgres: str
    datasets: tuple[str, ...]


def check_service(paths: Sequence[str | Path], binding: Binding) -> tuple[DatasetSettings, ...]:
    """Return the datasets of a service, after all was checked that can be without opening rows or ledgers."""
    datasets = read_datasets(paths)
    _check_listener(datasets[0].service, binding)
    _admit_people(datasets)
    return datasets


def _check_listener(service: ServiceSettings, binding: Binding) -> None:
    encrypted = load_certificate(service) is not None
    need_private_address(_host(service, binding), encrypted=encrypted, behind_proxy=binding.behind_proxy)


def run_service(paths: Sequence[str | Path], binding: Binding, tell: Callable[[Addresses], None]) -> None:
    """Serve datasets until SIGTERM or SIGINT.

    Args:
        paths: The settings of the datasets; what they say of the listener is said by the first.
        binding: Where to listen.
        tell: Is called with the addresses, as soon as questions are taken.

    Raises:
        DiscreetError: The settings are wrong, an address is taken, a dataset cannot be opened; or later, a process of
            the service is gone.

    """
    datasets = read_datasets(paths)
    with ExitStack() as stack:
        # First of all: a copy of this process has what this process has read, and shall have neither threads nor keys.
        nurseries = list[Nursery]()
        for one in datasets:
            nurseries.append(start_nursery(one.path, one.service, has_threads=False))
            stack.callback(nurseries[-1].close)
        _check_listener(datasets[0].service, binding)
        _limit_process(datasets[0].service.connections)
        stack.enter_context(_log_privately(datasets[0].operator_log))
        people = _admit_people(datasets)
        asyncio.run(_serve(_Start(datasets=datasets, nurseries=nurseries, people=people, binding=binding, tell=tell)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """All that a service starts with."""

    datasets: Sequence[DatasetSettings]
    nurseries: Sequence[Nursery]
    #: Who is admitted to each dataset, by its name.
    people: Mapping[str, Authenticator]
    binding: Binding
    tell: Callable[[Addresses], None]

    @property
    def service(self) -> ServiceSettings:
        """The settings of the listener."""
        return self.datasets[0].service


async def _serve(start: _Start) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="discreet-front"))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        ports = (start.binding.http_port, start.binding.postgres_port)
        host = _host(start.service, start.binding)
        listeners = [stack.enter_context(_bind(host, port)) for port in ports if port is not None]
        doors = await _open_datasets(start, stack, stop)
        if doors is not None:
            await _hold_service(start, listeners, doors, stop)


async def _hold_service(
    start: _Start, listeners: Sequence[socket.socket], doors: Sequence[FrontDoor], stop: asyncio.Event
) -> None:
    """Listen, and hold all of it until the end."""
    guarded = {one.name: _guard(one, door) for one, door in zip(start.datasets, doors, strict=True)}
    registries = {one.name: Registry(one.people) for one in start.datasets}
    face = HttpFace(doors=guarded, people=start.people, origins=frozenset(start.service.origins))
    server = build_server(build_app(face), _http_listening(start.service, start.binding))
    postgres = PostgresServer(
        PostgresFace(doors=guarded, people=registries, pay_off=start.service.pay_off),
        _postgres_listening(start.service, start.binding),
    )
    running = await server.begin(listeners[0])
    try:
        for listener in listeners[1:]:
            await postgres.start(listener)
        start.tell(_addresses(start, listeners))
        await _watch(doors, running, stop)
    finally:
        server.should_exit = True  # no connection is taken any more
        await asyncio.gather(postgres.close(), *(door.drain(RUNS_DRAIN) for door in doors))
        await running


async def _open_datasets(start: _Start, stack: AsyncExitStack, stop: asyncio.Event) -> list[FrontDoor] | None:
    """Open all datasets at once; None if the service is to stop meanwhile."""

    async def hold(dataset: DatasetSettings, nursery: Nursery) -> FrontDoor:
        return await stack.enter_async_context(serve_dataset(dataset.path, dataset.service, nursery))

    both = zip(start.datasets, start.nurseries, strict=True)
    tasks = [asyncio.create_task(hold(dataset, nursery)) for dataset, nursery in both]
    stopping, waiting = asyncio.create_task(stop.wait()), set(tasks)
    try:
        while waiting and not stop.is_set():
            done, _ = await asyncio.wait({*waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            waiting -= done
            for task in done.intersection(tasks):
                task.result()  # which raises what was in the way
        return None if stop.is_set() else [task.result() for task in tasks]
    finally:
        for one in (*tasks, stopping):
            one.cancel()  # which does nothing to a dataset that is open
        await asyncio.gather(*tasks, stopping, return_exceptions=True)


async def _watch(doors: Sequence[FrontDoor], running: asyncio.Task[None], stop: asyncio.Event) -> None:
    """Return when the service is to stop; raise an error if a part of it has ended by itself."""
    stopping = asyncio.create_task(stop.wait())
    try:
        while not stop.is_set():
            await asyncio.wait({running, stopping}, timeout=WATCH, return_when=asyncio.FIRST_COMPLETED)
            if running.done() or any(door.is_orphaned for door in doors):
                raise NotReady(
                    "A process or a listener of the service has ended, and the service with it.",
                    fix="start it again, or let a supervisor do so; details are in the operator's log",
                )
    finally:
        stopping.cancel()


def _addresses(start: _Start, listeners: Sequence[socket.socket]) -> Addresses:
    scheme = "http" if start.service.certificate is None else "https"
    return Addresses(
        http=f"{scheme}://{_place(listeners[0])}",
        postgres="".join(map(_place, listeners[1:])),
        datasets=tuple(one.name for one in start.datasets),
    )


def _admit_people(datasets: Sequence[DatasetSettings]) -> dict[str, Authenticator]:
    """Return who is admitted: people with tokens of the service, and those whom an identity provider names."""
    people: dict[str, Authenticator] = {one.name: Registry(one.people) for one in datasets}
    for one in datasets:
        if one.service.oidc is not None:
            from discreet.service.oidc.provider import build_people  # noqa: PLC0415 - it loads an extra

            people[one.name] = build_people(Registry(one.people), one.service.oidc)
    return people


def _guard(dataset: DatasetSettings, door: FrontDoor) -> GuardedDoor:
    """Return a door behind limits and an audit log, which all faces share."""
    audit = AuditLog(dataset.audit_log)
    return GuardedDoor(door, dataset=dataset.name, rates=RateCounter(dataset.service.limits), audit=audit)


def _host(service: ServiceSettings, binding: Binding) -> str:
    return service.host if binding.host is None else binding.host


def _http_listening(service: ServiceSettings, binding: Binding) -> Listening:
    return Listening(
        certificate=service.certificate,
        key=service.key,
        connections=service.connections,
        connections_per_client=_of_one_client(service, binding),
        drain_seconds=REPLIES_DRAIN,
    )


def _postgres_listening(service: ServiceSettings, binding: Binding) -> PostgresListening:
    return PostgresListening(
        host=_host(service, binding),
        certificate=service.certificate,
        key=service.key,
        require_tls=False if binding.behind_proxy else None,
        connections=service.connections,
        connections_per_client=_of_one_client(service, binding),
        drain_seconds=STATEMENTS_DRAIN,
    )


def _of_one_client(service: ServiceSettings, binding: Binding) -> int:
    """Return how many connections one address may hold; behind a proxy, all come from its address."""
    return service.connections if binding.behind_proxy else service.connections_per_client


def _bind(host: str, port: int) -> socket.socket:
    """Return a socket at an address. It does not listen yet: whoever comes before the service is ready is refused."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except BaseException:
            listener.close()
            raise
    except (OSError, OverflowError):
        raise InvalidInput(
            f"The service cannot listen at {host}, port {port}.",
            fix="choose another port, or 0 for one that is free; check that the host is an address of this machine",
        ) from None
    return listener


def _place(listener: socket.socket) -> str:
    """Return host and port as addresses have them."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextmanager
def _log_privately(place: Path) -> Iterator[None]:
    """Write what goes wrong in this process to the operator's log, and nowhere else."""
    handler = OperatorFile(place)
    others = [logging.getLogger(name) for name in ("uvicorn", "asyncio")]
    before = [(logger, logger.propagate, logger.level) for logger in others]
    for logger in (OPERATOR, *others):
        logger.addHandler(handler)
    for logger in others:
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger in (OPERATOR, *others):
            logger.removeHandler(handler)
        for logger, propagate, level in before:
            logger.propagate = propagate
            logger.setLevel(level)


def _limit_process(connections: int) -> None:
    """Allow as many open files as connections need, if the system does; and no core file, which would have tokens."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
