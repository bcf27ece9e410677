"""Planted bugs of the front door, where SQL and frames become questions; see `mutants`."""

from mutant import Mutant

CORPUS = "unit/test_sql_corpus.py"
REFUSALS = f"{CORPUS}::test_a_refusal_says_what_is_wrong_where_and_what_to_write"
TEXTS = f"{CORPUS}::test_a_question_becomes_its_one_text"

SQL_MUTANTS = [
    Mutant(
        "an argument that is not known is passed over",
        "query/sql_checks.py",
        "if _is_said(value) and name not in KNOWN[type(node)]:",
        "if False:",
        "unit/test_sql_hiding.py::test_an_unknown_argument_of_any_known_node_is_refused",
    ),
    Mutant(
        "a node that is not known is passed over",
        "query/sql_checks.py",
        "        if type(node) not in KNOWN:\n",
        "        if type(node) not in KNOWN and not (node := exp.null()):\n",
        REFUSALS,
    ),
    Mutant(
        "a word that the parser drops is dropped",
        "query/sql_checks.py",
        "if token.start not in kept and not _is_quiet(tokens, index):",
        "if False:",
        "unit/test_sql_hiding.py::test_a_word_that_the_parser_drops_is_refused",
    ),
    Mutant(
        "people can be grouped by",
        "query/sql_select.py",
        "if any(parts.schema.is_person(name) for name in columns_in(expression)):",
        "if expression in parts.schema.columns:",
        REFUSALS,
    ),
    Mutant(
        "people can be grouped by under another name",
        "query/sql_select.py",
        "if any(parts.schema.is_person(name) for name in columns_in(expression)):",
        'if getattr(expression, "name", "") == parts.schema.unit.column:',
        REFUSALS,
    ),
    Mutant(
        "the ids of people can be summed up",
        "query/sql_measures.py",
        "if any(scope.schema.is_person(name) for name in columns_in(found)):",
        "if False:",
        REFUSALS,
    ),
    Mutant(
        "comments of all kinds are passed over",
        "query/sql_words.py",
        "            if page.text[place] not in BLANKS:\n",
        '            if page.text[place] not in BLANKS and "--" not in page.text and "/*" not in page.text:\n',
        REFUSALS,
    ),
    Mutant(
        "a second statement is passed over",
        "query/sql_words.py",
        "        if token.token_type is T.SEMICOLON:\n",
        "        if False:\n",
        REFUSALS,
    ),
    Mutant(
        "characters that cannot be seen are let through in quotes",
        "query/sql_text.py",
        "if unicodedata.category(sign) in HIDDEN and sign not in BLANKS:",
        'if unicodedata.category(sign) in HIDDEN and sign not in BLANKS and "\'" not in page.text[:at]:',
        "unit/test_sql_hiding.py::test_a_character_that_cannot_be_seen_is_refused_even_in_quotes",
    ),
    Mutant(
        "words that touch are two words",
        "query/sql_words.py",
        "if before.end + 1 == after.start and _wordy(last) and _wordy(first):",
        "if False:",
        REFUSALS,
    ),
    Mutant(
        "functions that nobody listed are handed on",
        "query/sql_words.py",
        "    if name in ALL_FUNCTIONS:\n        return\n",
        "    if name in ALL_FUNCTIONS or name not in FUNCTION_ADVICE:\n        return\n",
        REFUSALS,
    ),
    Mutant(
        "a question may be nested as deeply as it likes",
        "query/sql_words.py",
        "MOST_NESTED = 24",
        "MOST_NESTED = 24_000",
        "unit/test_sql_laws.py::test_nesting_is_refused_where_it_gets_too_deep",
    ),
    Mutant(
        "IS binds tighter than a comparison",
        "query/sql_parser.py",
        "    IS_PREDICATE_PRECEDENCE = IsPredicatePrecedence.LOW\n",
        "",
        f"{CORPUS}::test_the_one_text_asks_of_duckdb_what_the_question_asked",
    ),
    Mutant(
        "a difference of a difference loses its parentheses",
        "query/sql_writing.py",
        "*(within(each, binds + 1) for each in others)",
        "*(within(each, binds) for each in others)",
        f"{CORPUS}::test_the_one_text_asks_of_duckdb_what_the_question_asked "
        f"{CORPUS}::test_reading_the_one_text_gives_the_same_question",
    ),
    Mutant(
        "FILTER is forgotten",
        "query/sql_measures.py",
        "    return _aggregate(inner, condition, scope)\n",
        "    return _aggregate(inner, None, scope)\n",
        TEXTS,
    ),
    Mutant(
        "NOT LIKE is LIKE",
        "query/sql_rows.py",
        'return make(F.NOT, found) if node.args.get("negate") else found',
        "return found",
        TEXTS,
    ),
    Mutant(
        "a descending percentile is an ascending one",
        "query/sql_measures.py",
        'level = 1 - level if ordered[0].args.get("desc") else level',
        "level = level",
        TEXTS,
    ),
    Mutant(
        "the days between are counted backwards",
        "query/sql_rows.py",
        "return make(F.DAYS_BETWEEN, right, left)",
        "return make(F.DAYS_BETWEEN, left, right)",
        TEXTS,
    ),
    Mutant(
        "a text that is no day is compared as it is",
        "query/sql_rows.py",
        "        arguments = with_days(arguments)\n",
        "        arguments = with_days(arguments) if False else arguments\n",
        TEXTS,
    ),
    Mutant(
        "names that need quotes do not get them",
        "query/sql_writing.py",
        "if PLAIN_NAME.fullmatch(name) and name.upper() not in RESERVED:",
        "if PLAIN_NAME.fullmatch(name):",
        "unit/test_sql_laws.py::test_any_word_can_be_the_name_of_a_column_a_table_and_an_output",
    ),
    Mutant(
        "an output's name is meant before the column that is grouped by",
        "query/sql_select.py",
        "names = {name: each for name, each in aliases.items() if name not in grouped}",
        "names = dict(aliases)",
        REFUSALS + f" {TEXTS} {CORPUS}::test_reading_the_one_text_gives_the_same_question",
    ),
    Mutant(
        "a frame's text may close the parentheses around it",
        "query/frame_terms.py",
        "    if depth or quote:\n",
        "    if False:\n",
        "unit/test_frames.py::test_a_wrong_call_is_refused_with_what_to_write",
    ),
    Mutant(
        "a second filter of a frame replaces the first",
        "query/frames.py",
        "conditions=(*self.conditions, *conditions)",
        "conditions=conditions",
        "unit/test_frames.py::test_a_frame_asks_what_the_same_sql_asks",
    ),
    Mutant(
        "a frame's ALL conditions become the first",
        "query/sql_select.py",
        "        return make(Function.AND, *found)\n",
        "        return found[0]\n",
        "unit/test_frames.py::test_a_frame_asks_what_the_same_sql_asks",
    ),
]
