"""Planted bugs of the service's PostgreSQL face; see `mutants`."""

from mutants.mutant import Mutant

FACE, PARTS = "unit/test_service_postgres.py", "unit/test_service_postgres_parts.py"
CATALOGUE, LAYOUTS = "unit/test_service_postgres_catalogue.py", "unit/test_layouts.py"

POSTGRES_FACE_MUTANTS = [
    Mutant(
        "a proof passes for a name that nobody has",
        "service/postgres/scram.py::ScramExchange._find_keys",
        "if fits and len(proof) == len(mask) and self._verifier.known:",
        "if len(proof) == len(mask):",
        f"{PARTS}::test_a_proof_of_nobody_is_refused_whatever_it_is",
    ),
    Mutant(
        "a login is bound to no channel",
        "service/postgres/scram.py::ScramExchange.finish",
        "or not (same_nonce and same_binding)",
        "or not same_nonce",
        f"{FACE}::test_logins_in_tls_are_bound_to_the_certificate",
    ),
    Mutant(
        "a client is led to believe that there is no channel binding",
        "service/postgres/scram.py::ScramExchange._check_mechanism",
        'if flag == b"y" and self._binding is not None:',
        "if False:",
        f"{FACE}::test_logins_in_tls_are_bound_to_the_certificate",
    ),
    Mutant(
        "a proof for another nonce passes",
        "service/postgres/scram.py::ScramExchange.finish",
        "or not (same_nonce and same_binding)",
        "or not same_binding",
        f"{PARTS}::test_a_right_proof_with_another_nonce_is_refused",
    ),
    Mutant(
        "what was sent before TLS is read after it",
        "service/postgres/connection.py::Connection._answer_tls",
        "if self._channel.is_waiting:",
        "if False:",
        f"{FACE}::test_what_is_sent_before_tls_begins_is_not_read_after_it",
    ),
    Mutant(
        "clients without TLS are served where it is required",
        "service/postgres/connection.py::Connection._log_in",
        "if self._server.listening.needs_tls and not self._channel.has_tls:",
        "if False:",
        f"{FACE}::test_clients_without_tls_are_refused_where_it_is_required",
    ),
    Mutant(
        "names that nobody has take more work",
        "service/registry.py::Registry.scram_verifier",
        "keys = tuple(token.scram for token in valid) or mock",
        "keys = tuple(token.scram for token in valid) or (key.mock_keys(name),)",
        f"{FACE}::test_logins_take_the_same_work_whether_or_not_somebody_has_the_name",
    ),
    Mutant(
        "whoever is revoked goes on",
        "service/postgres/connection.py::Connection._answer_messages",
        "if not login.is_valid:",
        "if False:",
        f"{FACE}::test_whoever_is_revoked_is_refused_from_the_next_statement_on",
    ),
    Mutant(
        "a quote ends the literal of a parameter",
        "service/postgres/parameters.py::quote_text",
        """text.replace("'", "''")""",
        "text",
        f"{PARTS}::test_no_text_leaves_its_literal",
    ),
    Mutant(
        "a number grows together with what follows",
        "service/postgres/parameters.py::fill",
        'parts.append(f" {literals[place]} ")',
        "parts.append(literals[place])",
        f"{PARTS}::test_no_number_changes_the_words_around_it",
    ),
    Mutant(
        "parameters stand where two readers differ",
        "service/postgres/parameters.py::fill",
        "    if plain:\n        _check_quotes(statement)\n",
        "",
        f"{FACE}::test_values_that_are_none_of_their_type_are_refused_and_not_quoted",
    ),
    Mutant(
        "connections of dashboards pay",
        "service/postgres/settings.py::begin_settings",
        'ours={} if pays else {"pay": "off"}',
        "ours={}",
        f"{FACE}::test_connections_of_dashboards_do_not_pay_until_they_say_so",
    ),
    Mutant(
        "a question that was late is asked under another id",
        "service/postgres/desk.py::Desk.ask",
        'self._open.setdefault(key, f"pg-{os.urandom(16).hex()}")',
        'f"pg-{os.urandom(16).hex()}"',
        f"{FACE}::test_each_question_has_a_request_id_of_its_own_until_it_is_answered",
    ),
    Mutant(
        "an error quotes what is inside",
        "service/postgres/refusals.py::words_of",
        'message="The service failed on this statement; no answer is given."',
        "message=str(error)",
        f"{FACE}::test_an_inner_failure_is_told_as_a_constant",
    ),
    Mutant(
        "a cancellation waits for the run",
        "service/postgres/conversation.py::Conversation._wait_for",
        "await asyncio.wait((task, cancellation), return_when=asyncio.FIRST_COMPLETED)",
        "await asyncio.wait((task,), return_when=asyncio.FIRST_COMPLETED)",
        f"{FACE}::test_a_cancelled_question_runs_on_and_nobody_waits_for_it",
    ),
    Mutant(
        "ROLLBACK forgets who does not pay",
        "service/postgres/transactions.py::Transaction.end",
        "self.settings = self._kept if commits else self._before",
        "self.settings = self._kept",
        f"{FACE}::test_rollback_returns_settings_and_no_payment",
    ),
    Mutant(
        "a description asks the question",
        "service/postgres/conversation.py::Conversation._columns_of",
        "return await self._wait_for(self._desk.describe(question, literals, settings))",
        "reply = await self._wait_for(self._desk.ask(question, literals, settings))\n"
        "                return reply.table.columns if reply.table else ()",
        f"{FACE}::test_an_extended_query_tells_columns_before_it_pays",
    ),
    Mutant(
        "the catalogue calls any function",
        "service/postgres/catalogue/reading.py::check_tree",
        "if isinstance(node, exp.Func) and not is_allowed(node):",
        "if False:",
        f"{CATALOGUE}::test_everything_that_is_not_on_the_lists_is_refused_before_it_runs",
    ),
    Mutant(
        "the catalogue takes statements about declared tables",
        "service/postgres/catalogue/public.py::_is_of_catalogue",
        'return name.startswith("pg_") and name not in declared',
        "return True",
        f"{CATALOGUE}::test_declared_tables_are_never_asked_of_the_catalogue",
    ),
    Mutant(
        "the columns of bars are not told",
        "query/results/layouts.py::_build_column",
        "return ResultColumn(name=name, kind=shown, values=(), low=(), high=())",
        "return ResultColumn(name=name, kind=shown, values=())",
        f"{LAYOUTS}::test_bars_have_names_of_their_own_and_ranks_are_told",
    ),
]
