"""How one contestant is timed inside a process of its own. Knows the standard library only: peers run it, too."""

import json
import resource
import sys
from collections.abc import Callable

#: A contestant asks so many times at most, and no more once it has used so many seconds; the best time counts.
ROUNDS, ALLOWANCE = 5, 20.0


def used() -> float:
    """Return the processor time of this process, of all its threads and of the children that have ended."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in times)


def run(load: Callable[[str], object], ask: Callable[[object, int], dict], file: str) -> None:
    """Load a file, ask about it a few times, and print the processor time of both and the most memory held."""
    start = used()
    data = load(file)
    loading, times, told = used() - start, [], {}
    while not times or (len(times) < ROUNDS and sum(times) < ALLOWANCE):
        start = used()
        told = ask(data, len(times))
        times.append(used() - start)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    json.dump({"seconds": min(times), "first": times[0], "loading": loading, "gibibytes": held, **told}, sys.stdout)
