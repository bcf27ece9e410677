"""Planted bugs of the service: what time tells, what is counted, and who holds rows; see `mutants`."""

from mutants.mutant import Mutant

SLOTS, PACING, DOOR = (
    "unit/test_service_slots.py",
    "unit/test_gate_pacing.py",
    "unit/test_service_door.py",
)

SERVICE_MUTANTS = [
    Mutant(
        "a reply leaves when it is ready",
        "service/runs.py::PacedRun._wait_for_run",
        "            await _sleep_until(end)\n",
        "            await asyncio.wait([done], timeout=max(0.0, end - _now()))\n",
        f"{SLOTS}::test_a_reply_leaves_at_the_end_of_its_slot_however_soon_the_run_is_done",
    ),
    Mutant(
        "what is late is not counted",
        "service/runs.py::PacedRun._wait_for_run",
        "                run = await self._note_late(run)\n",
        "                run = run + 0\n",
        SLOTS,
    ),
    Mutant(
        "there is no end of chances",
        "service/runs.py::PacedRun._wait_for_run",
        "            if chance == CHANCES:\n",
        "            if chance > CHANCES:\n",
        f"{SLOTS}::test_there_are_three_chances_then_it_has_failed_and_the_worker_is_killed",
    ),
    Mutant(
        "the next slot is as long as the first",
        "service/runs.py::PacedRun._wait_for_run",
        "            slot *= 2\n",
        "            slot *= 1\n",
        SLOTS,
    ),
    Mutant(
        "slots are as long as the work, and not in steps",
        "service/slots.py::Slots.seconds",
        "return next_step(FLOOR + self.scale * work.passes * Fraction(self.rows, MILLION) + CELL * work.cells)",
        "return FLOOR + self.scale * work.passes * Fraction(self.rows, MILLION) + CELL * work.cells",
        f"{SLOTS}::test_slots_are_fixed_steps_of_public_facts",
    ),
    Mutant(
        "an answer is stored when it is ready",
        "gate/gate.py::Gate._run",
        "            run.number = self._pacer.finish(run.number)\n",
        "            pass\n",
        PACING,
    ),
    Mutant(
        "a run that is late is no failure",
        "gate/ledger/run_tracker.py::RunTracker.note_late",
        "        self._write(to_body(Failed(at=now(), run=number, how=LATE)))\n",
        "        return number\n",
        PACING,
    ),
    Mutant(
        "an excuse covers runs that are late",
        "gate/entries/runs.py::RunState.record_end",
        "how not in (FAILED, LATE)",
        "how != FAILED",
        f"{PACING}::test_an_excused_run_that_is_late_counts",
    ),
    Mutant(
        "two people share a request id",
        "service/door.py::request_id",
        "    return f\"{who.name}:{request.removeprefix(f'{who.name}:')}\"\n",
        "    return request\n",
        f"{DOOR}::test_two_people_with_one_request_id_have_two_requests",
    ),
    Mutant(
        "a certificate of another's release is handed out",
        "service/door.py::certify",
        "    if who.role not in READING_ALL and ledger.receipt(payment).analyst != who.name:\n",
        "    if False:\n",
        f"{DOOR}::test_releases_and_certificates_of_others_are_for_auditors",
    ),
]
