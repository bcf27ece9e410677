"""What a SELECT groups by: as it is said, or everything that is not summed up."""

from typing import Any

from sqlglot import exp

from discreet.query.sql.lexing import Page
from discreet.query.sql.names import AGGREGATES
from discreet.query.sql.scope import Scope


def sums_up(node: exp.Expr) -> bool:
    """Whether there is a summary of rows in an expression."""
    return any(each.name.upper() in AGGREGATES for each in node.find_all(exp.Anonymous))


def group_nodes(select: exp.Select, page: Page, at: int) -> list[exp.Expr]:
    """Return what is grouped by. GROUP BY ALL means all outputs with a column that are not summed up."""
    part = select.args.get("group")
    if part is None:
        return []
    if not part.args.get("all"):
        return list(part.expressions)
    if part.expressions:
        raise page.refuse(at, "GROUP BY ALL cannot be combined with columns.", "leave out ALL, or the columns")
    outputs = [output.unalias() for output in select.expressions]
    return [node for node in outputs if node.find(exp.Column) is not None and not sums_up(node)]


def meant_group(node: exp.Expr, select: exp.Select, scope: Scope) -> Any:
    """Return what GROUP BY 2 or GROUP BY month mean, if month is no column but the name of an output."""
    if isinstance(node, exp.Literal) and not node.is_string:
        if not node.name.isdecimal() or not 1 <= int(node.name) <= len(select.expressions):
            raise scope.refuse(node, f"There is no output {node.name[:20]}.", "write the name of a column")
        return select.expressions[int(node.name) - 1].unalias()
    if isinstance(node, exp.Column) and node.args.get("table") is None and not scope.named(node.name):
        for output in select.expressions:
            if isinstance(output, exp.Alias) and output.alias.casefold() == node.name.casefold():
                return output.this
    return node
