"""Small worlds of three tables, of which two lead to the person by keys; and the same with the person written out.

`orders` names its person. `items` leads there by the key of an order, `notes` by the key of an item, which has two
columns. Keys may be shared, missing, or lead nowhere.
"""

from dataclasses import dataclass, field, replace
from random import Random

from data_engines import arrow_table
from discreet.core import PrivacyUnit
from discreet.core.schema import Column, ForeignKey, Kind, Schema

UNIT = PrivacyUnit(column="customer")
ITEM_KEY = ForeignKey(parent="orders", on=(("order_id", "id"),))
NOTE_KEY = ForeignKey(parent="Items", on=(("item_order", "order_id"), ("item_line", "line")), column="owner")


def schema_of(table, names, unit, cap):
    columns = tuple(Column(name=name, kind=Kind.TEXT if name == "word" else Kind.INTEGER) for name in names)
    return Schema(table=table, columns=columns, unit=unit, rows_per_person=cap)


@dataclass(frozen=True)
class KeyWorld:
    """Rows of the three tables as they came, and the cap."""

    orders: tuple
    items: tuple
    notes: tuple
    cap: int = 10_000
    #: Keys in place of those of the tables.
    keys: dict = field(default_factory=dict)

    @property
    def people(self):
        return tuple(dict.fromkeys(row["customer"] for row in self.orders if row["customer"] is not None))

    def without(self, person):
        """Return the world without the rows that name a person: what led to them leads nowhere now."""
        return replace(self, orders=tuple(row for row in self.orders if row["customer"] != person))

    @property
    def given(self):
        """The tables as they came: schemas without the person where a key leads there."""
        alone, keys = PrivacyUnit(), {"items": ITEM_KEY, "notes": NOTE_KEY, **self.keys}
        return {
            "orders": (schema_of("orders", ("id", "customer", "word"), UNIT, self.cap), self.orders, None),
            "items": (schema_of("items", ("order_id", "line", "price"), alone, self.cap), self.items, keys["items"]),
            "notes": (
                schema_of("notes", ("item_order", "item_line", "mark"), alone, self.cap),
                self.notes,
                keys["notes"],
            ),
        }

    @property
    def written_out(self):
        """The tables with the person in a column: each row once for each person that it leads to."""
        items = [
            {**row, "person": person}
            for row in self.items
            for person in sorted(owners(self.orders, {"id": row["order_id"]}, "customer"))
        ]
        notes = [
            {**row, "owner": person}
            for row in self.notes
            for person in sorted(owners(items, {"order_id": row["item_order"], "line": row["item_line"]}, "person"))
        ]
        by_items, by_notes = (replace(UNIT, column=name) for name in ("person", "owner"))
        return {
            "orders": (schema_of("orders", ("id", "customer", "word"), UNIT, self.cap), list(self.orders)),
            "items": (schema_of("items", ("order_id", "line", "price", "person"), by_items, self.cap), items),
            "notes": (schema_of("notes", ("item_order", "item_line", "mark", "owner"), by_notes, self.cap), notes),
        }


def owners(rows, key, person):
    """Return the people of the rows with a key; NULL is equal to nothing."""
    if None in key.values():
        return set()
    found = {row[person] for row in rows if all(row[name] == value for name, value in key.items())}
    return found - {None}


def key_world(seed):
    """Return a random world."""
    rng = Random(seed)
    keys, people = (*range(rng.randint(1, 4)), None), (1, 2, 3, None)
    orders = tuple(
        {"id": rng.choice(keys), "customer": rng.choice(people), "word": rng.choice("ab")}
        for _ in range(rng.randint(0, 6))
    )
    items = tuple(
        {"order_id": rng.choice((*keys, 9)), "line": rng.choice((1, 2, None)), "price": rng.randint(0, 5)}
        for _ in range(rng.randint(0, 8))
    )
    notes = tuple(
        {"item_order": rng.choice((*keys, 9)), "item_line": rng.choice((1, 2)), "mark": rng.randint(0, 5)}
        for _ in range(rng.randint(0, 8))
    )
    return KeyWorld(*map(sort_rows, (orders, items, notes)), cap=rng.choice((10_000, 1, 2, 3)))


def sort_rows(rows):
    """Return rows in the order that an engine gives them which knows no other."""
    return tuple(sorted(rows, key=lambda row: [(value is not None, value) for value in row.values()]))


# --- how engines open them ---


def duckdb_by_keys(world):
    from discreet.data.opening import open_tables
    from discreet.data.reading.table_sources import TableSource

    return open_tables(
        {
            name: TableSource(source=arrow_table(schema, rows), via=via, rows_per_person=schema.rows_per_person)
            for name, (schema, rows, via) in reversed(world.given.items())
        },
        unit=UNIT,
    )


def postgres_by_keys(world):
    from discreet.data.postgres.catalogue import PostgresSources, private_relations
    from discreet.data.postgres.table import PostgresTables
    from postgres_tables import PLACE, declared, writer

    tables = []
    for schema, rows, via in reversed(world.given.values()):
        unit = UNIT if via is None else replace(UNIT, column=via.column)
        declaration = replace(declared(replace(schema, unit=PrivacyUnit())), unit=unit, via=via)
        tables.append((writer().fill(schema, rows), declaration, (PLACE,)))
    relations = private_relations(writer().catalogue, tables)
    return PostgresTables(
        writer().sessions, PostgresSources({relation.schema.table: relation for relation in relations}, {})
    )


def spark_by_keys(world):
    from discreet.data.reading.table_sources import TableSource
    from discreet.data.spark.table import open_frames
    from spark_tables import frame_of

    return open_frames(
        {
            name: TableSource(
                source=frame_of(arrow_table(schema, rows)), via=via, rows_per_person=schema.rows_per_person
            )
            for name, (schema, rows, via) in reversed(world.given.items())
        },
        unit=UNIT,
    )


BY_KEYS = {"duckdb": duckdb_by_keys, "postgres": postgres_by_keys, "spark": spark_by_keys}
