"""Planted bugs of canonical texts: what ledgers know plans by, and what the choice of rows is seeded with."""

from mutants.mutant import Mutant

FORMS = "unit/test_canonical_forms.py"
BEFORE = "unit/test_ledgers_written_before.py"
GOLDEN = f"{FORMS}::test_texts_are_those_that_were_written_before"
NAMES = f"{FORMS}::test_texts_do_not_depend_on_names_or_on_repr"
SAID = f"{FORMS}::test_a_form_says_of_every_field_whether_it_is_written"

CANONICAL_MUTANTS = [
    Mutant(
        "a renamed class is written by its new name",
        "algebra/aggregates.py::Present",
        'Record("Present", "value")',
        'Record("NonNull", "value")',
        GOLDEN,
    ),
    Mutant(
        "a renamed field is written by its new name",
        "core/limits.py::Limit",
        'Record("Limit", "groups", "rows_per_group")',
        'Record("Limit", "groups", "rows_per_partition=rows_per_group")',
        f"{BEFORE}::test_answers_of_an_earlier_release_are_handed_out_for_nothing",
    ),
    Mutant(
        "two fields are written in another order",
        "core/bounds.py::Bounds",
        'Record("Bounds", "low", "high", "step")',
        'Record("Bounds", "high", "low", "step")',
        f"{BEFORE}::test_the_rows_that_are_chosen_are_those_of_an_earlier_release",
    ),
    Mutant(
        "a field is no longer written, so that two questions have one text",
        "algebra/aggregates.py::Total",
        'Record("Total", "value", "bounds", "centred", "squared")',
        'Record("Total", "value", "bounds", "centred", unwritten=["squared"])',
        GOLDEN,
    ),
    Mutant(
        "a field is forgotten in a form",
        "query/planning/measurements.py::End",
        'Record("End", "aggregate", "largest")',
        'Record("End", "aggregate")',
        SAID,
    ),
    Mutant(
        "a function of the allow-list is written as another one",
        "algebra/functions.py::Function",
        "\"CEIL: 'CEIL'\"",
        "\"CEILING: 'CEIL'\"",
        GOLDEN,
    ),
    Mutant(
        "two functions are written alike",
        "algebra/functions.py::Function",
        "\"LEAST: 'LEAST'\"",
        "\"GREATEST: 'GREATEST'\"",
        SAID,
    ),
    Mutant(
        "what has no form is written by its repr",
        "core/canonical_text.py",
        "    raise _unwritten(value)\n\n\ndef _list_parts",
        "    return [Verbatim(repr(value))]\n\n\ndef _list_parts",
        f"{FORMS}::test_what_has_no_form_is_refused",
    ),
    Mutant(
        "a class that derives from another is written like it",
        "core/canonical_text.py::_form_of",
        'return vars(type(value)).get("__canonical__")',
        'return getattr(type(value), "__canonical__", None)',
        f"{FORMS}::test_what_has_no_form_is_refused",
    ),
    Mutant(
        "a class of our own without a form passes for a caller's",
        "core/canonical_text.py::_is_foreign",
        "type(value) not in PLAIN and not _is_ours(value)",
        "type(value) not in PLAIN",
        f"{FORMS}::test_callers_classes_are_known_by_their_repr_where_they_may_stand",
    ),
    Mutant(
        "a caller's class may stand anywhere",
        "core/canonical_text.py::Record.parts",
        "Verbatim(repr(part)) if foreign and _is_foreign(part) else part",
        "Verbatim(repr(part)) if _is_foreign(part) else part",
        f"{FORMS}::test_a_callers_class_is_refused_where_it_may_not_stand",
    ),
    Mutant(
        "parts of a question are put in order by their repr",
        "query/planning/planning.py::_weights",
        "sorted(weights, key=canonical_text)",
        "sorted(weights, key=repr)",
        NAMES,
    ),
    Mutant(
        "losses are put in order by their repr",
        "accounting/pld/dominating_pairs.py::flatten_loss",
        "sorted(leaf_counts.items(), key=canonical_text)",
        "sorted(leaf_counts.items(), key=repr)",
        NAMES,
    ),
    Mutant(
        "a spend is named by its class",
        "query/planning/plans.py::QueryPlan._canonical",
        "canonical_name(self.spend)",
        "type(self.spend).__name__",
        NAMES,
    ),
    Mutant(
        "a purse knows an encoder by its repr",
        "local/device/purse.py::_need_encoder",
        "    return foreign_text(encoder)",
        "    return repr(encoder)",
        NAMES,
    ),
    Mutant(
        "a training is known by the repr of its terms",
        "learn/torch/training.py::Training.canonical",
        "canonical_text((self.examples, self.step_settings, self.segments, self.groups, self.seed))",
        "repr((self.examples, self.step_settings, self.segments, self.groups, self.seed))",
        NAMES,
    ),
    Mutant(
        "a tuple of one is written without its comma",
        "core/canonical_text.py::_list_parts",
        'closing = ",)"',
        'closing = ")"',
        GOLDEN,
    ),
    Mutant(
        "a filter writes its neighbours by another word",
        "core/units.py",
        'Neighbours.ADD_REMOVE: "add_remove"',
        'Neighbours.ADD_REMOVE: "add/remove"',
        GOLDEN,
    ),
]
