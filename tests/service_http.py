"""The HTTP face for tests: a clinic behind it, people with tokens, and a client in the same process."""

import asyncio

import httpx

from discreet.service import LocalDoor, Principal, Registry, Role
from discreet.service.guarded_door import GuardedDoor
from discreet.service.http.app import HttpFace, build_app
from discreet.service.limits import RateCounter, RateLimits
from discreet.service.log import AuditLog

PEOPLE = (
    Principal(name="ada", role=Role.ANALYST),
    Principal(name="bob", role=Role.ANALYST),
    Principal(name="eve", role=Role.AUDITOR),
    Principal(name="pia", role=Role.PERSON),
    Principal(name="sam", role=Role.STEWARD),
)
CLINIC = "/v1/datasets/clinic"


class Served:
    """A session or a door behind HTTP, asked by people by their names."""

    def __init__(self, door, folder, *, rates=None, **face):
        self.registry = Registry(folder / "clinic.people")
        self.tokens = {one.name: self.registry.add(one) for one in PEOPLE}
        self.audit = AuditLog(folder / "audit.jsonl")
        counter = RateCounter(rates or RateLimits(requests=100_000))
        guarded = GuardedDoor(door, dataset="clinic", rates=counter, audit=self.audit)
        self.face = HttpFace(doors={"clinic": guarded}, people={"clinic": self.registry}, **face)
        self.app = build_app(self.face)

    def request(self, method, path, *, who="ada", token=None, headers=None, **more):
        """Return the reply to a request; an exception that leaves the application is one of the test."""
        token = token or self.tokens.get(who)
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        address = f"{CLINIC}/{path}" if not path.startswith("/") else path

        async def send():
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, address, headers=headers, **more)

        return asyncio.run(send())

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def post(self, act, body, **more):
        return self.request("POST", act, json=body, **more)


def serve_session(session, folder, **face):
    """Return a session behind HTTP."""
    return Served(LocalDoor(session), folder, **face)
