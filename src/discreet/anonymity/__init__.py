"""Methods before differential privacy, and their failures: de-identification, k-anonymity, and attacks.

Nothing here carries a Guarantee, because none of it is one: a table that is made here has no ε, and publishing it is a
disclosure. This room holds rows, draws no noise and prices nothing.
"""

from discreet.anonymity.attacks import Linked, beliefs, homogeneous, in_both, link, newcomers, reconstruct
from discreet.anonymity.deidentification import (
    Clip,
    DatePart,
    DayTo,
    Deidentified,
    Drop,
    Keep,
    Label,
    Mask,
    Pseudonym,
    PseudonymKey,
    Round,
    Treatment,
    deidentify,
)
from discreet.anonymity.finding import Finding, Role, find_identifying
from discreet.anonymity.full_domain import full_domain
from discreet.anonymity.hierarchies import Hierarchy, read_hierarchy
from discreet.anonymity.information import InformationLost, discernibility_of, information_lost, misclassified
from discreet.anonymity.measures import (
    Diversity,
    Presence,
    Risk,
    diversity_of,
    journalist_risk,
    k_of,
    marketer_risk,
    meets,
    presence_of,
    prosecutor_risk,
    recursive_c,
)
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.mondrian import Recoding, mondrian
from discreet.anonymity.published import Anonymised, suppress
from discreet.anonymity.publishing import publish, write_inside
from discreet.anonymity.reading import Gaps, read_microdata
from discreet.anonymity.requirements import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    MostOfOne,
    RecursiveDiversity,
    Requirement,
)

__all__ = [
    "Anonymised",
    "Clip",
    "Closeness",
    "DatePart",
    "DayTo",
    "Deidentified",
    "DistinctDiversity",
    "Diversity",
    "Drop",
    "EntropyDiversity",
    "Finding",
    "Gaps",
    "Hierarchy",
    "InformationLost",
    "Keep",
    "Label",
    "Linked",
    "Mask",
    "Microdata",
    "MostOfOne",
    "Presence",
    "Pseudonym",
    "PseudonymKey",
    "Recoding",
    "RecursiveDiversity",
    "Requirement",
    "Risk",
    "Role",
    "Round",
    "Treatment",
    "beliefs",
    "deidentify",
    "discernibility_of",
    "diversity_of",
    "find_identifying",
    "full_domain",
    "homogeneous",
    "in_both",
    "information_lost",
    "journalist_risk",
    "k_of",
    "link",
    "marketer_risk",
    "meets",
    "misclassified",
    "mondrian",
    "newcomers",
    "presence_of",
    "prosecutor_risk",
    "publish",
    "read_hierarchy",
    "read_microdata",
    "reconstruct",
    "recursive_c",
    "suppress",
    "write_inside",
]
