"""A server on this machine that replies as it is told, over TLS where wanted."""

import json
import socket
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


class Scripted:
    """A server on this machine: each request gets the next reply of a script, as bytes; the last one stays."""

    def __init__(self, *replies, context=None):
        self.replies, self.requests, self.accepted, self.context = list(replies), [], 0, context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open, self.clients = [], []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            self.open.append(one)
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one):
        try:
            if self.context is not None:
                one = self.context.wrap_socket(one, server_side=True)
            self._answer(one)
        except OSError:
            pass
        finally:
            one.close()

    def _answer(self, one):
        with one.makefile("rb") as file:
            while line := file.readline():
                head = [line]
                while (line := file.readline()).strip():
                    head.append(line)
                text = b"".join(head).decode()
                length = next((int(one.split(":")[1]) for one in text.splitlines() if one.startswith("Content-Len")), 0)
                self.requests.append((text, file.read(length)))
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                if reply is None:  # hangs up
                    return
                one.sendall(reply)
                if b"Connection: close" in reply:
                    return

    def close(self):
        for client in self.clients:
            client.close()
        self.listener.close()
        for one in self.open:
            one.close()


@contextmanager
def scripted(*replies, **more):
    server = Scripted(*replies, **more)
    try:
        yield server
    finally:
        server.close()


def http(status=200, body=b"{}", media="application/json", **headers):
    """Return a reply as bytes."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {media}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def certify(folder, name="localhost"):
    """Write a certificate that is its own authority, with its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    names = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    built = x509.CertificateBuilder().subject_name(names).issuer_name(names).public_key(key.public_key())
    built = built.serial_number(7).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    hosts = [x509.DNSName(name), x509.IPAddress(ip_address("127.9.9.9"))]
    built = built.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
    built = built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    certificate = built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    paths = folder / f"{name}.pem", folder / f"{name}.key"
    paths[0].write_bytes(certificate)
    paths[1].write_bytes(key.private_bytes(*form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*paths)
    return paths[0], context
