"""Anonymity as the papers write it, row by row and value by value: what the fast code is compared with."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import exp, log


def classes_by(rows, names):
    """Return the rows of each class."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return list(found.values())


def counts(rows, name):
    return Counter(row[name] for row in rows)


def entropy_l(rows, name):
    return exp(-sum(count / len(rows) * log(count / len(rows)) for count in counts(rows, name).values()))


def least_c(rows, name, rank):
    """Return r₁ / (r_l + …), and None if nothing is left after the l − 1 commonest."""
    ordered = sorted(counts(rows, name).values(), reverse=True)
    tail = sum(ordered[rank - 1 :])
    return Fraction(ordered[0], tail) if tail else None


def share_of_commonest(rows, name):
    return Fraction(max(counts(rows, name).values()), len(rows))


def shares(rows, name, values):
    found = counts(rows, name)
    return [Fraction(found[value], len(rows)) for value in values]


def equal_distance(rows, table, name):
    values = sorted(counts(table, name))
    pairs = zip(shares(rows, name, values), shares(table, name, values), strict=True)
    return sum(abs(p - q) for p, q in pairs) / 2


def ordered_distance(rows, table, name):
    values = sorted(counts(table, name))
    if len(values) == 1:
        return Fraction(0)
    total, running = Fraction(0), Fraction(0)
    for p, q in zip(shares(rows, name, values), shares(table, name, values), strict=True):
        running += p - q
        total += abs(running)
    return total / (len(values) - 1)


def cell_penalty(cells, whole, *, measured):
    """Return the penalty of publishing `cells` together, in a table whose column is `whole`."""
    if measured:
        width = max(whole) - min(whole)
        return Fraction(max(cells) - min(cells), width) if width else Fraction(0)
    different = len(set(cells))
    return Fraction(different, len(set(whole))) if different > 1 else Fraction(0)


def in_order(table, name):
    """Return the place of each value: numbers as they are, texts by how common they are, and then by their letters."""
    found = counts(table, name)
    numbers = all(isinstance(value, int) for value in found)
    ordered = sorted(found) if numbers else sorted(found, key=lambda value: (-found[value], value))
    return {value: place for place, value in enumerate(ordered)}


def cuts(rows, table, name, k):
    """Yield all ways to cut rows between two values with k rows on both sides."""
    place = in_order(table, name)
    for value in sorted({place[row[name]] for row in rows})[1:]:
        left = [row for row in rows if place[row[name]] < value]
        if len(left) >= k and len(rows) - len(left) >= k:
            yield left, [row for row in rows if place[row[name]] >= value]


def generalised(rows, names, hierarchies, levels):
    """Return rows with labels in place of values."""
    found = []
    for row in rows:
        labels = {
            name: hierarchies[name].levels[level][hierarchies[name].leaves.index(str(row[name]))]
            for name, level in zip(names, levels, strict=True)
        }
        found.append({**row, **labels})
    return found


def full_domain_penalties(rows, names, hierarchies, most, fails):
    """Return the penalty of each combination of levels at which at most `most` rows are in classes that fail."""
    found = {}
    for levels in product(*(range(hierarchies[name].height + 1) for name in names)):
        coarse = generalised(rows, names, hierarchies, levels)
        bad = [len(one) for one in classes_by(coarse, names) if fails(one)]
        if sum(bad) <= most and sum(bad) < len(rows):
            kept = [one for group in classes_by(coarse, names) if not fails(group) for one in group]
            told = sum(label_penalty(rows, coarse, name, row[name]) for row in kept for name in names)
            found[levels] = (told / len(names) + sum(bad)) / len(rows)
    return found


def label_penalty(rows, coarse, name, label):
    below = {row[name] for row, seen in zip(rows, coarse, strict=True) if seen[name] == label}
    return Fraction(len(below), len({row[name] for row in rows})) if len(below) > 1 else Fraction(0)
