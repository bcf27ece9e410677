"""Planted bugs of the service: what time tells, what is counted, and who holds rows; see `mutants`."""

from mutants.mutant import Mutant

RUNNING = "contracts/test_service_running.py"
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
        "a run that is made again is not paced",
        "gate/gate.py::Gate._charge_run",
        "        self._pacer.begin(run.number, plan)\n        table = ",
        "        table = ",
        "unit/test_gate_personal_runs.py",
    ),
    Mutant(
        "an answer leaves when all people are charged",
        "gate/gate.py::Gate._charge_run",
        "            run.number = self._pacer.finish(run.number)\n",
        "            run.number = run.number + 0\n",
        "unit/test_gate_personal_runs.py::test_the_time_of_charging_people_ends_with_a_slot_as_that_of_the_run_does",
    ),
    Mutant(
        "a second run may take any time",
        "service/runs.py::PacedRun._ask",
        "                    start = _now()\n",
        "                    start, self._slots = _now(), Slots(rows=10**9)\n",
        f"{SLOTS}::test_a_run_that_is_made_again_has_slots_of_its_own_and_is_counted_where_it_is_late",
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
        "a token opens every dataset of a service",
        "service/http/app.py::need_known",
        "    return known\n",
        "    return dict.fromkeys(people, next(iter(known.values())))\n",
        f"{RUNNING}::test_a_token_is_for_the_datasets_whose_registry_has_it_and_others_are_not_there",
    ),
    Mutant(
        "metrics of all datasets are told to the auditor of one",
        "service/http/app.py::_metrics",
        'if of in ("", *read))',
        "if read)",
        f"{RUNNING}::test_metrics_are_of_the_datasets_whose_auditor_asks",
    ),
    Mutant(
        "tokens go beyond this machine in the clear",
        "service/datasets.py::need_private_address",
        "    if encrypted or behind_proxy or is_loopback(host):\n",
        "    if True:\n",
        f"{RUNNING}::test_what_is_wrong_is_refused_before_anything_is_served",
    ),
    Mutant(
        "workers outlive the process that forked them",
        "service/worker.py::end_with_parent",
        "        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)\n",
        "        pass\n",
        f"{RUNNING}::test_a_service_whose_nursery_is_killed_ends_with_an_error_and_so_do_its_workers",
    ),
    Mutant(
        "a service that stops does not excuse what it kills",
        "service/front.py::FrontDoor.drain",
        "            await asyncio.to_thread(self._excuse_runs)\n",
        "            pass\n",
        f"{RUNNING}::test_a_run_that_is_longer_than_the_drain_is_excused_and_no_failure",
    ),
    Mutant(
        "workers outlive their front",
        "service/nursery.py::serve_nursery",
        "    for pid in children:\n        _end(pid)\n",
        "",
        f"{RUNNING}::test_a_front_that_is_killed_takes_nursery_and_workers_with_it_and_its_answers_are_there_again",
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
        "    if who.role not in READING_ALL and receipt.analyst != who.name:\n",
        "    if False:\n",
        f"{DOOR}::test_releases_and_certificates_of_others_are_for_auditors",
    ),
]
