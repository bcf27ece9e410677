"""What came before differential privacy, and how it fails: de-identification, k-anonymity and its kin, and attacks.

Nothing here carries a Guarantee, because none of it is one: a table that is made here has no ε, and publishing it is a
disclosure. This room holds rows, draws no noise and prices nothing.
"""

from discreet.anonymity.full_domain import full_domain
from discreet.anonymity.hierarchies import Hierarchy, read_hierarchy
from discreet.anonymity.information import InformationLost, discernibility_of, information_lost, misclassified
from discreet.anonymity.measures import Diversity, Presence, diversity_of, k_of, presence_of, recursive_c
from discreet.anonymity.microdata import Microdata
from discreet.anonymity.mondrian import Recoding, mondrian
from discreet.anonymity.published import Anonymised
from discreet.anonymity.requirements import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    MostOfOne,
    RecursiveDiversity,
    Requirement,
)
from discreet.anonymity.risk import Risk, journalist_risk, marketer_risk, prosecutor_risk

__all__ = [
    "Anonymised",
    "Closeness",
    "DistinctDiversity",
    "Diversity",
    "EntropyDiversity",
    "Hierarchy",
    "InformationLost",
    "Microdata",
    "MostOfOne",
    "Presence",
    "Recoding",
    "RecursiveDiversity",
    "Requirement",
    "Risk",
    "discernibility_of",
    "diversity_of",
    "full_domain",
    "information_lost",
    "journalist_risk",
    "k_of",
    "marketer_risk",
    "misclassified",
    "mondrian",
    "presence_of",
    "prosecutor_risk",
    "read_hierarchy",
    "recursive_c",
]
