"""A hospital watches for outbreaks: it is told the days with 100 cases or more, and about how many there were.

Sixty daily counts would each cost a part of the budget. The sparse vector technique charges for the few days above the
threshold only, however many days it looks at.
"""

from discreet.accounting import guarantee
from discreet.mechanisms import NumericSparse

#: Cases a day, the secret. There are two outbreaks.
COUNTS = [31 + 7 * day % 19 for day in range(60)]
COUNTS[20:23] = [140, 188, 171]
COUNTS[44:46] = [122, 260]


def main() -> None:
    """Watch sixty days, and stop early if five of them were above."""
    watch = NumericSparse(
        epsilon=1,
        threshold=100,
        answers=5,
        sensitivity=1,  # a patient is counted once a day at most …
        monotone=True,  # … and raises every count, if any
    )
    print(f"The whole watch costs {guarantee(watch.cost)}, for 60 days or for 6000.")
    print(f"Before looking: comparisons are right within {watch.error(0.95, queries=60)} cases,")
    print(f"and values within {watch.value_error(0.95)}, each with probability 95 %.\n")

    stream = watch.start()
    looked = 0
    for day, count in enumerate(COUNTS, start=1):
        looked = day
        value = stream.ask(count)
        if value is not None:
            print(f"day {day:2}: about {value} cases")
        if stream.finished:
            break
    print(f"\nLooked at {looked} days of 60; {stream.positives_left} more alarms could have been given.")


if __name__ == "__main__":
    main()
