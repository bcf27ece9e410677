"""All planted bugs."""

from mutants.accounting import ACCOUNTING_MUTANTS
from mutants.anonymity import ANONYMITY_MUTANTS
from mutants.canonical import CANONICAL_MUTANTS
from mutants.compiled import COMPILED_MUTANTS
from mutants.contribution import CONTRIBUTION_MUTANTS
from mutants.counter import COUNTER_MUTANTS
from mutants.data import DATA_MUTANTS
from mutants.data_reference import DATA_REFERENCE_MUTANTS
from mutants.face import FACE_MUTANTS
from mutants.failure import FAILURE_MUTANTS
from mutants.gate import GATE_MUTANTS
from mutants.http import HTTP_MUTANTS
from mutants.law import LAW_MUTANTS
from mutants.learn import LEARN_MUTANTS
from mutants.local import LOCAL_MUTANTS
from mutants.market import MARKET_MUTANTS
from mutants.mechanism import MECHANISM_MUTANTS
from mutants.model import MODEL_MUTANTS
from mutants.noise import NOISE_MUTANTS
from mutants.people import PEOPLE_MUTANTS
from mutants.person_key import PERSON_KEY_MUTANTS
from mutants.personal import PERSONAL_MUTANTS
from mutants.postgres import POSTGRES_MUTANTS
from mutants.postgres_face import POSTGRES_FACE_MUTANTS
from mutants.query import QUERY_MUTANTS
from mutants.query_mechanism import QUERY_MECHANISM_MUTANTS
from mutants.readiness import READINESS_MUTANTS
from mutants.relation import RELATION_MUTANTS
from mutants.remote import REMOTE_MUTANTS
from mutants.service import SERVICE_MUTANTS
from mutants.session import SESSION_MUTANTS
from mutants.share import SHARE_MUTANTS
from mutants.spark import SPARK_MUTANTS
from mutants.sql import SQL_MUTANTS
from mutants.sql_relation import SQL_RELATION_MUTANTS
from mutants.text import TEXT_MUTANTS
from mutants.workload import WORKLOAD_MUTANTS

PLANTED = [
    *SERVICE_MUTANTS,
    *NOISE_MUTANTS,
    *MECHANISM_MUTANTS,
    *ACCOUNTING_MUTANTS,
    *GATE_MUTANTS,
    *READINESS_MUTANTS,
    *FAILURE_MUTANTS,
    *SHARE_MUTANTS,
    *PERSONAL_MUTANTS,
    *COMPILED_MUTANTS,
    *CONTRIBUTION_MUTANTS,
    *COUNTER_MUTANTS,
    *LAW_MUTANTS,
    *DATA_MUTANTS,
    *DATA_REFERENCE_MUTANTS,
    *TEXT_MUTANTS,
    *CANONICAL_MUTANTS,
    *POSTGRES_MUTANTS,
    *SPARK_MUTANTS,
    *RELATION_MUTANTS,
    *PERSON_KEY_MUTANTS,
    *QUERY_MECHANISM_MUTANTS,
    *QUERY_MUTANTS,
    *SQL_MUTANTS,
    *SQL_RELATION_MUTANTS,
    *SESSION_MUTANTS,
    *REMOTE_MUTANTS,
    *FACE_MUTANTS,
    *WORKLOAD_MUTANTS,
    *PEOPLE_MUTANTS,
    *HTTP_MUTANTS,
    *POSTGRES_FACE_MUTANTS,
    *MODEL_MUTANTS,
    *LEARN_MUTANTS,
    *MARKET_MUTANTS,
    *LOCAL_MUTANTS,
    *ANONYMITY_MUTANTS,
]
