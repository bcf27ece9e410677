"""Private learning: linear models and their kin in scikit-learn's manner, finite classes, selection among runs.

NumPy is all it takes. Training of PyTorch models, an extra, is in `discreet.learn.torch`, which nothing here imports.
"""

from discreet.learn.bayes import GaussianNB
from discreet.learn.clusters import ClusterPlan, KMeans
from discreet.learn.descent import ClassifiedRows, DescentPlan
from discreet.learn.features import Features
from discreet.learn.finite import FiniteClassifier, FinitePlan, Labelled, sample_size
from discreet.learn.hypotheses import Conjunctions, DecisionLists, FiniteClass, Hypotheses, Thresholds
from discreet.learn.logistic import LogisticRegression
from discreet.learn.moments import GroupedRows, GroupPlan, ProductPlan
from discreet.learn.objective import ObjectivePlan
from discreet.learn.private_selection import Chosen, PrivateSelection
from discreet.learn.regression import LinearRegression, Ridge
from discreet.learn.transformers import PCA, StandardScaler

__all__ = [
    "PCA",
    "Chosen",
    "ClassifiedRows",
    "ClusterPlan",
    "Conjunctions",
    "DecisionLists",
    "DescentPlan",
    "Features",
    "FiniteClass",
    "FiniteClassifier",
    "FinitePlan",
    "GaussianNB",
    "GroupPlan",
    "GroupedRows",
    "Hypotheses",
    "KMeans",
    "Labelled",
    "LinearRegression",
    "LogisticRegression",
    "ObjectivePlan",
    "PrivateSelection",
    "ProductPlan",
    "Ridge",
    "StandardScaler",
    "Thresholds",
    "sample_size",
]
