"""Kill −9 while a stream goes on: a process of its own, so that what it forks has one thread and everything loaded.

`python stepping.py FOLDER random FIRST COUNT` kills four who ask for the same steps; `python stepping.py FOLDER moment
STEP MOMENT` kills one at a moment of a step. Each prints a line of JSON for a run.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from discreet.gate import Budget, Gate, Ledger
from faults.checker import examined, noted
from faults.spending import SECONDS, Notes
from step_plans import Steps

#: Who asks at the same time, for how many steps, and for how long at most, in seconds.
WORKERS, STEPS, LONGEST = 4, 25, 0.12
#: When one is killed: in the middle of a step, with the answer drawn and not stored, stored and not handed out.
MOMENTS = ("running", "drawn", "stored")


def stream(doing: object = None) -> Steps:
    return Steps(steps=STEPS, doing=doing)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(SECONDS)


def _forked(path: Path, work: object) -> int:
    child = os.fork()
    if child:
        return child
    try:
        signal.alarm(SECONDS)
        with Ledger.open(path) as ledger:
            work(ledger)
    finally:
        os._exit(1)


def _walked(notes: Notes, ledger: Ledger, entropy: str) -> None:
    """Ask for all steps, some of them again, and note what was handed out."""
    chance, gate = random.Random(entropy), Gate(ledger, None)
    for step in range(STEPS):
        given = gate.advance(stream(), step, request="all")
        notes.write("step", step=step, answer=given.stored.hex())
        if chance.random() < 0.2:
            again = chance.randrange(step + 1)
            answer = gate.advance(stream(), again, request="all").stored.hex()
            notes.write("step", step=again, answer=answer)


def at_random(folder: Path, number: int) -> dict:
    """Kill some or all of those who ask; return what was found, and whether the rest can be had."""
    path, chance = folder / "clinic.ledger", random.Random(f"steps {number}")
    Ledger.create(path, Budget(1)).close()
    children = [
        _forked(path, lambda ledger, name=name: _walked(Notes(folder / f"{name}.log"), ledger, f"{number} {name}"))
        for name in range(WORKERS)
    ]
    while not any(log.stat().st_size for log in folder.glob("*.log")):
        time.sleep(0.001)
    time.sleep(chance.uniform(0, LONGEST))
    for child in chance.sample(children, chance.choice([WORKERS, WORKERS, 2])):
        os.kill(child, signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)
    found = examined(path)
    for note in noted(folder):
        stored = found.answers.get(found.steps.get((2, note["step"])), b"")
        found.need(stored.hex() == note["answer"], "an acknowledged step is there, byte for byte")
    return _finished(path, found, len(noted(folder)))


def at_moment(folder: Path, step: int, moment: str) -> dict:
    """Kill one at a moment of a step; return what was found, and whether the rest can be had."""
    path = folder / "clinic.ledger"
    Ledger.create(path, Budget(1)).close()

    def work(ledger: Ledger) -> None:
        gate, release = Gate(ledger, None), ledger.release

        def dying(receipt: object, answer: bytes, **more: int) -> object:
            if moment == "stored" or more["step"] < step:
                kept = release(receipt, answer, **more)
            if more["step"] == step:
                _die()
            return kept

        ledger.release = dying
        for each in range(step + 1):
            doing = (lambda *_: _die()) if moment == "running" and each == step else None
            gate.advance(stream(doing), each, request="all")

    os.waitpid(_forked(path, work), 0)
    return _finished(path, examined(path), 0)


def _finished(path: Path, found: object, told: int) -> dict:
    before = {step: found.answers[number] for (_, step), number in found.steps.items()}
    with Ledger.open(path) as ledger:
        spent, gate = ledger.spent, Gate(ledger, None)
        ledger.review(by="steward", reason="workers were killed")
        given = [gate.advance(stream(), step, request="all") for step in range(STEPS)]
        found.need(ledger.spent == spent == found.spent, "going on costs nothing more")
        found.need(ledger.verify().sound, "the ledger finds itself sound")
    found.need(len(found.payments) == 1, "a stream is paid for once")
    found.need(all(given[step].stored == answer for step, answer in before.items()), "what was answered stays")
    found.need([one.fresh for one in given] == [step not in before for step in range(STEPS)], "the rest is run once")
    found.violations += examined(path).violations
    return {"steps": len(before), "told": told, "violations": sorted(set(found.violations))}


def main() -> None:
    folder, kind, first, second = Path(sys.argv[1]), *sys.argv[2:5]
    os.environ["DISCREET_STATE"] = str(folder / "state")
    if kind == "moment":
        print(json.dumps(at_moment(folder, int(first), second)), flush=True)
        return
    for number in range(int(first), int(first) + int(second)):
        run = folder / f"run-{number}"
        run.mkdir()
        print(json.dumps(at_random(run, number)), flush=True)


if __name__ == "__main__":
    main()
