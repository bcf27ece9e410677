"""Privacy accounting: losses, guarantees and their composition. Numbers only: no rows, no randomness, no files."""

from discreet.accounting.calibrate import (
    calibrate_concentrated,
    calibrate_gaussian,
    largest_share,
    least_noise,
    most_times,
)
from discreet.accounting.composites import (
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    neighbours_of,
)
from discreet.accounting.composition import (
    advanced_composition,
    advanced_composition_sharp,
    basic_composition,
    group_privacy,
    group_privacy_sharp,
    optimal_composition,
    optimal_delta,
    optimal_delta_unequal,
    optimal_epsilon,
)
from discreet.accounting.conversions import approximate_of, concentrated_of
from discreet.accounting.filter_texts import filter_from_text, filter_to_text
from discreet.accounting.filters import (
    ConcentratedFilter,
    Filter,
    PureFilter,
    RenyiFilter,
    times_left,
    with_limit,
)
from discreet.accounting.filters import adds_exactly as adds_exactly
from discreet.accounting.filters import states_no_less as states_no_less
from discreet.accounting.gaussian_curves import tail as tail
from discreet.accounting.guarantees import Bracket, Guarantee, bracket, bracket_delta, curve, delta, epsilon, guarantee
from discreet.accounting.interpretation import advantage, advised_delta, need_delta, posterior, power
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
)
from discreet.accounting.odometers import Odometer
from discreet.accounting.personal import Currency as Currency
from discreet.accounting.personal import PersonalLimit as PersonalLimit
from discreet.accounting.personal import personal_limit as personal_limit
from discreet.accounting.pld.loss_variable import LossDistribution, loss_distribution
from discreet.accounting.renyi import ORDERS as ORDERS
from discreet.accounting.renyi import RenyiBound, renyi_of
from discreet.accounting.text_reader import MOST_CHARACTERS as MOST_CHARACTERS
from discreet.accounting.texts import loss_from_text, loss_to_text

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = [
    "Approximate",
    "BoundedRange",
    "Bracket",
    "Composed",
    "Concentrated",
    "ConcentratedFilter",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "DominatingPair",
    "Filter",
    "GaussianDP",
    "GaussianNoise",
    "Group",
    "Guarantee",
    "LaplaceNoise",
    "LossDistribution",
    "Odometer",
    "Parallel",
    "PrivacyLoss",
    "Pure",
    "PureFilter",
    "RandomisedResponse",
    "Renyi",
    "RenyiBound",
    "RenyiFilter",
    "Repeated",
    "Sampling",
    "Shuffled",
    "Subsampled",
    "advanced_composition",
    "advanced_composition_sharp",
    "advantage",
    "advised_delta",
    "approximate_of",
    "basic_composition",
    "bracket",
    "bracket_delta",
    "calibrate_concentrated",
    "calibrate_gaussian",
    "concentrated_of",
    "curve",
    "delta",
    "epsilon",
    "filter_from_text",
    "filter_to_text",
    "group_privacy",
    "group_privacy_sharp",
    "guarantee",
    "largest_share",
    "least_noise",
    "loss_distribution",
    "loss_from_text",
    "loss_to_text",
    "most_times",
    "need_delta",
    "neighbours_of",
    "optimal_composition",
    "optimal_delta",
    "optimal_delta_unequal",
    "optimal_epsilon",
    "posterior",
    "power",
    "renyi_of",
    "times_left",
    "with_limit",
]
