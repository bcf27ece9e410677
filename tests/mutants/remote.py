"""Planted bugs of public facts and of sessions without rows; see `mutants`."""

from mutants.mutant import Mutant

FACTS = "unit/test_session_facts.py"

REMOTE_MUTANTS = [
    Mutant(
        "facts may carry rows of private tables",
        "session/facts/public_facts.py::PublicFacts.__post_init__",
        "if any(schema.rows is not None for schema in self.tables):",
        "if False:",
        f"{FACTS}::test_facts_with_rows_of_a_private_table_cannot_be_made",
    ),
    Mutant(
        "the step of a bound is lost on its way",
        "session/facts/codec.py::_read_bounds",
        "return Bounds(low, high, step=step)",
        "return Bounds(low, high)",
        f"{FACTS}::test_every_fact_is_in_the_text",
    ),
    Mutant(
        "the cap on rows of one person is lost on its way",
        "session/facts/codec.py::_read_table",
        "        rows_per_person=rows_per_person_of(_whole(rows_per_person)),\n",
        "",
        f"{FACTS}::test_every_fact_is_in_the_text",
    ),
    Mutant(
        "an unknown field of facts is passed over",
        "session/facts/codec.py::_take",
        "if set(_object(fields)) != set(names):",
        "if not set(_object(fields)) >= set(names):",
        f"{FACTS}::test_a_missing_an_unknown_and_a_wrong_field_are_refused_at_every_place",
    ),
    Mutant(
        "bought bounds are no facts",
        "session/facts/public_facts.py::build_facts",
        "        bought=bought,\n",
        "",
        f"{FACTS}::test_bought_bounds_are_facts_and_are_found_in_the_ledger",
    ),
    Mutant(
        "a session without rows is paid before it refuses",
        "session/facts/rowless.py::RowlessTables.check",
        "self._refuse(aggregation)",
        "check_source(resolve_table(aggregation, self.schemas), self.schemas, self.publics)",
        f"{FACTS}::test_a_session_without_rows_hands_out_stored_answers_and_pays_for_nothing",
    ),
    Mutant(
        "people pay for a question where there are no rows",
        "session/facts/rowless.py::RowlessTables.check_among",
        "self._refuse(aggregation)",
        "return",
        f"{FACTS}::test_personal_charges_are_not_read_without_rows",
    ),
    Mutant(
        "facts are used with the ledger of others",
        "session/facts/rowless.py::build_rowless_dataset",
        "if facts.ledger != ledger.identity:",
        "if False:",
        f"{FACTS}::test_facts_of_another_ledger_are_refused",
    ),
]
