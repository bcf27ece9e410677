"""Rate limits of people: requests in a minute, questions at once, spending in an hour; and the log before the door."""

import asyncio
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.clinic import COUNT, opened

from discreet.core import InvalidInput, NotReady
from discreet.service import Asked, AskedBatch, LocalDoor, Principal, Role
from discreet.service.guarded_door import MOST_AT_ONCE, MOST_QUESTIONS, MOST_SQL, GuardedDoor
from discreet.service.limits import MOST_PEOPLE, RateCounter, RateLimits
from discreet.service.log import LARGEST, AuditLog
from discreet.service.refusals import TooMany

ADA, BOB = (Principal(name=name, role=Role.ANALYST) for name in ("ada", "bob"))


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("limits"), ledger=None) as session:
        yield session


def guarded(session, clock, place=None, **limits):
    rates = RateCounter(RateLimits(**limits), clock=clock)
    return GuardedDoor(LocalDoor(session), dataset="clinic", rates=rates, audit=AuditLog(place))


def test_the_audit_log_grows_by_a_bounded_number_of_characters_a_minute(session, clock, tmp_path):
    door = guarded(session, clock, tmp_path / "audit.log", characters=250)
    long = COUNT + " " * (100 - len(COUNT))

    def look(who):
        asyncio.run(door.shape(who, long))

    look(ADA)
    look(ADA)
    size = (tmp_path / "audit.log").stat().st_size
    for _ in range(3):
        with pytest.raises(TooMany, match="250 characters of SQL in a minute"):
            look(ADA)
    assert (tmp_path / "audit.log").stat().st_size == size
    look(BOB)
    asyncio.run(door.schema(ADA))  # which has no SQL
    clock.now = 61
    look(ADA)


def test_requests_are_counted_by_person_and_forgotten_after_a_minute(clock):
    counter = RateCounter(RateLimits(requests=2), clock=clock)
    counter.count_request(ADA)
    clock.now = 50
    counter.count_request(ADA)
    with pytest.raises(TooMany) as refused:
        counter.count_request(ADA)
    assert refused.value.seconds == 10
    counter.count_request(BOB)
    clock.now = 60
    counter.count_request(ADA)


def test_questions_that_run_at_once_are_counted_and_a_place_is_given_back_however_it_ends(clock):
    counter = RateCounter(RateLimits(at_once=1), clock=clock)
    with counter.hold_place(ADA), counter.hold_place(BOB), pytest.raises(TooMany), counter.hold_place(ADA):
        pass
    with pytest.raises(KeyError), counter.hold_place(ADA):
        raise KeyError
    with counter.hold_place(ADA):
        pass


def test_spending_is_bounded_by_the_hour_in_the_limits_own_currency(clock):
    counter = RateCounter(RateLimits(epsilon_per_hour=Fraction(1)), clock=clock)
    counter.count_spending(ADA, "epsilon", Fraction(3, 4))
    clock.now = 600
    with pytest.raises(TooMany) as refused:
        counter.count_spending(ADA, "epsilon", Fraction(1, 2))
    assert refused.value.seconds == 3000
    counter.count_spending(ADA, "epsilon", Fraction(1, 4))
    with pytest.raises(TooMany, match="more than one person may spend"):
        counter.count_spending(BOB, "rho", Fraction(1, 100))
    clock.now = 3600
    counter.count_spending(ADA, "epsilon", Fraction(3, 4))


def test_what_is_asked_again_under_its_id_is_counted_once(clock):
    """It is paid for once: a question that was late is asked again, and is not refused for that."""
    counter = RateCounter(RateLimits(epsilon_per_hour=Fraction(1)), clock=clock)
    for _ in range(3):
        counter.count_spending(ADA, "epsilon", Fraction(3, 4), "late")
    for amount, request in ((Fraction(1, 2), "late"), (Fraction(3, 4), "other"), (Fraction(3, 4), None)):
        with pytest.raises(TooMany):
            counter.count_spending(ADA, "epsilon", amount, request)
    counter.count_spending(BOB, "epsilon", Fraction(3, 4), "late")


def test_a_price_below_zero_makes_no_room_for_others(session, clock):
    door = guarded(session, clock, epsilon_per_hour=Fraction(1, 10))
    cheap = AskedBatch(sql=("SELECT COUNT(*) FROM visits",), epsilon="-100")
    for _ in range(2):
        with pytest.raises(InvalidInput):
            asyncio.run(door.batch(ADA, cheap))
    asyncio.run(door.batch(ADA, replace(cheap, epsilon="0.1")))
    with pytest.raises(TooMany):
        asyncio.run(door.batch(ADA, replace(cheap, epsilon="0.1", fresh=True)))


def test_people_who_have_something_running_are_not_forgotten(clock):
    counter = RateCounter(RateLimits(at_once=1), clock=clock)
    with counter.hold_place(ADA):
        for number in range(MOST_PEOPLE + 5):
            counter.count_request(Principal(name=f"p{number}", role=Role.ANALYST))
        with pytest.raises(TooMany), counter.hold_place(ADA):
            pass


def test_a_question_beyond_the_rate_of_spending_is_not_paid_and_a_stored_one_is_free(session, clock):
    door = guarded(session, clock, epsilon_per_hour=Fraction(1, 10))
    asyncio.run(door.ask(ADA, Asked(sql=COUNT, epsilon="0.1")))
    before = session.ledger.spent
    for asked in (Asked(sql=COUNT, epsilon="0.05"), Asked(sql=COUNT, epsilon="0.1", fresh=True)):
        with pytest.raises(TooMany):
            asyncio.run(door.ask(ADA, asked))
    with pytest.raises(TooMany):
        asyncio.run(door.batch(ADA, AskedBatch(sql=(COUNT,), epsilon="0.05")))
    asyncio.run(door.ask(ADA, Asked(sql=COUNT, epsilon="0.1")))
    assert session.ledger.spent == before


def test_what_is_too_long_is_refused_before_it_is_read(session, clock):
    door = guarded(session, clock)
    with pytest.raises(InvalidInput, match="longer"):
        asyncio.run(door.ask(ADA, Asked(sql="x" * (MOST_SQL + 1), epsilon="1")))
    with pytest.raises(InvalidInput, match="batch"):
        asyncio.run(door.batch(ADA, AskedBatch(sql=(COUNT,) * (MOST_QUESTIONS + 1), epsilon="1")))


def test_a_full_log_is_set_aside_and_one_that_cannot_be_written_stops_the_request(session, clock, tmp_path):
    place = tmp_path / "audit.jsonl"
    with place.open("wb") as file:
        file.truncate(LARGEST)
    log = AuditLog(place, clock=lambda: 7)
    log.record(ADA, "clinic", "schema")
    assert [path.name for path in tmp_path.iterdir()] == ["audit.jsonl.7"]
    log.record(ADA, "clinic", "schema")
    assert place.read_bytes().count(b"\n") == 1
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotReady, match="audit"):
        log.record(ADA, "clinic", "schema")
    assert not (tmp_path / "elsewhere").exists()


def test_free_requests_of_one_person_wait_for_each_other_and_for_nobody_else(clock):
    """A preview takes a thread of the front, and one person may send hundreds in a minute."""

    class Slow:
        running, most = 0, 0
        end = None

        async def preview(self, who, _asked):
            if who == BOB:
                return "bob's"
            self.running += 1
            self.most = max(self.most, self.running)
            await self.end.wait()
            self.running -= 1
            return "ada's"

    async def main():
        slow = Slow()
        slow.end = asyncio.Event()
        rates = RateCounter(RateLimits(), clock=clock)
        door = GuardedDoor(slow, dataset="clinic", rates=rates, audit=AuditLog(None))
        many = [asyncio.create_task(door.preview(ADA, Asked(sql=COUNT, epsilon="1"))) for _ in range(100)]
        await asyncio.sleep(0)
        assert await door.preview(BOB, Asked(sql=COUNT, epsilon="1")) == "bob's"
        slow.end.set()
        assert await asyncio.gather(*many) == ["ada's"] * 100
        return slow.most

    assert asyncio.run(main()) == MOST_AT_ONCE
