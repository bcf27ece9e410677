"""Refusals of a question, with their place in its text."""

from discreet.core import DiscreetError


class QueryRefused(DiscreetError, ValueError):
    """A question cannot be asked like this. `line` and `column` count from 1, and stand at the end of the problem."""

    def __init__(self, problem: str, *, fix: str, line: int, column: int) -> None:
        super().__init__(f"{problem} (line {line}, column {column})", fix=fix)
        self.plain = problem
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.plain, self.fix, self.line, self.column)


def _rebuild(problem: str, fix: str, line: int, column: int) -> QueryRefused:
    return QueryRefused(problem, fix=fix, line=line, column=column)
