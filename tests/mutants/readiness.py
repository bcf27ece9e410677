"""Planted bugs of checks before payment; see `mutants`."""

from mutants.mutant import Mutant

REFUSED = "attacks/test_refused_after_payment.py"
LOST = "attacks/test_paid_for_a_lost_source.py"
LOG = "attacks/test_operator_log_for_everybody.py"
BIDS = "attacks/test_bid_that_fails_an_auction.py"
EXPORT = "attacks/test_forged_export.py"
NUMBER = "attacks/test_number_that_never_ends.py"
PURSE = "attacks/test_purse_that_is_filled_again.py"
MODES = "attacks/test_ledger_for_everybody.py"
CELLS = "attacks/test_cell_that_commands.py"
NULLS = "attacks/test_null_in_a_public_column.py"

READINESS_MUTANTS = [
    Mutant(
        "what a role may read is found out after payment",
        "data/postgres/table.py::PostgresTables.check",
        "        need_readable(self._sessions.ask, self._relations_in(asked))\n",
        "",
        f"{LOST}::test_a_table_that_the_role_may_no_longer_read",
    ),
    Mutant(
        "what the owner of a view may read is found out after payment",
        "data/postgres/catalogue.py",
        " AND d.refobjsubid > 0\n",
        " AND d.refobjsubid < 0\n",
        f"{LOST}::test_a_table_that_the_role_may_no_longer_read",
    ),
    Mutant(
        "a column that a role may no longer read is found out after payment",
        "data/postgres/catalogue.py",
        "NOT has_column_privilege(reader, relation, place::smallint, 'SELECT')",
        "NOT has_any_column_privilege(reader, relation, 'SELECT')",
        f"{LOST}::test_a_table_that_the_role_may_no_longer_read",
    ),
    Mutant(
        "a plan is not asked whether it is ready",
        "gate/gate.py::Gate._prepare_plan",
        "            check_ready(plan, self._data, personal=self._personal)\n",
        "            pass\n",
        REFUSED,
    ),
    Mutant(
        "a stored answer is refused when its source is gone",
        "gate/gate.py::Gate._prepare_plan",
        "        if payment is None or self._ledger.release_of(payment, step) is None:\n",
        "        if True:\n",
        REFUSED,
    ),
    Mutant(
        "an error before payment quotes the engine",
        "gate/plans.py::check_ready",
        '    tell_operator("The data source could not be checked before payment.", failure)\n',
        "    raise failure\n",
        REFUSED,
    ),
    Mutant(
        "a refusal before payment carries frames that saw the data",
        "gate/plans.py::check_ready",
        "        raise type(failure).of(failure.problem, failure.fix)\n",
        "        raise failure\n",
        REFUSED,
    ),
    Mutant(
        "a check before payment is given the table of persons itself",
        "gate/plans.py::check_ready",
        "        check(Prospect(data) if personal else data)\n",
        "        check(data)\n",
        REFUSED,
    ),
    Mutant(
        "a plan's cost is computed again and again",
        "gate/plans.py::need_plan",
        "    if not all(hasattr(plan, name) for name in METHODS):\n",
        "    if not all(hasattr(plan, name) for name in (*METHODS, 'cost')):\n",
        REFUSED,
    ),
    Mutant(
        "questions are not checked before payment",
        "query/planning/charging.py::check_pass",
        "    if check is not None:\n        check(aggregation)\n",
        "    del check\n",
        LOST,
    ),
    Mutant(
        "a table that was closed is found out after payment",
        "data/duckdb/table.py::DuckTable.check",
        "        need_connected(self._connection)\n",
        "",
        f"{LOST}::test_a_table_that_was_closed",
    ),
    Mutant(
        "a check counts rows",
        "data/duckdb/table.py::DuckTable.check",
        "        check_aggregation(asked, self._holdings)\n",
        "        self.aggregate(asked)\n",
        f"{LOST}::test_a_check_reads_no_row",
    ),
    Mutant(
        "a statement that the server cannot take is found out after payment",
        "data/postgres/sessions.py::Sessions.check",
        '                connection.execute(f"PREPARE {CHECKED} AS {text}")\n'
        '                connection.execute(f"DEALLOCATE {CHECKED}")\n',
        "                del connection, text\n",
        f"{LOST}::test_a_column_of_another_type_than_before",
    ),
    Mutant(
        "batches are not checked before payment",
        "query/workloads/batches.py::BatchPlan.check",
        "            batch_pass.check(data)\n",
        "            pass\n",
        f"{LOST}::test_a_table_that_was_closed",
    ),
    Mutant(
        "a limit is bought for an accuracy that is refused",
        "session/context.py::AnalystContext.resolve_limit",
        "            plan_question(question, replace(facts, limit=Limit()), options.spend, bias=options.bias)\n",
        "",
        f"{LOST}::test_an_accuracy_that_no_limit_allows_buys_no_limit",
    ),
    Mutant(
        "everybody may read the log of failures",
        "core/private_files.py::open_private",
        "                os.fchmod(handle, PRIVATE)\n",
        "                pass\n",
        LOG,
    ),
    Mutant(
        "the log of failures is written through a link",
        "core/private_files.py::open_regular",
        "flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE)",
        "flags | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE)",
        LOG,
    ),
    Mutant(
        "a failure does not say where its details are",
        "cli/__init__.py::OperatorFile.name_file_in",
        "            error.fix = error.fix.replace(HOW_TO_READ, where)\n",
        "            del where\n",
        LOG,
    ),
    Mutant(
        "a bid that is no number fails a paid auction",
        "market/grids.py::PriceGrid.levels_paid_for",
        "        return self._levels_by(bids, self._level_or_none)\n",
        "        return self._levels_by(bids, self.level)\n",
        BIDS,
    ),
    Mutant(
        "what holds no bids is found out after payment",
        "market/auctions.py::Auction.check",
        "            need_bids(data)\n",
        "            pass\n",
        BIDS,
    ),
    Mutant(
        "an export without a signed end is vouched for",
        "gate/proofs/exports.py::_ExportWalk.is_signed",
        "        if self.end is None:\n            return False\n",
        "        if self.end is None:\n            return True\n",
        EXPORT,
    ),
    Mutant(
        "any signature at the end of an export is believed",
        "gate/proofs/exports.py::_ExportWalk.is_signed",
        "        if not verify_signature(state.birth.key, signature, EXPORT, _end_message(",
        "        if False and not verify_signature(state.birth.key, signature, EXPORT, _end_message(",
        EXPORT,
    ),
    Mutant(
        "lines may follow the end of an export",
        "gate/proofs/exports.py::_ExportWalk.entries",
        "            if self.end is not None:\n                raise",
        "            if False:\n                raise",
        EXPORT,
    ),
    Mutant(
        "the command line calls any export sound",
        "cli/commands/ledger/proofs.py::check_command",
        '        "sound": exported is None or exported.whole,\n',
        '        "sound": True,\n',
        EXPORT,
    ),
    Mutant(
        "numbers of others are written out, however long",
        "core/untrusted_text.py::read_fraction",
        "    if isinstance(text, str) and len(text) <= 2 * MOST_DIGITS + 2 and NUMBER.fullmatch(text):\n",
        "    if isinstance(text, str):\n        return Fraction(text)\n    if isinstance(text, str):\n",
        f"{NUMBER}::test_no_certificate_and_no_export_hangs_whoever_checks_it",
    ),
    Mutant(
        "a certificate is read before its signature is looked at",
        "gate/proofs/certificates.py::check_certificate",
        "    if not verify_signature(birth.key, signature, CERTIFICATE, message):\n",
        "    with _readable():\n        from_body(bodies[1])\n    if not verify_signature(birth.key, signature, "
        "CERTIFICATE, message):\n",
        NUMBER,
    ),
    Mutant(
        "of two equal keys the last one counts",
        "core/untrusted_text.py::_need_unique_keys",
        "    if len(by_key) < len(pairs):\n",
        "    if False:\n",
        NUMBER,
    ),
    Mutant(
        "a negative payment fills a purse",
        "local/device/purse.py::_amount",
        "    if amount <= 0:\n",
        "    if False:\n",
        PURSE,
    ),
    Mutant(
        "a second payment of the same question makes it cheaper",
        "local/device/purse.py::Purse._note_payment",
        "        if self._paid.get(entry, cost) != cost or others + cost > self._limit:\n",
        "        if others + cost > self._limit:\n",
        PURSE,
    ),
    Mutant(
        "a purse is begun over a foreign file",
        "local/device/purse.py::PurseFile.create",
        "            if content == line or not line.startswith(content):\n",
        "            if False:\n",
        PURSE,
    ),
    Mutant(
        "a purse is created through a link",
        "core/private_files.py::open_regular",
        "flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE)",
        "flags & ~os.O_EXCL | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE)",
        PURSE,
    ),
    Mutant(
        "a ledger is as readable as the umask allows",
        "gate/stores/sqlite.py::SqliteStore.__init__",
        "        if create and vfs is None:\n            _create(path)\n",
        "",
        MODES,
    ),
    Mutant(
        "a ledger of persons that others may read is opened as it is",
        "gate/ledger/ledger.py::Ledger.open",
        "                store.narrow()\n",
        "                pass\n",
        MODES,
    ),
    Mutant(
        "a queue that is a link is used",
        "gate/stores/process_queue.py::_make_folder",
        "    if not stat.S_ISDIR(status.st_mode):\n",
        "    if False:\n",
        MODES,
    ),
    Mutant(
        "an anchor that was shortened is as readable as the umask allows",
        "gate/ledger/anchors.py::_shorten",
        '    with os.fdopen(open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:\n',
        '    with temporary.open("wb") as file:\n',
        MODES,
    ),
    Mutant(
        "a cell of an answer may be a formula",
        "cli/output.py::csv_text",
        "    if FORMULA.match(text) and not NUMBER.fullmatch(text):\n",
        "    if False:\n",
        CELLS,
    ),
    Mutant(
        "negative numbers become texts",
        "cli/output.py::csv_text",
        "    if FORMULA.match(text) and not NUMBER.fullmatch(text):\n",
        "    if FORMULA.match(text):\n",
        CELLS,
    ),
    Mutant(
        "a cell of an answer may command a terminal",
        "cli/output.py::escape_controls",
        "    if text.isprintable():\n",
        "    if text:\n",
        CELLS,
    ),
    Mutant(
        "a NULL in a public column crashes the planner",
        "query/relations/public_values.py::_image",
        "None if None in arguments else rule(*arguments)",
        "rule(*arguments)",
        NULLS,
    ),
]
