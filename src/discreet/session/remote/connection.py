"""Connections to a service: its address, the token, TLS, and one exchange of HTTP at a time.

Guarantee: the token leaves in one header of requests to the address that was given, over TLS or within this machine;
redirects are not followed. It is in no address, no `repr` and no error. Of a reply no more is read than is allowed, and
not for longer than until a deadline.
Reference: RFC 6750 (bearer tokens), RFC 9110 (HTTP).
"""

import os
import re
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import Self
from urllib.parse import urlsplit

from discreet.core import DiscreetError, InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.session.remote.refusals import Unreachable
from discreet.session.remote.words import MOST_BYTES

#: Where a token is looked for that is not passed: its text, and a file with it.
TOKEN, TOKEN_FILE = "DISCREET_TOKEN", "DISCREET_TOKEN_FILE"
#: Characters of a token; those of an identity provider have thousands.
MOST_TOKEN = 16_384
TOKEN_FORM = re.compile(r"[A-Za-z0-9._~+/-]+=*", re.ASCII)
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|[0-9a-f:.]+", re.ASCII)
PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*", re.ASCII)
#: Seconds until a connection is there; bytes that are read at once; connections that are kept.
CONNECTING, CHUNK, MOST_IDLE = 10.0, 1 << 16, 4
#: Seconds after which the other side of a silent connection is asked whether it is there, and between such questions.
PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAddress:
    """Where a service is."""

    secure: bool
    host: str
    port: int
    #: What stands before the paths of the service, behind a proxy; often nothing.
    path: str = ""

    @classmethod
    def read(cls, url: object) -> Self:
        """Return the address that a text says, or refuse it; the refusal quotes nothing of it."""
        if not isinstance(url, str):
            raise WrongType(f"The address is {kind_of(url)}, not a text.", fix=f'pass "{EXAMPLE}"')
        try:
            parts = urlsplit(url)
            port, host, name = parts.port, parts.hostname or "", parts.username
        except ValueError:
            raise refuse_address("The address cannot be read.") from None
        if name is not None or parts.password is not None or parts.query or parts.fragment:
            raise refuse_address("The address has more than a host and a path.")
        path = parts.path.rstrip("/")
        if parts.scheme not in ("https", "http") or not HOST.fullmatch(host) or not PATH.fullmatch(path):
            raise refuse_address("The address is not that of a service.")
        secure = parts.scheme == "https"
        if not secure and not is_loopback(host):
            raise InvalidInput(
                "Without TLS, every machine on the way could read the token.",
                fix="use https://…; http://… is for services on this machine only",
            )
        return cls(secure=secure, host=host, port=port or (443 if secure else 80), path=path)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.secure else 80)
        return f"{'https' if self.secure else 'http'}://{host}{'' if usual else f':{self.port}'}{self.path}"


EXAMPLE = "https://data.hospital.example"


def refuse_address(problem: str) -> InvalidInput:
    """Return the error that refuses an address."""
    return InvalidInput(problem, fix=f'pass its address, such as "{EXAMPLE}"; the token is an argument of its own')


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class AccessToken:
    """A bearer token. Its text is in a header, and nowhere else."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if len(text) > MOST_TOKEN or not TOKEN_FORM.fullmatch(text):
            raise InvalidInput("The token is not written as one.", fix=TOKEN_FIX)
        self._text = text

    @classmethod
    def find(cls, token: "str | Path | None") -> "AccessToken":
        """Return the token that is passed, that a file has, or that the environment has."""
        match token:
            case str():
                return cls(token.strip())
            case Path():
                return cls(_read_token(token))
            case None:
                text, file = os.environ.get(TOKEN), os.environ.get(TOKEN_FILE)
                if text:
                    return cls(text.strip())
                if file:
                    return cls(_read_token(Path(file)))
                raise InvalidInput("There is no token.", fix=TOKEN_FIX)
            case _:
                raise WrongType(f"The token is {kind_of(token)}, neither a text nor a path.", fix=TOKEN_FIX)

    @property
    def header(self) -> str:
        """The value of the header that says who asks."""
        return f"Bearer {self._text}"

    def __repr__(self) -> str:
        return "AccessToken(…)"

    def __reduce__(self) -> str:
        raise WrongType("A token is not copied.", fix="connect again where it is needed")


TOKEN_FIX = (
    f"pass token=…, a text or the Path of a file (in a terminal --token-file FILE); or set {TOKEN} or {TOKEN_FILE}. "
    "The steward gives tokens"
)


def _read_token(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_TOKEN + 1).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput("The file of the token cannot be read.", fix=TOKEN_FIX) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What came back: a status, the headers that matter, and a body that nobody has judged yet."""

    status: int
    media: str
    #: Seconds after which to ask again; None if nothing is said.
    retry_after: int | None
    body: bytes = field(repr=False)


class Connections:
    """Connections to one service, kept for the next request. Used by any number of threads."""

    def __init__(self, address: ServiceAddress, token: AccessToken, authorities: "str | Path | None" = None) -> None:
        self.address = address
        self._token = token
        self._context = _trust(authorities) if address.secure else None
        self._idle: list[HTTPConnection] = []
        self._lock, self._process = Lock(), os.getpid()

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], deadline: float
    ) -> HttpReply:
        """Return the reply to one request. `deadline` is a moment of `time.monotonic`."""
        while True:
            connection, used = self._take(deadline)
            try:
                return self._exchange(connection, method, path, body, headers, deadline)
            except DiscreetError:
                connection.close()
                raise
            except ssl.SSLCertVerificationError:
                connection.close()
                raise Unreachable(
                    "The certificate of the service is not trusted.",
                    fix="check the address; if an authority of your own signed it, pass authorities=, a file in PEM",
                ) from None
            except socket.gaierror:
                connection.close()
                raise Unreachable("There is no host of this name.", fix="check the address of the service") from None
            except (OSError, HTTPException):
                connection.close()
                # A connection that was kept may have been closed by the other side: that is no failure.
                if not used or time.monotonic() >= deadline:
                    raise Unreachable.lost() from None
            except BaseException:
                connection.close()
                raise

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __repr__(self) -> str:
        return f"Connections({str(self.address)!r})"

    def __reduce__(self) -> str:
        raise WrongType("A connection is not copied.", fix="connect again where it is needed")

    def _take(self, deadline: float) -> tuple[HTTPConnection, bool]:
        """Return a connection, and whether it was used before."""
        with self._lock:
            if self._process != os.getpid():  # the parent of a fork goes on with these
                for inherited in self._idle:
                    inherited.close()
                self._idle, self._process = [], os.getpid()
            if self._idle:
                return self._idle.pop(), True
        address, patience = self.address, min(CONNECTING, max(deadline - time.monotonic(), 0.001))
        if self._context is None:
            return HTTPConnection(address.host, address.port, timeout=patience), False
        return HTTPSConnection(address.host, address.port, timeout=patience, context=self._context), False

    def _exchange(
        self,
        connection: HTTPConnection,
        method: str,
        path: str,
        body: bytes | None,
        headers: Mapping[str, str],
        deadline: float,
    ) -> HttpReply:
        if connection.sock is None:
            connection.connect()
            _keep_alive(connection.sock)  # type: ignore[arg-type] # there is one now
        connected = connection.sock
        connected.settimeout(_seconds_until(deadline))
        connection.request(
            method, f"{self.address.path}{path}", body=body, headers={**headers, "Authorization": self._token.header}
        )
        response = connection.getresponse()
        reply = HttpReply(
            status=response.status,
            media=(response.headers.get("content-type") or "").partition(";")[0].strip().lower(),
            retry_after=_read_seconds(response.headers.get("retry-after")),
            body=_read_body(response, connected, deadline),
        )
        self._give_back(connection, response)
        return reply

    def _give_back(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        with self._lock:
            if connection.sock is not None and response.isclosed() and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()


def _trust(authorities: "str | Path | None") -> ssl.SSLContext:
    """Return the rules of TLS: certificates of known authorities, or of one's own, for this very host."""
    try:
        context = ssl.create_default_context(cafile=None if authorities is None else str(authorities))
    except OSError:  # also what TLS itself refuses
        raise InvalidInput(
            "The authorities cannot be read.", fix="pass the path of a file with certificates in PEM"
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _keep_alive(connected: socket.socket) -> None:
    """Have the system notice when the other side is gone: a slot takes minutes, in which nothing is said."""
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in PROBES.items():
        if hasattr(socket, name):  # not on every system
            with suppress(OSError):
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _read_body(response: HTTPResponse, connected: socket.socket, deadline: float) -> bytes:
    """Return a body; one that is too large, too late or packed is refused."""
    if (response.headers.get("content-encoding") or "identity").lower() != "identity":
        raise Unreachable("The reply is compressed, which was not asked for.", fix="check the proxy of the service")
    body = bytearray()
    while chunk := response.read1(CHUNK):
        body += chunk
        if len(body) > MOST_BYTES:
            raise Unreachable(f"The reply has more than {MOST_BYTES} bytes.", fix="check the address of the service")
        connected.settimeout(_seconds_until(deadline))
    if response.length:  # less came than was announced
        raise OSError
    if not response.isclosed():
        response.read()  # nothing more; after this the connection can be used again
    return bytes(body)


def _seconds_until(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _read_seconds(text: str | None) -> int | None:
    """Return the seconds that a header says; a date says none."""
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,6}", text, re.ASCII) else None
