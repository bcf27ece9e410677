"""Planted bugs of checks before payment; see `mutants`."""

from mutant import Mutant

REFUSED = "attacks/test_refused_after_payment.py"

READINESS_MUTANTS = [
    Mutant(
        "a plan is not asked whether it is ready",
        "gate/gate.py",
        "            check_ready(plan, self._data, personal=self._personal)\n",
        "            pass\n",
        REFUSED,
    ),
    Mutant(
        "a stored answer is refused when its source is gone",
        "gate/gate.py",
        "        if payment is None or self._ledger.release_of(payment, step) is None:\n",
        "        if True:\n",
        REFUSED,
    ),
    Mutant(
        "an error before payment quotes the engine",
        "gate/priced_plans.py",
        '    tell_operator("The data source could not be checked before payment.", failure)\n',
        "    raise failure\n",
        REFUSED,
    ),
    Mutant(
        "a refusal before payment carries frames that saw the data",
        "gate/priced_plans.py",
        "        raise type(failure).of(failure.problem, failure.fix)\n",
        "        raise failure\n",
        REFUSED,
    ),
    Mutant(
        "a check before payment is given the table of persons itself",
        "gate/priced_plans.py",
        "        check(Prospect(data) if personal else data)\n",
        "        check(data)\n",
        REFUSED,
    ),
    Mutant(
        "a plan's cost is computed again and again",
        "gate/priced_plans.py",
        "    if not all(hasattr(plan, name) for name in METHODS):\n",
        "    if not all(hasattr(plan, name) for name in (*METHODS, 'cost')):\n",
        REFUSED,
    ),
]
