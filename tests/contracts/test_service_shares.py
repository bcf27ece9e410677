"""Shares of a served dataset: front, nursery and workers as real processes."""

import os
import time
from fractions import Fraction

import pytest

from clinic import BY_WARD, COUNT
from discreet.core import BudgetExceeded
from discreet.gate import Ledger
from discreet.service import Asked, Principal, Role
from discreet.session import NoRows
from served import served, write_dataset

TEAM = [Principal(name=f"analyst{number}", role=Role.ANALYST, team="icu") for number in range(4)]
SLOT = 0.5


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    os.environ["DISCREET_STATE"] = str(folder / "state")
    with served(write_dataset(folder)) as service:
        for who in TEAM:
            service.ledger.resize(10, by="sam", reason="a share", analyst=who.name)
        service.ledger.resize(20, by="sam", reason="a share", team="icu")
        yield service


def spent(service):
    account: object = service.ledger.state.account
    return account.total.spent, account.filter_of_team("icu").spent


def test_a_copy_leaves_at_the_end_of_the_slot_of_a_run_of_its_own(service):
    first = service.run(service.door.ask(TEAM[0], Asked(sql=COUNT, epsilon="0.5")))
    with pytest.raises(NoRows):  # the front copies nothing: it is a worker's, until the slot ends
        service.door._session.for_analyst("analyst1", team="icu").sql(COUNT, epsilon=0.5)
    begun = time.monotonic()
    copied = service.run(service.door.ask(TEAM[1], Asked(sql=COUNT, epsilon="0.5")))
    assert time.monotonic() - begun >= SLOT
    assert (copied.stored, copied.fresh, copied.receipt.analyst) == (first.stored, True, "analyst1")
    begun = time.monotonic()
    assert service.run(service.door.ask(TEAM[1], Asked(sql=COUNT, epsilon="0.5"))).fresh is False
    assert time.monotonic() - begun < SLOT


def test_members_who_ask_the_same_at_once_charge_dataset_and_team_once(service):
    before = spent(service)
    replies = service.run_all(service.door.ask(who, Asked(sql=BY_WARD, epsilon="1")) for who in TEAM)
    assert {reply.stored for reply in replies} == {replies[0].stored}
    assert spent(service) == (before[0] + 1, before[1] + 1)
    assert sorted(reply.receipt.analyst for reply in replies) == [who.name for who in TEAM]
    assert service.ledger.verify().sound


def test_the_share_of_a_team_binds_its_members(service):
    service.ledger.resize(Fraction(2), by="sam", reason="less", team="icu")
    with pytest.raises(BudgetExceeded, match="team"):
        service.run(service.door.ask(TEAM[2], Asked(sql="SELECT SUM(age) FROM visits", epsilon="5")))
    with Ledger.open(service.path.parent / "visits.ledger") as ledger:
        assert ledger.state.account.team_limits == {"icu": 2}
