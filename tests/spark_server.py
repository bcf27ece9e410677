"""A server of Spark Connect on this machine, started for a test and ended with it."""

import os
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from spark_tables import SETTINGS, need_java

pyspark = pytest.importorskip("pyspark")

MAIN = "org.apache.spark.sql.connect.service.SparkConnectServer"
#: A machine that is busy takes its time, but never so long.
SECONDS = 400


@contextmanager
def connect_server(folder):
    """Yield a running server, as its address and its process; it writes its log into a folder."""
    need_java()
    home, port = Path(pyspark.__file__).parent, free_port()
    settings = {
        **SETTINGS,
        "spark.ui.enabled": "false",
        "spark.driver.maxResultSize": "0",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    given = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", MAIN, *given, "spark-internal"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=folder, env={**os.environ, "SPARK_HOME": str(home)}
        )
        try:
            _wait(port, process)
            yield f"sc://127.0.0.1:{port}", process
        finally:
            process.kill()
            process.wait()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _wait(port, process):
    """Wait until the server lets somebody in."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server does not start: see server.log in its folder")
