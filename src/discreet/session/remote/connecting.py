"""`discreet.connect`: a session whose rows are behind a service."""

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core import Number, positive
from discreet.core.exact import flag
from discreet.session.remote.remote_session import RemoteSession

if TYPE_CHECKING:
    from discreet.session.remote.client import ServiceClient


def connect(
    url: str,
    *,
    token: str | Path | None = None,
    dataset: str | None = None,
    patience: Number = 600,
    pay: bool = True,
    authorities: str | Path | None = None,
) -> RemoteSession:
    """Connect to a service that holds private tables, and ask it as one asks a session of `discreet.open`.

    Nothing is spent by connecting. No row arrives, and the budget is the service's. Tables, error bars and plots are
    made here.

    Args:
        url: The address of the service, such as `https://data.hospital.example`. Without TLS, only a service on this
            machine is asked (`http://127.0.0.1:8417`).
        token: The access token of the analyst, as the steward gave it: a text, or the `Path` of a file with it. If
            left out, the variable `DISCREET_TOKEN` has it, or `DISCREET_TOKEN_FILE` the path.
        dataset: The name of the dataset; it may be left out where the service has only one.
        patience: The seconds that one request may take in all: an answer leaves at the end of its slot, which may take
            minutes, and what is not ready, or not possible for load, is asked again under the same request id. Nothing
            is paid for twice by that.
        pay: Whether questions may spend. If not, stored answers are handed out, and anything else is refused with its
            price: for dashboards.
        authorities: A file in PEM with the certificates of the authorities to trust; those of the system, if left out.

    Returns:
        A session with the methods of `Session`, which closes with a `with` block.

    Raises:
        InvalidInput: The address, the token or the authorities cannot be used, or the service has another version.
        DiscreetError: The service cannot be reached (`discreet.session.Unreachable`), refuses the token
            (`discreet.session.NotAllowed`), or has no such dataset (`discreet.session.NotFound`). The error names a
            fix.

    Example:
        >>> clinic = discreet.connect("https://data.hospital.example")  # doctest: +SKIP
        >>> clinic.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.1)  # doctest: +SKIP

    """
    may_pay = flag(pay, "pay")
    client, name = open_client(url, token=token, dataset=dataset, patience=patience, authorities=authorities)
    try:
        return RemoteSession(client, name, pay=may_pay)
    except BaseException:
        client.close()
        raise


def open_client(
    url: str, *, token: str | Path | None, dataset: str | None, patience: Number, authorities: str | Path | None
) -> "tuple[ServiceClient, str]":
    """Return a client of one dataset of a service, and the name of the dataset; `connect` explains the arguments."""
    # TLS and HTTP take time to load, and only remote sessions need them.
    from discreet.session.remote.client import ServiceClient  # noqa: PLC0415
    from discreet.session.remote.connection import AccessToken, Connections, ServiceAddress  # noqa: PLC0415

    connections = Connections(ServiceAddress.read(url), AccessToken.find(token), authorities)
    client = ServiceClient(connections, patience=float(positive(patience, "patience")))
    try:
        return client, client.choose_dataset(dataset)
    except BaseException:
        client.close()
        raise
