"""The rows of the catalogue: schemas, tables, columns and types, made of the public facts of a dataset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from discreet.service.postgres import values as v
from discreet.service.postgres.settings import OTHERS, REPORTED
from discreet.service.words import ColumnFacts, SchemaReply, TableFacts

Row = dict[str, object]

#: Numbers of schemas, of the first declared table, of the role and of the database.
CATALOGUE, PUBLIC, INFORMATION, FIRST_TABLE, ROLE, DATABASE = 11, 2200, 13_000, 16_384, 10, 16_000
SCHEMAS = {"pg_catalog": CATALOGUE, "public": PUBLIC, "information_schema": INFORMATION}


@dataclass(frozen=True, slots=True)
class PgType:
    """A type: its number, its names, its size, its category, and the number of its arrays."""

    oid: int
    name: str
    words: str
    size: int
    category: str
    array: int
    functions: str


TYPES = (
    PgType(v.BOOL, "bool", "boolean", 1, "B", 1000, "bool"),
    PgType(17, "bytea", "bytea", -1, "U", 1001, "bytea"),
    PgType(v.CHAR, "char", '"char"', 1, "Z", 1002, "char"),
    PgType(v.NAME, "name", "name", 64, "S", 1003, "name"),
    PgType(v.INT8, "int8", "bigint", 8, "N", 1016, "int8"),
    PgType(v.INT2, "int2", "smallint", 2, "N", 1005, "int2"),
    PgType(v.INT4, "int4", "integer", 4, "N", 1007, "int4"),
    PgType(v.TEXT, "text", "text", -1, "S", v.TEXTS, "text"),
    PgType(v.OID, "oid", "oid", 4, "N", 1028, "oid"),
    PgType(114, "json", "json", -1, "U", 199, "json_"),
    PgType(v.FLOAT4, "float4", "real", 4, "N", 1021, "float4"),
    PgType(v.FLOAT8, "float8", "double precision", 8, "N", 1022, "float8"),
    PgType(v.BPCHAR, "bpchar", "character", -1, "S", 1014, "bpchar"),
    PgType(v.VARCHAR, "varchar", "character varying", -1, "S", 1015, "varchar"),
    PgType(v.DATE, "date", "date", 4, "D", 1182, "date_"),
    PgType(1083, "time", "time without time zone", 8, "D", 1183, "time_"),
    PgType(v.TIMESTAMP, "timestamp", "timestamp without time zone", 8, "D", 1115, "timestamp_"),
    PgType(v.TIMESTAMPTZ, "timestamptz", "timestamp with time zone", 8, "D", 1185, "timestamptz_"),
    PgType(1186, "interval", "interval", 16, "T", 1187, "interval_"),
    PgType(v.NUMERIC, "numeric", "numeric", -1, "N", 1231, "numeric_"),
    PgType(2950, "uuid", "uuid", 16, "U", 2951, "uuid_"),
)
NAMES = {one.oid: one for one in TYPES}
#: The first numbers of catalogue tables, which casts of their names stand for.
KNOWN_TABLES = {"pg_class": 1259, "pg_type": 1247, "pg_proc": 1255, "pg_constraint": 2606, "pg_namespace": 2615}


def number_tables(schema: SchemaReply) -> dict[str, int]:
    """Return the numbers of the declared tables."""
    return {table.name: FIRST_TABLE + place for place, table in enumerate(schema.tables)}


def list_rows(schema: SchemaReply, dataset: str) -> Mapping[str, list[Row]]:
    """Return the rows of all tables that have any."""
    numbers = number_tables(schema)
    return {
        "pg_namespace": [{"oid": oid, "nspname": name, "nspowner": ROLE} for name, oid in SCHEMAS.items()],
        "pg_class": [_class_row(table, numbers[table.name]) for table in schema.tables],
        "pg_attribute": list(_attribute_rows(schema, numbers)),
        "pg_type": list(_type_rows()),
        "pg_database": [_database_row(dataset)],
        "pg_roles": [{"oid": ROLE, "rolname": "discreet", "rolinherit": True, "rolconnlimit": -1, "rolcanlogin": True}],
        "pg_user": [{"usename": "discreet", "usesysid": ROLE}],
        "pg_settings": [{"name": name, "setting": value} for name, value in {**REPORTED, **OTHERS}.items()],
        "pg_tables": [
            {"schemaname": "public", "tablename": table.name, "tableowner": "discreet"} for table in schema.tables
        ],
        "information_schema.schemata": [
            {"catalog_name": dataset, "schema_name": name, "schema_owner": "discreet"} for name in SCHEMAS
        ],
        "information_schema.tables": [_table_row(table, dataset) for table in schema.tables],
        "information_schema.columns": list(_column_rows(schema, dataset)),
    }


def _class_row(table: TableFacts, oid: int) -> Row:
    return {
        "oid": oid,
        "relname": table.name,
        "relnamespace": PUBLIC,
        "relowner": ROLE,
        "reltuples": -1.0,
        "relpersistence": "p",
        "relkind": "r",
        "relnatts": len(table.columns),
        "relispopulated": True,
        "relreplident": "d",
    }


def _attribute_rows(schema: SchemaReply, numbers: Mapping[str, int]) -> Iterator[Row]:
    for table in schema.tables:
        for place, column in enumerate(table.columns, 1):
            kind = _type_of(column)
            yield {
                "attrelid": numbers[table.name],
                "attname": column.name,
                "atttypid": kind.oid,
                "attstattarget": -1,
                "attlen": kind.size,
                "attnum": place,
                "atttypmod": -1,
                "attcacheoff": -1,
                "attstorage": "p",
                "attislocal": True,
            }


def _type_rows() -> Iterator[Row]:
    for one in TYPES:
        common: Row = {"typnamespace": CATALOGUE, "typowner": ROLE, "typtype": "b", "typdelim": ",", "typtypmod": -1}
        common |= {"typisdefined": True}
        yield common | {
            "oid": one.oid,
            "typname": one.name,
            "typlen": one.size,
            "typbyval": one.size in (1, 2, 4, 8),
            "typcategory": one.category,
            "typarray": one.array,
            **{f"typ{act}": f"{one.functions}{end}" for act, end in ACTS},
        }
        yield common | {
            "oid": one.array,
            "typname": f"_{one.name}",
            "typlen": -1,
            "typcategory": "A",
            "typelem": one.oid,
            **{f"typ{act}": f"array_{end}" for act, end in ACTS},
        }


ACTS = (("input", "in"), ("output", "out"), ("receive", "recv"), ("send", "send"))


def _database_row(dataset: str) -> Row:
    return {
        "oid": DATABASE,
        "datname": dataset,
        "datdba": ROLE,
        "encoding": 6,
        "datlocprovider": "c",
        "datallowconn": True,
        "datconnlimit": -1,
        "datcollate": "C",
        "datctype": "C",
    }


def _table_row(table: TableFacts, dataset: str) -> Row:
    names: Row = {"table_catalog": dataset, "table_schema": "public", "table_name": table.name}
    return names | {"table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO"}


def _column_rows(schema: SchemaReply, dataset: str) -> Iterator[Row]:
    for table in schema.tables:
        for place, column in enumerate(table.columns, 1):
            kind = _type_of(column)
            yield {
                "table_catalog": dataset,
                "table_schema": "public",
                "table_name": table.name,
                "column_name": column.name,
                "ordinal_position": place,
                "is_nullable": "YES",
                "data_type": kind.words,
                "udt_catalog": dataset,
                "udt_schema": "pg_catalog",
                "udt_name": kind.name,
                "is_identity": "NO",
                "is_generated": "NEVER",
                "is_updatable": "NO",
            }


def _type_of(column: ColumnFacts) -> PgType:
    return NAMES[v.TYPES.get(column.kind, v.TEXT)]
