"""SCRAM-SHA-256 on the server's side, with channel binding where there is TLS: a client proves that it has a token.

Guarantee: a client that has no valid token of the name it gives gets the same messages, of the same lengths, whether or
not somebody has the name, and is refused by the same words after the same steps. What is sent of a token is of no use
for a login.
Reference: RFC 5802 and RFC 7677 (SCRAM), RFC 5929 (tls-server-end-point).
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
from dataclasses import dataclass

from discreet.service.postgres.refusals import BAD_LOGIN, SqlRefusal, refuse_violation
from discreet.service.tokens import ScramKeys, ScramVerifier

PLAIN, BOUND = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
BINDING = b"tls-server-end-point"
#: Random bytes that the server adds to the client's.
NONCE_BYTES = 18
#: A nonce: printable ASCII without a comma. The client's is a few signs long.
NONCE = re.compile(rb"[\x21-\x2b\x2d-\x7e]{1,256}")
FIRST = re.compile(
    rb"(?P<header>(?P<flag>n|y|p=(?P<kind>[A-Za-z0-9.-]+)),(?:a=[^,]*)?,)(?P<bare>n=[^,]*,r=(?P<nonce>[^,]+))"
)
FINAL = re.compile(rb"(?P<bare>c=(?P<binding>[A-Za-z0-9+/=]*),r=(?P<nonce>[^,]+)),p=(?P<proof>[A-Za-z0-9+/=]+)")
#: Signature algorithms of certificates, by their object identifiers in DER, and the hash that a binding takes.
#: Of others, such as Ed25519, no hash is agreed: the binding is not offered.
HASHES = {
    bytes.fromhex("2a864886f70d010104"): "sha256",  # md5WithRSAEncryption
    bytes.fromhex("2a864886f70d010105"): "sha256",  # sha1WithRSAEncryption
    bytes.fromhex("2a864886f70d01010b"): "sha256",
    bytes.fromhex("2a864886f70d01010c"): "sha384",
    bytes.fromhex("2a864886f70d01010d"): "sha512",
    bytes.fromhex("2a8648ce3d040302"): "sha256",  # ecdsa-with-SHA256
    bytes.fromhex("2a8648ce3d040303"): "sha384",
    bytes.fromhex("2a8648ce3d040304"): "sha512",
}


@dataclass(frozen=True, slots=True)
class _Opening:
    """What was said before the proof."""

    header: bytes
    bare: bytes
    answer: bytes
    nonce: bytes


class ScramExchange:
    """One login. `begin` takes the client's first message, `finish` its proof."""

    def __init__(self, verifier: ScramVerifier, binding: bytes | None = None) -> None:
        self._verifier, self._binding = verifier, binding
        self._opening: _Opening | None = None
        #: The keys of the token that was proved; None before.
        self.proved: ScramKeys | None = None

    def begin(self, mechanism: str, message: bytes) -> bytes:
        """Return the server's first message: a longer nonce, salt and iterations."""
        found = FIRST.fullmatch(message)
        if found is None or not NONCE.fullmatch(found["nonce"]):
            raise refuse_violation("The first message of SCRAM is malformed.")
        self._check_mechanism(mechanism, found["flag"], found["kind"])
        nonce = found["nonce"] + base64.b64encode(os.urandom(NONCE_BYTES))
        salt = base64.b64encode(self._verifier.salt)
        answer = b"r=" + nonce + b",s=" + salt + b",i=" + str(self._verifier.iterations).encode()
        self._opening = _Opening(found["header"], found["bare"], answer, nonce)
        return answer

    def finish(self, message: bytes) -> bytes:
        """Return the server's proof, or refuse the client's."""
        opening, found = self._opening, FINAL.fullmatch(message)
        if opening is None or found is None:
            raise refuse_violation("The last message of SCRAM is malformed.")
        bound = opening.header + (self._binding or b"" if opening.header.startswith(b"p=") else b"")
        same_nonce = hmac.compare_digest(found["nonce"], opening.nonce)
        same_binding = hmac.compare_digest(_decode(found["binding"]), bound)
        said = b",".join((opening.bare, opening.answer, found["bare"]))
        keys = self._find_keys(said, _decode(found["proof"]))
        if keys is None or not (same_nonce and same_binding):
            raise refuse_login()
        self.proved, signature = keys, hmac.digest(keys.server_key, said, "sha256")
        return b"v=" + base64.b64encode(signature)

    def _check_mechanism(self, mechanism: str, flag: bytes, kind: bytes | None) -> None:
        """Refuse a binding that is none of ours, and a client that was led to believe that there is none."""
        bound = mechanism == BOUND
        if mechanism not in (PLAIN, BOUND) or bound != (kind is not None) or (bound and self._binding is None):
            raise refuse_violation("The mechanism is none that was offered.")
        if bound and kind != BINDING:
            raise refuse_violation("The channel binding is not tls-server-end-point.")
        if flag == b"y" and self._binding is not None:
            raise refuse_violation("The client was told that there is no channel binding, and there is.")

    def _find_keys(self, said: bytes, proof: bytes) -> ScramKeys | None:
        """Return the keys that a proof is one of; all of them are tried in any case."""
        found = None
        for keys in self._verifier.keys:
            mask = hmac.digest(keys.stored_key, said, "sha256")
            client_key = bytes(one ^ other for one, other in zip(proof, mask, strict=False))
            fits = hmac.compare_digest(hashlib.sha256(client_key).digest(), keys.stored_key)
            if fits and len(proof) == len(mask) and self._verifier.known:
                found = keys
        return found


def refuse_login() -> SqlRefusal:
    """Return the one reply to all who prove no valid token: unknown, misspelt, expired or revoked."""
    return SqlRefusal.coded(
        BAD_LOGIN,
        "The login failed.",
        "use your name and, as the password, a token; the steward gives tokens with: discreet people add or rotate",
        fatal=True,
    )


def _decode(text: bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise refuse_violation("A message of SCRAM is malformed.") from None


# The certificate that a channel is bound to.


def binding_of(certificate: bytes) -> bytes | None:
    """Return the channel binding tls-server-end-point of a certificate in DER; None if its algorithm has none."""
    try:
        algorithm = HASHES.get(_find_algorithm(certificate))
    except IndexError:
        return None
    return None if algorithm is None else hashlib.new(algorithm, certificate).digest()


def _find_algorithm(certificate: bytes) -> bytes:
    """Return the object identifier of the signature's algorithm: SEQUENCE {body, SEQUENCE {identifier …} …}."""
    start, _ = _read_element(certificate, 0)
    _, end_of_body = _read_element(certificate, start)
    start, _ = _read_element(certificate, end_of_body)
    start, end = _read_element(certificate, start)
    return certificate[start:end]


def _read_element(content: bytes, at: int) -> tuple[int, int]:
    """Return where the contents of an element of DER begin and end."""
    size, start = content[at + 1], at + 2
    if size >= 0x80:
        count = size & 0x7F
        size, start = int.from_bytes(content[start : start + count], "big"), start + count
    return start, start + size
