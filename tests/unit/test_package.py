"""The package as users meet it: its names, its weight, its rooms."""

import math
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "discreet"

ROOMS = [
    "core",
    "algebra",
    "noise",
    "accounting",
    "mechanisms",
    "data",
    "gate",
    "query",
    "learn",
    "local",
    "synth",
    "anonymity",
    "market",
    "audit",
    "session",
    "service",
    "cli",
]

FACES = {
    "discreet": {
        "Bounds", "Budget", "DiscreetError", "Gate", "Ledger", "Limit", "Matches", "Neighbours", "Period",
        "Plan", "Policy", "PrivacyUnit", "Release", "Sensitivity", "Session", "TotalLimit", "Window",
        "__version__", "accounting", "bounded_sum", "bounded_sums", "connect", "count", "count_distinct",
        "count_people", "counting_queries", "counting_query", "data", "deviation", "gate", "histogram", "maximum",
        "mean", "mechanisms", "median", "minimum", "noise", "open", "quantile", "query", "session", "total",
        "variance",
    },
    "discreet.session": {
        "AccountReply", "Answer", "BatchAnswer", "Busy", "Counter", "Counts", "Description", "HierarchyAnswer",
        "MisfitReport", "NoRows", "NotAllowed", "NotFound", "NotYet", "PaymentOff", "Preview", "PublicFacts",
        "QuestionOptions", "ReleaseFacts", "ReleaseOptions", "RemoteSession", "Session", "Settings", "TooMany",
        "Unreachable", "WorkloadPreview", "connect", "open_session", "read_facts", "read_settings", "report_misfits",
        "write_facts", "write_settings",
    },
    "discreet.noise": {
        "Coins", "DEVICE", "Entropy", "ExpChoice", "SYSTEM", "below", "bernoulli",
        "bernoulli_exp", "choose", "choose_exp", "coin_words", "gaussian", "geometric", "hand_out_rounded", "laplace",
        "process_mark", "rounded_gaussian", "toss_exp",
    },
    "discreet.accounting": {
        "Approximate", "BoundedRange", "Bracket", "Composed", "Concentrated", "ConcentratedFilter",
        "DiscreteGaussianNoise", "DiscreteLaplaceNoise", "DominatingPair", "Filter", "GaussianDP",
        "GaussianNoise", "Group", "Guarantee", "LaplaceNoise", "LossDistribution", "Odometer", "Parallel",
        "PrivacyLoss", "Pure", "PureFilter", "RandomisedResponse", "Renyi", "RenyiBound", "RenyiFilter",
        "Repeated", "Sampling", "Shuffled", "Subsampled", "advanced_composition", "advanced_composition_sharp",
        "advantage", "advised_delta", "approximate_of", "basic_composition", "bracket", "bracket_delta",
        "calibrate_concentrated", "calibrate_gaussian", "concentrated_of", "curve", "delta", "epsilon",
        "filter_from_text", "filter_to_text", "group_privacy", "group_privacy_sharp", "guarantee",
        "largest_share", "least_noise", "loss_distribution", "loss_from_text", "loss_to_text", "most_times",
        "need_delta", "neighbours_of", "optimal_composition", "optimal_delta", "optimal_delta_unequal",
        "optimal_epsilon", "posterior", "power", "renyi_of", "times_left", "with_limit",
    },
    "discreet.anonymity": {
        "Anonymised", "Clip", "Closeness", "DayTo", "Deidentified", "DistinctDiversity", "Diversity", "Drop",
        "EntropyDiversity", "Finding", "Gaps", "Hierarchy", "InformationLost", "Keep", "Label", "Linked",
        "Mask", "Microdata", "MostOfOne", "DatePart", "Presence", "Pseudonym", "PseudonymKey", "Recoding",
        "RecursiveDiversity", "Requirement", "Risk", "Role", "Round", "Treatment", "beliefs", "deidentify",
        "discernibility_of", "diversity_of", "find_identifying", "full_domain", "homogeneous", "in_both",
        "information_lost", "journalist_risk", "k_of", "link", "marketer_risk", "meets", "misclassified",
        "mondrian", "newcomers", "presence_of", "prosecutor_risk", "publish", "read_hierarchy",
        "read_microdata", "reconstruct", "recursive_c", "suppress", "write_inside",
    },
    "discreet.cli": {"main"},
    "discreet.data": {
        "DEFAULT_SETTINGS", "DuckTable", "EngineFailed", "EngineSettings", "SPARK_SETTINGS",
        "TableSource", "measure_sql", "open_frames", "open_server", "open_table", "open_tables",
    },
    "discreet.query": {
        "AggregateExpression", "Asker", "BatchPlan", "BoundsPlan", "Epsilon", "Explanation", "PlanningContext", "Frame",
        "HierarchyLevel", "HierarchyPlan", "HierarchyResult", "LimitsPlan", "Participation",
        "ParticipationPlan",
        "Predicted", "QueryPlan",
        "QueryRefused", "Question", "Result", "ResultColumn", "Rho", "Saving", "StreamPlan", "StreamView",
        "Within", "read_bought_bounds", "count", "count_between", "count_distinct", "count_people", "deviation",
        "explain", "histogram", "read_bought_limit", "find_limit", "maximum", "mean", "median", "minimum",
        "plan_batch", "plan_hierarchy", "plan_limits", "plan_question", "plan_stream", "predict", "question_forms",
        "normalise_question",
        "predict_batch", "predict_hierarchy", "quantile", "question_sql", "read_sql", "saving_of", "schema_of",
        "total", "variance", "view", "view_batch", "view_hierarchy", "view_others", "view_stream",
    },
    "discreet.learn": {
        "PCA", "Chosen", "ClusterPlan", "Conjunctions", "DecisionLists", "DescentPlan", "ClassifiedRows", "Features",
        "FiniteClass", "FiniteClassifier", "FinitePlan", "GaussianNB", "GroupPlan", "Hypotheses", "KMeans", "Labelled",
        "LinearRegression", "LogisticRegression", "ObjectivePlan", "PrivateSelection", "ProductPlan", "Ridge",
        "StandardScaler", "GroupedRows", "Thresholds", "sample_size",
    },
    "discreet.learn.torch": {
        "AdaptiveClip", "ClippedSums", "Clipping", "Geometric", "Linear", "PrivateModel", "Trained", "Training",
    },
    "discreet.gate": {
        "Account", "Anchor", "Budget", "Certified", "ChargedTable", "DatasetAccount", "Distribution", "Exported",
        "Gate", "Inspection", "Ledger", "PersonalAccount", "PersonalPlan", "Plan", "Policy", "Price", "Receipt",
        "Release", "AccountStatement", "ShareRequest", "Sharing", "SteppedPlan",
        "Verification", "certificate", "check_certificate", "check_export",
        "export_lines", "finish_move", "inspect_ledger", "move",
    },
    "discreet.local": {
        "Frequencies", "FrequentText", "FrequentTexts", "Hadamard", "KaryResponse", "LocalHashing", "Marginals",
        "MeanEstimate", "NumberResponse", "PrefixTree", "Purse", "Rappor", "Simulation", "SubsetSelection", "Survey",
        "Unary", "VectorResponse", "best_encoder", "cost_of", "encode_all", "encode_survey", "encode_texts",
        "error_of", "errors_of_mean", "estimate", "estimate_marginals", "estimate_mean", "find_texts",
        "from_supports", "instant_all", "on_simplex", "pack", "report_bits", "report_bytes", "shuffled_cost",
        "simulate", "skewed", "supports_of", "unpack", "variance_of",
    },
    "discreet.market": {
        "AttributeAuction", "Auction", "BidFile", "Billboard",
        "LargeGame", "FacilityLine", "Mediator", "Outcome", "Plane",
        "PostedPrices", "PriceGrid", "Sale", "Setting",
        "IncentiveGuarantee", "TruthfulChoice", "best_epsilon", "best_rho",
        "entry_game", "most_gain", "routing_game", "truthfulness",
    },
    "discreet.mechanisms": {
        "AboveThreshold", "CentredTotal", "Consistent", "Counted", "Estimate", "ExponentialMechanism",
        "Extreme", "FactorisationCounter", "Gaussian", "GaussianThreshold", "Laplace", "LaplaceThreshold",
        "LimitChoice", "ManyQuantiles", "Mean", "MeanAnswer", "NoiseKind", "NumericSparse",
        "NumericSparseStream", "OnGrid", "PermuteAndFlip", "QuantileChoice", "QuantileMethod",
        "RandomisedResponse", "RangeChoice", "ReportNoisyMax", "Sparse", "SparseStream", "TopK", "TopKMethod",
        "Tree", "TreeCounter", "Truncated", "TruncatedGeometricSelection", "agreeing", "best_counter",
        "best_selection", "centred_sum", "consistent", "grid_l1", "grid_l2", "least_epsilon", "rounded",
        "to_grid",
    },
}  # fmt: skip

COST = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"


@pytest.mark.parametrize("module", FACES)
def test_the_exported_names_are_pinned(module):
    """A name that comes or goes is a decision, not an accident."""
    if module == "discreet.learn.torch":
        pytest.importorskip("torch")
    assert set(import_module(module).__all__) == FACES[module]


#: `from … import …`; names in brackets stand on lines of their own. A parser would take seconds.
IMPORT = re.compile(r"^ *from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", flags=re.MULTILINE)
NAME = re.compile(r"^(\w+)(?: as (\w+))?$")


def imports_in(file):
    """Yield the module, the name and the alias of every `from … import …` in a file."""
    for module, several, one in IMPORT.findall(file.read_text(encoding="utf-8")):
        for name in re.sub(r"#.*", "", several or one).split(","):
            if found := NAME.match(name.strip()):
                yield module, *found.groups()


def test_a_name_on_a_face_that_is_not_for_users_is_used_by_another_room():
    """A face imports such a name as itself, and leaves it out of `__all__`."""
    used = {
        (file.relative_to(PACKAGE).parts[0], module, name)
        for file in PACKAGE.rglob("*.py")
        for module, name, _ in imports_in(file)
    }
    for room in ROOMS:
        face, module = PACKAGE / room / "__init__.py", import_module(f"discreet.{room}")
        for_rooms = {name for _, name, alias in imports_in(face) if name == alias}
        by_others = {name for place, source, name in used if place != room and source == f"discreet.{room}"}
        assert for_rooms <= by_others, room
        assert not for_rooms & set(module.__all__), room
        assert all(hasattr(module, name) for name in for_rooms), room


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_says_what_it_is_and_what_it_exports(room):
    module = import_module(f"discreet.{room}")
    assert module.__doc__
    assert all(hasattr(module, name) for name in module.__all__)


def test_importing_discreet_takes_less_than_twice_the_time_of_importing_numpy():
    """CPU time of fresh interpreters, taken in turns; the least of up to seven is the one least disturbed."""
    least = dict.fromkeys(("numpy", "discreet", "discreet.mechanisms"), math.inf)
    for _ in range(7):
        for module in least:
            command = [sys.executable, "-c", COST.format(module)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            least[module] = min(least[module], float(done.stdout))
        numpy, face, everything = least.values()
        if face < 2 * numpy and everything < 5 * numpy:  # with all the rooms below
            return
    pytest.fail(f"processor time of imports, in seconds: {least}")


def test_importing_discreet_imports_nothing_heavy():
    code = "import sys, discreet; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {
        "scipy",
        "pandas",
        "matplotlib",
        "torch",
        "duckdb",
        "sqlglot",
        "polars",
        "pyarrow",
        "mpmath",
        "hypothesis",
    }


def test_importing_discreet_draws_no_randomness_and_starts_nothing():
    code = (
        "import os, threading; os.urandom = None\n"
        "import discreet\n"
        "assert threading.active_count() == 1 and discreet.noise.SYSTEM._keyed.mark is None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
