"""Planted bugs of canonical texts: what ledgers know plans by, and what the choice of rows is seeded with."""

from mutants.mutant import Mutant

FORMS = "unit/test_canonical_forms.py"
BEFORE = "unit/test_ledgers_written_before.py"
GOLDEN = f"{FORMS}::test_texts_are_those_that_were_written_before"
NAMES = f"{FORMS}::test_texts_do_not_depend_on_names_or_on_repr"
SAID = f"{FORMS}::test_a_form_says_of_every_field_whether_it_is_written"
NORMAL = "algebra/normal_expressions.py"
VALUES = "unit/test_normal_expressions.py"
COMPARED = f"{VALUES}::test_comparisons_with_constants_keep_their_values"
LOGIC = f"{VALUES}::test_logic_keeps_its_three_values"
LISTS = f"{VALUES}::test_lists_of_constants_keep_their_values"
APART = f"{VALUES}::test_forms_with_other_values_stay_apart"
PRICES = "unit/test_question_forms.py"

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
    Mutant(
        "a real above 49 is taken for one of at least 50",
        f"{NORMAL}::_compare",
        "left.kind is right.kind is Kind.INTEGER and isinstance(right.value, int)",
        "isinstance(right.value, int)",
        COMPARED,
    ),
    Mutant(
        "what is not at least a constant may be equal to it",
        NORMAL,
        "F.GT: F.LE, F.GE: F.LT}",
        "F.GT: F.LE, F.GE: F.LE}",
        COMPARED,
    ),
    Mutant(
        "integers that a float cannot tell apart are taken for one",
        f"{NORMAL}::_fit_kind",
        "abs(value) < SATURATED",
        "abs(value) < 2 * SATURATED",
        COMPARED,
    ),
    Mutant(
        "NOT before a row of ANDs keeps the ANDs",
        f"{NORMAL}::_negate",
        "_join(F.OR if function is F.AND else F.AND, map(_negate, arguments))",
        "_join(function, map(_negate, arguments))",
        LOGIC,
    ),
    Mutant(
        "NULL is taken for FALSE under NOT",
        f"{NORMAL}::_negate",
        "case _: return call(F.NOT, condition)",
        "case _: return call(F.NOT, _drop_null_guards(condition))",
        LOGIC,
    ),
    Mutant(
        "NULL is taken for FALSE in the values of CASE",
        f"{NORMAL}::_settle",
        "(_settle_condition(condition), _settle(value))",
        "(_settle_condition(condition), _settle_condition(value))",
        f"{VALUES}::test_null_guards_count_where_a_value_is_made",
    ),
    Mutant(
        "two values that both have to be equal to are taken for a list",
        f"{NORMAL}::_merge_memberships",
        "rest.append(whole if function is F.OR else _negate(whole))",
        "rest.append(whole)",
        LISTS,
    ),
    Mutant(
        "a cast that clips integers is left out",
        NORMAL,
        "F.TO_DATE: Kind.DATE}",
        "F.TO_DATE: Kind.DATE, F.TO_INTEGER: Kind.INTEGER}",
        APART,
    ),
    Mutant(
        "a difference is taken for the one the other way round",
        f"{NORMAL}::_settle_call",
        "(F.ADD, F.MULTIPLY)",
        "(F.ADD, F.MULTIPLY, F.SUBTRACT)",
        APART,
    ),
    Mutant(
        "a question that was paid for as it was written is paid for again",
        "gate/gate.py::Gate.choose_plan",
        "self._find_answered(digest) is not None",
        "False",
        f"{PRICES}::test_what_was_paid_for_as_it_was_written_stays_free",
    ),
    Mutant(
        "each way to write a question is paid for",
        "session/context.py::AnalystContext._choose_form",
        "if len(forms) == 1:",
        "if True:",
        f"{PRICES}::test_whatever_way_a_question_is_written_it_is_paid_for_once",
    ),
]
