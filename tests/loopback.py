"""The HTTP face on a socket of this machine, and remote sessions that are connected to it."""

import asyncio
import socket
import threading
from contextlib import contextmanager

import discreet
from discreet.service.http.server import Listening, build_server
from service_http import serve_session


@contextmanager
def listening(app):
    """Serve an application until the end of the block; give its address."""
    server = build_server(app, Listening(port=0))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def connected(session, folder, *, who="ada", wrap=None, **options):
    """Serve a session, and give a remote session of somebody on it."""
    served = serve_session(session, folder)
    app = served.app if wrap is None else wrap(served.app)
    with (
        listening(app) as address,
        discreet.connect(address, token=served.tokens[who], **{"patience": 20, **options}) as remote,
    ):
        yield remote
