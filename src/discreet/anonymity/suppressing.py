"""Suppression alone: values stay as they are, and rows that stand out are left out."""

from collections.abc import Sequence

from discreet.anonymity.classes import classes_of
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.published import Anonymised, failing, need_k, need_requirements
from discreet.anonymity.regions import occurring_region
from discreet.anonymity.requirements import Requirement
from discreet.core import InvalidInput


def suppress(table: Microdata, quasi: Sequence[str], *, k: int, requirements: Sequence[Requirement] = ()) -> Anonymised:
    """Return the table without the rows of classes that have fewer than `k` rows or do not meet the requirements.

    No value is made coarser. The whole table, which classes may have to be close to, is the one before rows are left
    out.

    What holds: every class has at least k rows, and meets the requirements. That is a fact about the table and no
    guarantee about a person: see the attacks. That rows are left out tells something, too.

    Reference: Samarati 2001.
    """
    attributes = table.pick(quasi, "quasi")
    wanted = need_k(k, table)
    required = need_requirements(requirements, table, quasi)
    found = classes_of(table, quasi)
    classes = found.without(failing(table, found, wanted, required))
    if not classes.count:
        raise InvalidInput(
            "No class meets the requirements, and no row would be left.", fix="make values coarser first: mondrian"
        )
    regions = {attribute.name: occurring_region(attribute, classes) for attribute in attributes}
    return Anonymised(table, tuple(quasi), classes, regions, f"suppression, k={wanted}")
