"""Tokens of an identity provider: only what it signed for this service, now, and for people whom the registry knows."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")
pytest.importorskip("jwt", reason="discreet[oidc] is not installed")

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from clinic import opened
from discreet.core import DiscreetError, InvalidInput, NotReady
from discreet.service import Principal, Registry, Role
from discreet.service.oidc import key_sets
from discreet.service.oidc.key_sets import KeyAddress, KeyFile, fetch_keys, need_https, read_keys
from discreet.service.oidc.provider import LEEWAY, MOST_LIFE, IdentityProvider, OidcPeople, build_people
from discreet.service.settings import OidcSettings, read_service_settings
from scripted_http import certify, http, scripted
from service_http import serve_session

ISSUER, AUDIENCE = "https://login.hospital.example", "discreet"
NOW = 1_800_000_000.0
KEYS = {
    "rsa": rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ec": ec.generate_private_key(ec.SECP256R1()),
    "ed": ed25519.Ed25519PrivateKey.generate(),
    "other": ec.generate_private_key(ec.SECP256R1()),
}
ALGORITHMS = {"rsa": "RS256", "ec": "ES256", "ed": "EdDSA", "other": "ES256"}


def public_key(name, **more):
    """Return a public key as a provider lists it."""
    algorithm = jwt.algorithms.get_default_algorithms()[ALGORITHMS[name]]
    return {**algorithm.to_jwk(KEYS[name].public_key(), as_dict=True), "kid": name, "use": "sig", **more}


JWKS = json.dumps({"keys": [public_key("rsa"), public_key("ec"), public_key("ed")]}).encode()


class Known:
    """Keys that are known."""

    def __init__(self, text=JWKS):
        self.keys, self.asked = read_keys(text), 0

    def list_keys(self):
        return self.keys

    def look_again(self):
        self.asked += 1


def claims(**changes):
    """Return the claims of a token of Ada; those that are None are left out."""
    usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": NOW - 10, "exp": NOW + 600}
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def sign(content, name="ec", *, kid="same", algorithm=None, **head):
    """Return a token that a key of the provider, or of somebody else, signed."""
    headers = {**({} if kid is None else {"kid": name if kid == "same" else kid}), **head}
    return jwt.encode(content, KEYS[name], algorithm=algorithm or ALGORITHMS[name], headers=headers)


def provider_of(keys=None, **changes):
    settings = OidcSettings(**{"issuer": ISSUER, "audience": AUDIENCE, "keys": "https://a.example/keys", **changes})
    return IdentityProvider(settings, keys or Known(), clock=lambda: NOW)


def sign_by_hand(head, content):
    """Return a token with exactly this head, signed by the provider."""
    text = raw({"alg": "ES256", "kid": "ec", **head}, content).rpartition(".")[0]
    signature = jwt.algorithms.get_default_algorithms()["ES256"].sign(text.encode(), KEYS["ec"])
    return f"{text}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def raw(head, content, signature=b""):
    """Return a token put together by hand."""
    parts = [json.dumps(head).encode(), json.dumps(content).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


def test_a_token_of_the_provider_names_somebody():
    provider = provider_of()
    for name in ("rsa", "ec"):
        assert provider.find_name(sign(claims(), name)) == "ada"
    assert provider.find_name(sign(claims(aud=[AUDIENCE]))) == "ada"
    assert provider.find_name(sign(claims(), typ="at+jwt")) == "ada"
    assert provider_of(algorithms=("EdDSA",)).find_name(sign(claims(), "ed")) == "ada"
    assert provider_of(claim="upn").find_name(sign(claims(upn="ada@hospital.example"))) == "ada@hospital.example"
    mail = claims(email="ada@hospital.example", email_verified=True)
    assert provider_of(claim="email").find_name(sign(mail)) == "ada@hospital.example"


WRONG = {
    "issuer": claims(iss="https://login.evil.example"),
    "issuer with a slash": claims(iss=f"{ISSUER}/"),
    "no issuer": claims(iss=None),
    "audience": claims(aud="other"),
    "several audiences": claims(aud=[AUDIENCE, "other"]),
    "no audience": claims(aud=None),
    "empty audience": claims(aud=[]),
    "ended": claims(exp=NOW - LEEWAY),
    "no end": claims(exp=None),
    "end of another kind": claims(exp=str(int(NOW) + 600)),
    "no end at all": claims(exp=float("inf")),
    "not a time": claims(exp=float("nan")),
    "true": claims(iat=True),
    "begins later": claims(nbf=NOW + LEEWAY + 1),
    "made later": claims(iat=NOW + LEEWAY + 1),
    "no beginning": claims(iat=None),
    "too long": claims(iat=NOW - 10, exp=NOW + MOST_LIFE),
    "bound to a key": claims(cnf={"jkt": "x"}),
    "no name": claims(sub=None),
    "name of another kind": claims(sub=["ada"]),
    "name with a colon": claims(sub="ada:1"),
    "name with a newline": claims(sub="ada\n"),
    "empty name": claims(sub=""),
}


def test_claims_that_are_not_for_this_service_now_name_nobody():
    provider = provider_of()
    assert [why for why, content in WRONG.items() if provider.find_name(sign(content)) is not None] == []


def test_an_address_that_nobody_confirmed_names_nobody():
    provider = provider_of(claim="email")
    for confirmed in (None, False, "true", 1):
        content = claims(email="ada@hospital.example", email_verified=confirmed)
        assert provider.find_name(sign(content)) is None


def test_signatures_of_others_and_of_other_algorithms_name_nobody():
    provider, good = provider_of(), sign(claims())
    pem = (
        KEYS["ec"]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    head = {"alg": "HS256", "kid": "ec", "typ": "JWT"}
    unsigned = raw(head, claims()).rstrip(".")
    confused = hmac.new(pem, unsigned.encode(), hashlib.sha256).digest()
    one, two, three = good.split(".")
    assert provider.find_name(sign_by_hand({}, claims())) == "ada"
    tokens = {
        "stranger's key under a known name": sign(claims(), "other", kid="ec"),
        "stranger's key": sign(claims(), "other"),
        "none": raw({"alg": "none", "typ": "JWT"}, claims()),
        "None": raw({"alg": "None", "kid": "ec", "typ": "JWT"}, claims()),
        "no signature": f"{one}.{two}.",
        "public key as a secret": raw(head, claims(), confused),
        "algorithm that is not listed": sign(claims(), "ed"),
        "RSA of another kind": sign(claims(), "rsa", algorithm="PS256"),
        "other claims": f"{one}.{raw({}, claims(sub='eve')).split('.')[1]}.{three}",
        "key in the head": sign(claims(), "other", jwk=public_key("other")),
        "address in the head": sign(claims(), "other", jku="https://evil.example/keys"),
        "critical": sign(claims(), crit=["b64"], b64=False)
        if False
        else raw({"alg": "ES256", "crit": ["x"]}, claims()),
        "logout": sign(claims(), typ="logout+jwt"),
        "type of another kind": sign_by_hand({"typ": 7}, claims()),
        "no key named": sign(claims(), kid=None),  # there is one of RSA and one of EC: one fits
    }
    assert {why: provider.find_name(token) for why, token in tokens.items() if provider.find_name(token)} == {
        "no key named": "ada"
    }
    two_keys = Known(json.dumps({"keys": [public_key("ec"), public_key("other")]}).encode())
    assert provider_of(two_keys).find_name(sign(claims(), kid=None)) is None


def test_texts_that_are_no_tokens_name_nobody_and_raise_nothing():
    provider, good = provider_of(), sign(claims())
    texts = ["", ".", "..", "...", "a.b.c", "ä.ä.ä", good[:-4], good + ".x", " " + good, good + "\n", "." * 100_000]
    texts += ["A" * 20_000 + ".a.b", raw([], {}), raw({"alg": ["ES256"]}, {}), raw({"alg": {"a": 1}}, {})]
    deep = base64.urlsafe_b64encode(b"[" * 3000).decode()
    texts += [f"{deep}.{deep}.{deep}", f"{good.split('.')[0]}.{deep}.{good.split('.')[2]}"]
    assert [text[:40] for text in texts if provider.find_name(text) is not None] == []


def test_a_deep_payload_that_the_provider_signed_is_nobody():
    deep = b'{"sub":' + b"[" * 5000 + b"]" * 5000 + b"}"
    head = base64.urlsafe_b64encode(b'{"alg":"ES256","kid":"ec"}').rstrip(b"=")
    body = base64.urlsafe_b64encode(deep).rstrip(b"=")
    signer = jwt.algorithms.get_default_algorithms()["ES256"]
    signature = base64.urlsafe_b64encode(signer.sign(head + b"." + body, KEYS["ec"])).rstrip(b"=")
    assert provider_of().find_name((head + b"." + body + b"." + signature).decode()) is None


# Keys


def test_only_keys_that_sign_are_taken():
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024).public_key()
    rs256 = jwt.algorithms.get_default_algorithms()["RS256"]
    private = json.loads(jwt.algorithms.get_default_algorithms()["ES256"].to_jwk(KEYS["ec"]))
    others = [
        public_key("ec", use="enc"),
        public_key("ec", key_ops=["encrypt"]),
        public_key("ec", alg="HS256"),
        public_key("ec", alg="ES384"),
        public_key("ec", alg=["ES256"]) | {"alg": 7},
        public_key("ec", crv="P-384"),
        public_key("ec", kid=7),
        {**rs256.to_jwk(weak, as_dict=True), "kid": "weak"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "oct"},
        {**private, "kid": "private"},
        {"kty": "EC"},
        {},
        7,
        None,
    ]
    assert read_keys(json.dumps({"keys": others}).encode()) == ()
    assert [key.identity for key in read_keys(JWKS)] == ["rsa", "ec", "ed"]
    assert read_keys(JWKS)[1].algorithms == {"ES256"}
    for text in (b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": [], "keys": []}', b"[" * 10_000):
        with pytest.raises(InvalidInput):
            read_keys(text)


def test_a_file_of_keys_is_read_again_when_it_was_replaced(tmp_path):
    place = tmp_path / "jwks.json"
    with pytest.raises(DiscreetError):
        KeyFile(place)
    place.write_bytes(json.dumps({"keys": [public_key("other")]}).encode())
    keys = KeyFile(place)
    provider = provider_of(keys)
    assert provider.find_name(sign(claims())) is None
    (tmp_path / "new").write_bytes(JWKS)
    (tmp_path / "new").replace(place)
    assert provider.find_name(sign(claims())) == "ada"
    assert provider.find_name(sign(claims(), "other")) is None


class Fetching:
    """An address that gives keys, and counts how often it is asked."""

    def __init__(self):
        self.text, self.asked, self.now = JWKS, 0, 0.0

    def __call__(self, url):
        self.asked += 1
        if self.text is None:
            raise OSError
        return self.text


def address_of(fetching, monkeypatch):
    """Return keys of an address, whose threads run at once."""

    class AtOnce:
        def __init__(self, *, target: Callable[[], object], name: str, daemon: bool):
            assert daemon
            self.start = target

    monkeypatch.setattr(key_sets.threading, "Thread", AtOnce)
    return KeyAddress("https://login.hospital.example/keys", fetch=fetching, clock=lambda: fetching.now)


def test_tokens_do_not_make_the_service_ask_the_provider_more_than_once_a_minute(monkeypatch):
    fetching = Fetching()
    provider = provider_of(address_of(fetching, monkeypatch))
    fetching.now = 1000.0
    for _ in range(50):
        provider.find_name(sign(claims(), "other"))
    assert fetching.asked == 1
    assert provider.find_name(sign(claims())) == "ada"
    fetching.text = json.dumps({"keys": [public_key("other")]}).encode()
    fetching.now += key_sets.PAUSE
    assert provider.find_name(sign(claims(), "other")) is None  # fetched while this one is refused
    assert provider.find_name(sign(claims(), "other")) == "ada"
    assert provider.find_name(sign(claims())) is None  # the provider no longer has this key


def test_a_provider_that_is_away_is_asked_again_and_its_keys_end_after_a_day(monkeypatch):
    fetching = Fetching()
    keys = address_of(fetching, monkeypatch)
    assert keys.refresh()
    fetching.text = None
    for fetching.now in (key_sets.FRESH + 1, 10 * key_sets.FRESH, key_sets.STALE):
        assert len(keys.list_keys()) == 3
    assert fetching.asked == 4
    fetching.now = key_sets.STALE + 1
    assert keys.list_keys() == ()
    fetching.text = b"<html>"
    assert not keys.refresh()
    fetching.text = JWKS
    assert keys.refresh()
    assert len(keys.list_keys()) == 3


def test_keys_are_fetched_over_tls_only():
    for url in ("http://a.example/k", "https://", "https://u:p@a.example/k", "file:///k", "https://a.example/\r\nX: y"):
        with pytest.raises(InvalidInput):
            KeyAddress(url)
    assert need_https("https://a.example:8443/k?v=1") == ("a.example", 8443, "/k?v=1")
    with pytest.raises(ConnectionRefusedError):
        fetch_keys("https://localhost:1/keys")


def test_an_address_gives_its_keys_at_once_in_full_and_from_the_very_host(tmp_path, monkeypatch):
    trusted, context = certify(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    elsewhere = http(302, b"", Location="https://evil.example/keys")
    large = http(200, b" " * (key_sets.LARGEST + 1))
    with scripted(http(200, JWKS), elsewhere, http(404, b"{}"), large, context=context) as server:
        url = f"https://localhost:{server.port}/keys?v=1"
        keys = KeyAddress(url)
        assert keys.refresh()
        assert len(keys.list_keys()) == 3
        assert "GET /keys?v=1 " in server.requests[0][0]
        for _ in range(3):
            with pytest.raises(NotReady):
                fetch_keys(url)
        assert len(server.requests) == 4
    stranger, other = certify(tmp_path, "other.example")
    for authority in (trusted, stranger):  # of somebody else, and of another host
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        with scripted(http(200, JWKS), context=other) as server:
            assert not KeyAddress(f"https://localhost:{server.port}/keys").refresh()
            assert server.requests == []


# People


@pytest.fixture
def people(tmp_path):
    registry = Registry(tmp_path / "clinic.people")
    tokens = {name: registry.add(Principal(name=name, role=Role.ANALYST, team="icu")) for name in ("ada", "bob")}
    return registry, tokens, OidcPeople(registry, provider_of())


def test_a_token_names_people_of_the_registry_in_the_role_that_it_says(people):
    registry, tokens, both = people
    signed = sign(claims(role="steward", team="all"))
    assert both.authenticate(signed) == Principal(name="ada", role=Role.ANALYST, team="icu")
    assert both.authenticate(tokens["bob"]).name == "bob"
    assert both.authenticate(sign(claims(sub="eve"))) is None
    assert registry.authenticate(signed) is None
    registry.revoke("ada")
    assert both.authenticate(signed) is None
    for text in ("", "x", "dsc1.a.b", "a.b.c"):
        assert both.authenticate(text) is None


def test_keys_that_cannot_be_read_admit_nobody_else_and_nobody_less(people, tmp_path):
    registry, tokens, _ = people
    place = tmp_path / "jwks.json"
    place.write_bytes(JWKS)
    settings = OidcSettings(issuer=ISSUER, audience=AUDIENCE, keys=place)
    both = build_people(registry, settings)
    fresh = claims(iat=time.time(), exp=time.time() + 60)
    assert both.authenticate(sign(fresh)).name == "ada"
    place.write_bytes(b"{")
    assert both.authenticate(sign(fresh)) is None
    assert both.authenticate(tokens["ada"]).name == "ada"
    place.unlink()
    assert both.authenticate(sign(fresh)) is None
    with pytest.raises(DiscreetError):
        build_people(registry, settings)


def test_over_http_such_a_token_is_one_of_the_service(people, tmp_path):
    registry, _, both = people
    with opened(tmp_path) as session:
        served = serve_session(session, tmp_path / "served")
        served.face.people["clinic"] = both
        good = served.get("account", token=sign(claims()))
        assert good.json()["analyst"] == "ada"
        wrong = [sign(claims(aud="other")), sign(claims(sub="eve")), sign(claims(), "other"), "x.y.z", "x"]
        refused = [served.get("account", token=token) for token in wrong]
        assert {reply.status_code for reply in refused} == {401}
        assert len({reply.content for reply in refused}) == 1
        assert registry.find_member("ada")
        assert sign(claims()) not in served.audit.place.read_text()


# Settings


def test_settings_name_the_provider(tmp_path):
    path = tmp_path / "discreet.toml"
    usual = '[service]\n[service.oidc]\nissuer = "https://i.example"\naudience = "a"\nkeys = "jwks.json"\n'
    path.write_text(usual)
    found = read_service_settings(path).oidc
    assert found == OidcSettings(issuer="https://i.example", audience="a", keys=tmp_path / "jwks.json")
    path.write_text(usual.replace('"jwks.json"', '"https://i.example/k"') + 'claim = "upn"\nalgorithms = ["PS256"]\n')
    found = read_service_settings(path).oidc
    assert (found.keys, found.claim, found.algorithms) == ("https://i.example/k", "upn", ("PS256",))
    path.write_text("[service]\n")
    assert read_service_settings(path).oidc is None


@pytest.mark.parametrize(
    "change",
    [
        ('issuer = "https://i.example"\n', ""),
        ('audience = "a"\n', ""),
        ('keys = "jwks.json"\n', ""),
        ('"https://i.example"', '"http://i.example"'),
        ('audience = "a"', 'audience = ""'),
        ('audience = "a"', "audience = 7"),
        ('keys = "jwks.json"\n', 'keys = "jwks.json"\nalgorithms = ["HS256"]\n'),
        ('keys = "jwks.json"\n', 'keys = "jwks.json"\nalgorithms = ["none"]\n'),
        ('keys = "jwks.json"\n', 'keys = "jwks.json"\nalgorithms = []\n'),
        ('keys = "jwks.json"\n', 'keys = "jwks.json"\nalgorithms = "RS256"\n'),
        ('keys = "jwks.json"\n', 'keys = "jwks.json"\ncolour = "red"\n'),
        ("[service.oidc]\n", 'oidc = "https://i.example"\n[other]\n'),
    ],
)
def test_settings_that_would_admit_others_are_refused(tmp_path, change):
    path = tmp_path / "discreet.toml"
    usual = '[service]\n[service.oidc]\nissuer = "https://i.example"\naudience = "a"\nkeys = "jwks.json"\n'
    assert change[0] in usual
    path.write_text(usual.replace(*change))
    with pytest.raises(InvalidInput) as caught:
        read_service_settings(path)
    assert caught.value.fix
