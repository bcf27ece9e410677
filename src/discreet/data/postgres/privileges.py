"""Whether a role of PostgreSQL may still read what it opened. A statement is only refused when it is executed.

By then a question is paid for. So privileges are looked up before, in the catalogue: no row is read.
"""

from collections.abc import Iterable

from discreet.core import NotReady
from discreet.data.postgres.catalogue import Relation
from discreet.data.postgres.literals import bare_text
from discreet.data.postgres.plain_relations import Ask

#: Columns of a relation, and below a view those that the view is made of, which its owner reads (or, if the view says
#: so, whoever asks).
UNREADABLE = """
    WITH RECURSIVE reading(relation, place, reader) AS (
        SELECT a.attrelid, a.attnum::integer, r.oid FROM pg_catalog.pg_attribute a, pg_catalog.pg_roles r
        WHERE a.attrelid = {relation}::regclass AND a.attname IN ({columns}) AND r.rolname = current_user
        UNION
        SELECT d.refobjid, d.refobjsubid, CASE WHEN EXISTS (
                SELECT 1 FROM pg_catalog.pg_options_to_table(v.reloptions) o
                WHERE o.option_name = 'security_invoker' AND o.option_value::boolean
            ) THEN x.reader ELSE v.relowner END
        FROM reading x JOIN pg_catalog.pg_class v ON v.oid = x.relation AND v.relkind = 'v'
        JOIN pg_catalog.pg_rewrite w ON w.ev_class = v.oid AND w.ev_type = '1'
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> v.oid AND d.refobjsubid > 0
    )
    SELECT count(*) FROM reading WHERE NOT has_column_privilege(reader, relation, place::smallint, 'SELECT')
"""


def need_readable(ask: Ask, relations: Iterable[Relation]) -> None:
    """Refuse tables whose columns the role may no longer read, before anything is paid."""
    for relation in relations:
        if relation.listed:
            continue  # written out in the statement: nothing is read on the server
        names = dict.fromkeys((*relation.schema.names, *(name for name, _ in relation.order)))
        columns = ", ".join(map(bare_text, names))
        if ask(UNREADABLE.format(relation=bare_text(relation.origin), columns=columns)) != [(0,)]:
            raise NotReady(
                f"The role may no longer read all columns of {relation.schema.table!r} that it could read when the "
                "table was opened. Nothing was paid.",
                fix="let it read them again (GRANT SELECT), or open the table again with the same ledger",
            )
