"""The operator's log: details of failures, which may quote rows. It is silent until a handler is attached.

A module of its own, so that `import discreet` does not load `logging`.
"""

import logging
from contextlib import suppress

OPERATOR = logging.getLogger("discreet.operator")
#: For errors whose details are kept from the analyst.
HOW_TO_READ = (
    'details are written to the logger "discreet.operator" only, which is silent until the operator attaches a handler '
    '(logging.getLogger("discreet.operator").addHandler(…)); they may quote rows'
)
OPERATOR.addHandler(logging.NullHandler())
OPERATOR.propagate = False


def tell_operator(event: str, failure: BaseException) -> None:
    """Log a failure, with everything that is known of it."""
    with suppress(Exception):  # a log that fails has nothing to tell the caller
        OPERATOR.error("%s", event, exc_info=failure)
