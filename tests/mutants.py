"""Planted bugs, each of which some test must catch: `make mutants`.

A mutant changes one place in a copy of the package and runs the tests that guard the claim it breaks. A mutant that
survives is a claim without a test.

What tests import besides the package is loaded once: each mutant's tests run in a child that begins with it, and that
has not seen the package.
"""

import atexit
import importlib
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from accounting_mutants import ACCOUNTING_MUTANTS
from anonymity_mutants import ANONYMITY_MUTANTS
from canonical_mutants import CANONICAL_MUTANTS
from compiled_mutants import COMPILED_MUTANTS
from contribution_mutants import CONTRIBUTION_MUTANTS
from counter_mutants import COUNTER_MUTANTS
from data_mutants import DATA_MUTANTS
from data_reference_mutants import DATA_REFERENCE_MUTANTS
from face_mutants import FACE_MUTANTS
from failure_mutants import FAILURE_MUTANTS
from gate_mutants import GATE_MUTANTS
from law_mutants import LAW_MUTANTS
from learn_mutants import LEARN_MUTANTS
from local_mutants import LOCAL_MUTANTS
from market_mutants import MARKET_MUTANTS
from model_mutants import MODEL_MUTANTS
from mutant import Mutant
from mutant_choice import choose
from personal_mutants import PERSONAL_MUTANTS
from postgres_mutants import POSTGRES_MUTANTS
from query_mechanism_mutants import QUERY_MECHANISM_MUTANTS
from query_mutants import QUERY_MUTANTS
from readiness_mutants import READINESS_MUTANTS
from relation_mutants import RELATION_MUTANTS
from session_mutants import SESSION_MUTANTS
from spark_mutants import SPARK_MUTANTS
from sql_mutants import SQL_MUTANTS
from sql_relation_mutants import SQL_RELATION_MUTANTS
from text_mutants import TEXT_MUTANTS
from workload_mutants import WORKLOAD_MUTANTS

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
sys.path.append(str(HERE.parent))
hatch_build = importlib.import_module("hatch_build")
#: A mutant that makes a draw run for ever is caught, too.
SECONDS = 240
#: A quick run plants no more bugs after so many seconds; the order is drawn by the commit.
QUICK_SECONDS = 8 * 60
#: A mutant that takes all memory is caught, too, and leaves the other trials theirs.
MOST_MEMORY = 6 << 30
#: Hypothesis is loaded before pytest looks for it, which pytest warns of.
LOADED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", LOADED)
#: What takes longest to load of all that tests import. Nothing here may start a thread, or know the package.
BEFOREHAND = ("numpy", "hypothesis.strategies", "mpmath", "duckdb", "pyarrow", "pandas", "sqlglot", "apsw", "torch")


MUTANTS = [
    # The stream of noise.
    Mutant(
        "a child goes on with its parent's stream after fork",
        "noise/stream.py",
        "return _Forks.count, os.getpid()",
        "return 0, 0",
        "unit/test_stream.py",
    ),
    Mutant(
        "spare words of the parent are used by a child",
        "noise/stream.py",
        "            keyed.spare = []\n",
        "            keyed.spare = getattr(keyed, 'spare', [])\n",
        "unit/test_stream.py",
    ),
    Mutant(
        "a copy shares its original's key",
        "noise/stream.py",
        "        return type(self), ()  #",
        "        return (lambda: self), ()  #",
        "unit/test_stream.py",
    ),
    Mutant(
        "a key is never thrown away", "noise/stream.py", "keyed.left -= piece", "keyed.left -= 0", "unit/test_stream.py"
    ),
    Mutant(
        "any generator may make noise",
        "noise/stream.py",
        "    if not isinstance(source, Entropy):\n",
        "    if source is None:\n",
        "unit/test_stream.py",
    ),
    # Tables.
    Mutant(
        "an off-by-one in the search for a block",
        "noise/lookup.py",
        'index[beyond] = np.searchsorted(ends, word[beyond], side="right")',
        'index[beyond] = np.searchsorted(ends, word[beyond], side="left")',
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "sure weights are rounded up",
        "noise/table.py",
        "low = np.floor(multiplier * smallest * (1 - MARGIN))",
        "low = np.ceil(multiplier * smallest * (1 + MARGIN))",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "maybe weights are too narrow",
        "noise/table.py",
        "np.ceil(multiplier * largest * (1 + MARGIN)) + 1",
        "np.floor(multiplier * largest * (1 - MARGIN))",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "a bucket that two blocks share goes to the first",
        "noise/table.py",
        'inside = (block < len(sure)) & (block == np.searchsorted(sure, end, side="right"))',
        "inside = block < len(sure)",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "every maybe draw is taken",
        "noise/lookup.py",
        "    taken: NDArray[np.bool_] = uniform < chance\n",
        "    taken: NDArray[np.bool_] = uniform < 2\n",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "close decisions are left to floats",
        "noise/lookup.py",
        "np.flatnonzero(np.abs(uniform - chance) <= doubt)",
        "np.flatnonzero(np.abs(uniform - chance) < 0)",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "the left tail begins where the table ends",
        "noise/lookup.py",
        "entropy.bits(table.tail_stride_bits) + left",
        "entropy.bits(table.tail_stride_bits)",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "tails are drawn twice as often",
        "noise/table.py",
        "1 << (table.tail_stride_bits + stride + 1)",
        "1 << (table.tail_stride_bits + stride + 2)",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "draws of the slow path are put into the wrong places",
        "noise/lookup.py",
        "open_draws.append((left + start, words[left]))",
        "open_draws.append((left, words[left]))",
        "claims/test_noise_tables.py claims/test_noise_statistics.py",
    ),
    # Single draws and coins.
    Mutant(
        "zero is drawn twice as often as it should",
        "noise/direct.py",
        "        if magnitude or sign > 0:\n",
        "        if magnitude >= 0:\n",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "a comparison is flipped in the exact path",
        "noise/decide.py",
        "<= Fraction(low, 1 << precision):\n            return True",
        "<= Fraction(low, 1 << precision):\n            return False",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "a real that is close to its chance is half a step off",
        "noise/decide.py",
        "start = x - Fraction(1, 2) + place * step",
        "start = x + place * step",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "blocks of a rounded shape are bounded at integers",
        "noise/table.py",
        "block_bits, 0.5 if rounded else 0.0)",
        "block_bits, 0.0)",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "the same bits choose the block and the place in it",
        "noise/lookup.py",
        "_HIGHEST = {4: 1, 8: 3}",
        "_HIGHEST = {4: 0, 8: 0}",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "a comparison is not extended but guessed",
        "noise/decide.py",
        "        if offset + scale * Fraction(word, 1 << bits) >= Fraction(high, 1 << precision):\n",
        "        if True:\n",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "low bits of wide draws are plainly uniform",
        "noise/direct.py",
        "if word < (1 << 64) - (1 << 46) or below_exp(entropy, word, 64, low / scale):",
        "if word >= 0:",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "a Gaussian draw is accepted by the wrong centre",
        "noise/direct.py",
        "centre = doubled / (2 * width)",
        "centre = doubled / width",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "an undecided geometric draw takes the first guess",
        "noise/direct.py",
        "            if _settled(value, scale, word, bits):\n",
        "            if value == guess:\n",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "a bound may itself be drawn",
        "noise/sampling.py",
        "np.flatnonzero(result >= np.uint64(limit))",
        "np.flatnonzero(result > np.uint64(limit))",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "an edge word always counts as heads",
        "noise/sampling.py",
        "        coins[which] = below_ratio(entropy, int(words[which]), 64, ratio)\n",
        "        coins[which] = True\n",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "weights of a choice may be too small",
        "noise/choice.py",
        "WEIGHT_BITS * LOG_2 + MARGIN)",
        "WEIGHT_BITS * LOG_2 - 0.1)",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "a picked candidate is always taken",
        "noise/choice.py",
        "            if self._takes(which * CHUNK + inside, int(weights[inside]), entropy):\n",
        "            if weights[inside]:\n",
        "claims/test_noise_direct.py",
    ),
    # Numbers and sensitivities.
    Mutant(
        "a float means its binary value",
        "core/exact.py",
        "Fraction(float.__repr__(value) if isinstance(value, float) else str(value))",
        "Fraction(float(value))",
        "unit/test_exact_numbers.py",
    ),
    Mutant(
        "rounding up is rounding to nearest",
        "core/exact.py",
        "        result = math.nextafter(result, math.inf)\n",
        "        break\n",
        "unit/test_exact_numbers.py",
    ),
    Mutant(
        "the error of the series is forgotten",
        "core/exponential.py",
        "slack = 2 * count + 2",
        "slack = -2",
        "unit/test_exact_numbers.py",
    ),
    Mutant(
        "logarithms are rounded down",
        "core/exponential.py",
        "* number <= 1 << bits",
        "* number <= (1 << bits) + (1 << (bits - 48))",
        "unit/test_exact_numbers.py",
    ),
    Mutant(
        "a histogram has sensitivity one under replace, too",
        "core/sensitivity.py",
        "return 2 if need_neighbours",
        "return 1 if need_neighbours",
        "claims/test_sensitivities.py",
    ),
    Mutant(
        "a replaced row moves a sum by its larger end only",
        "core/sensitivity.py",
        "width = max(need_bounds(bounds).high_steps, 0) - min(bounds.low_steps, 0)",
        "width = need_bounds(bounds).largest",
        "claims/test_sensitivities.py",
    ),
    # Accounting.
    Mutant(
        "ten releases are billed as one",
        "accounting/conversions.py",
        "once = concentrated_of(part)\n            return None if once is None else (times * once[0], times * once[1])",
        "once = concentrated_of(part)\n            return once",
        "unit/test_accounting.py",
    ),
    Mutant(
        "delta is dropped when releases add up",
        "accounting/conversions.py",
        "once = approximate_of(part)\n            return None if once is None else (times * once[0], times * once[1])",
        "once = approximate_of(part)\n            return None if once is None else (times * once[0], once[1])",
        "unit/test_accounting.py",
    ),
    Mutant(
        "bounded range is billed as if twice as good",
        "accounting/conversions.py",
        "return epsilon**2 / 8, Fraction(0)",
        "return epsilon**2 / 16, Fraction(0)",
        "claims/test_selection.py",
    ),
    Mutant(
        "the worst shift of a Gaussian is taken for the least",
        "accounting/discrete_gaussian.py",
        "tail(width, start + count * shift)[0]",
        "tail(width, start + count * shift - 1)[1]",
        "claims/test_gaussian.py",
    ),
    Mutant(
        "a sum of Gaussians is taken for one of the same width",
        "accounting/discrete_gaussian.py",
        "width = math.sqrt(count * variance)",
        "width = count * math.sqrt(variance)",
        "claims/test_gaussian.py",
    ),
    # Mechanisms.
    Mutant(
        "the scale of Laplace noise is halved",
        "mechanisms/laplace.py",
        "partial(laplace, self.scale)",
        "partial(laplace, self.scale / 2)",
        "claims/test_laplace.py",
    ),
    Mutant(
        "Gaussian noise takes a deviation for a variance",
        "mechanisms/gaussian.py",
        "partial(gaussian, self.variance)",
        "partial(gaussian, Fraction(self.deviation))",
        "claims/test_gaussian.py",
    ),
    Mutant(
        "the same noise is added to every coordinate",
        "mechanisms/integers.py",
        "noise: NDArray[Any] = draw(exact.shape, entropy=entropy)",
        "noise = draw(None, entropy=entropy)",
        "claims/test_laplace.py",
    ),
    Mutant(
        "the error of many coordinates is that of one",
        "mechanisms/laplace.py",
        'math.log1p(-risk) / whole(size, "size")',
        "math.log1p(-risk)",
        "claims/test_laplace.py",
    ),
    Mutant(
        "an answer at the end of 64 bits wraps",
        "mechanisms/integers.py",
        "np.clip(answer.astype(np.int64), -WIDEST, WIDEST)",
        "answer.astype(np.int64)",
        "claims/test_laplace.py",
    ),
    Mutant(
        "an error quotes the value that caused it",
        "mechanisms/integers.py",
        'f"The answer holds {kind_of(item)}, not a whole number."',
        'f"The answer holds {item!r}, not a whole number."',
        "unit/test_wrong_calls.py contracts",
    ),
    Mutant(
        "the classic calibration is used where it is false",
        "mechanisms/gaussian.py",
        "if target >= 1:",
        "if target >= 100:",
        "claims/test_gaussian.py",
    ),
    Mutant(
        "halves are rounded to even",
        "mechanisms/grid.py",
        "points = np.floor(ratio + 0.5)",
        "return np.rint(ratio).astype(int).reshape(shape)\n    points = ratio",
        "claims/test_sensitivities.py",
    ),
    Mutant(
        "the grid's own rounding is forgotten in the sensitivity",
        "mechanisms/grid.py",
        "l1=radius + count - 1, l2_squared=radius**2 + count - 1",
        "l1=max(radius, count), l2_squared=max(radius, count) * radius",
        "claims/test_sensitivities.py",
    ),
    Mutant(
        "a lie may be the truth",
        "mechanisms/randomised_response.py",
        "other += other >= true",
        "other += 0",
        "claims/test_randomised_response.py",
    ),
    Mutant(
        "the truth is told a little too often",
        "mechanisms/randomised_response.py",
        "truth=1 - _coarse_up(rest)",
        "truth=1 - _coarse_up(rest) * Fraction(99, 100)",
        "claims/test_randomised_response.py",
    ),
    Mutant(
        "estimates forget those who lied",
        "mechanisms/randomised_response.py",
        "values = (reported - people * float(self.lie)) / gain",
        "values = reported / gain",
        "claims/test_randomised_response.py",
    ),
    Mutant(
        "a mean's sum is scaled to half of what a row can move",
        "mechanisms/mean.py",
        "linf=rows * need_bounds(bounds).radius)",
        "linf=rows * need_bounds(bounds).radius // 2)",
        "claims/test_sensitivities.py claims/test_mean.py",
    ),
    Mutant(
        "truncation puts the mass of the wrong side at an end",
        "mechanisms/truncated.py",
        "return self._beyond(centre - self.low)",
        "return self._beyond(centre - self.low + 1)",
        "claims/test_laplace.py",
    ),
    # Selection.
    Mutant(
        "scores that move against each other are scaled as if they did not",
        "mechanisms/selection/scores.py",
        "rate = epsilon / (sensitivity * directions(monotone=monotone))",
        "rate = epsilon / sensitivity",
        "claims/test_selection.py",
    ),
    Mutant(
        "permute-and-flip takes the first coin that came up",
        "mechanisms/selection/choice.py",
        "heads[below(len(heads), entropy=entropy)]",
        "heads[0]",
        "claims/test_selection_draws.py",
    ),
    Mutant(
        "coins near their edge are left to floats",
        "noise/choice.py",
        "np.flatnonzero(np.abs(excess) <= chance)",
        "np.flatnonzero(np.abs(excess) < 0)",
        "claims/test_noise_direct.py",
    ),
    Mutant(
        "a removed candidate keeps its weight",
        "noise/choice.py",
        "            weights[index] = 0\n",
        "            weights[index] *= 1\n",
        "claims/test_top_k.py",
    ),
    Mutant(
        "one-shot noise forgets that k are chosen",
        "mechanisms/selection/noisy_ranking.py",
        "directions(monotone=self.monotone) * self.k * distance",
        "directions(monotone=self.monotone) * distance",
        "claims/test_top_k.py",
    ),
    Mutant(
        "a tie goes to the higher index",
        "mechanisms/selection/noisy_ranking.py",
        "np.flatnonzero(values == limit)[: k - len(above)]",
        "np.flatnonzero(values == limit)[-(k - len(above)) :]",
        "claims/test_top_k.py",
    ),
    Mutant(
        "halves of scores are rounded down",
        "mechanisms/selection/scores.py",
        "(2 * steps.numerator + steps.denominator) // (2 * steps.denominator)",
        "(2 * steps.numerator + steps.denominator - 1) // (2 * steps.denominator)",
        "claims/test_selection.py claims/test_selection_draws.py unit/test_selection_input.py",
    ),
    # Sparse vector.
    Mutant(
        "the threshold has no noise",
        "mechanisms/sparse_vector/stream.py",
        "threshold + laplace(threshold_scale, entropy=entropy)",
        "threshold",
        "claims/test_sparse_vector.py",
    ),
    Mutant(
        "the comparison with the threshold is flipped",
        "mechanisms/sparse_vector/stream.py",
        "entropy=self._entropy) >= self._bar",
        "entropy=self._entropy) <= self._bar",
        "claims/test_sparse_vector.py",
    ),
    Mutant(
        "a stream goes on after its last positive answer",
        "mechanisms/sparse_vector/stream.py",
        "            if not self._left:\n",
        "            if self._left < -1:\n",
        "unit/test_sparse_vector_input.py",
    ),
    Mutant(
        "noise on queries is not scaled by the number of answers",
        "mechanisms/sparse_vector/mechanism.py",
        "(1 if self.monotone else 2) * self.answers * self.sensitivity / self.query_epsilon",
        "(1 if self.monotone else 2) * self.sensitivity / self.query_epsilon",
        "claims/test_sparse_vector.py",
    ),
    Mutant(
        "a value is released without noise of its own",
        "mechanisms/sparse_vector/stream.py",
        "return self._values.perturb(int(answer), entropy=self._entropy)",
        "return int(answer)",
        "claims/test_sparse_vector.py",
    ),
    Mutant(
        "a forked child goes on with its parent's threshold noise",
        "mechanisms/sparse_vector/stream.py",
        "if process_mark() != self._mark:",
        "if not self._mark:",
        "claims/test_sparse_vector.py unit/test_sparse_vector_input.py",
    ),
    Mutant(
        "two threads may both be given the last positive answer",
        "mechanisms/sparse_vector/stream.py",
        "        with self._lock:  #",
        "        if self._lock:  #",
        "unit/test_sparse_vector_input.py",
    ),
    Mutant(
        "queries that move against the threshold get half the noise they need",
        "mechanisms/sparse_vector/mechanism.py",
        "(1 if self.monotone else 2) * self.answers",
        "1 * self.answers",
        "claims/test_sparse_vector.py",
    ),
    Mutant(
        "monotone values are given more of ε than there is",
        "mechanisms/sparse_vector/mechanism.py",
        "threshold = min(rest, self.epsilon - query)",
        "threshold = rest",
        "claims/test_sparse_vector.py",
    ),
    Mutant(
        "the noise on the threshold is used again by the next stream",
        "mechanisms/sparse_vector/stream.py",
        "threshold + laplace(threshold_scale, entropy=entropy)",
        "threshold + globals().setdefault('_kept', laplace(threshold_scale, entropy=entropy))",
        "claims/test_sparse_vector.py",
    ),
    # What a hostile reader found.
    Mutant(
        "rows of several groups count as those of one",
        "core/limits.py",
        "return self.groups * self.rows_per_group",
        "return self.rows_per_group",
        "claims/test_sensitivities.py",
    ),
    Mutant(
        "narrow integers of NumPy wrap in a sensitivity",
        "core/limits.py",
        'rows_per_group=whole(self.rows_per_group, "rows_per_group"),',
        "rows_per_group=self.rows_per_group,",
        "claims/test_sensitivities.py",
    ),
    Mutant(
        "scores near a half step are read in binary",
        "mechanisms/selection/scores.py",
        "_nearest(Fraction(float.__repr__(values[index].item())) * ratio)",
        "_nearest(Fraction(values[index].item()) * ratio)",
        "claims/test_selection.py",
    ),
    Mutant(
        "squares in the tail of a wide table wrap",
        "noise/lookup.py",
        "left=bool(index[which] > table.blocks)",
        "left=index[which] > table.blocks",
        "claims/test_noise_tables.py",
    ),
    Mutant(
        "a fork in the middle of a draw makes two of a word",
        "noise/stream.py",
        "                if process_mark() == mark:  # or a fork in between has made two of this word\n",
        "                if process_mark():\n",
        "unit/test_stream.py",
    ),
    Mutant(
        "more values go on the grid than it was made for",
        "mechanisms/grid.py",
        "if points.size > self.size:",
        "if points.size > 10**9:",
        "unit/test_wrong_calls.py",
    ),
    Mutant(
        "a guarantee's text is rounded to nearest",
        "core/exact.py",
        "Context(prec=digits, rounding=rounding)",
        "Context(prec=digits)",
        "unit/test_accounting.py",
    ),
    *ACCOUNTING_MUTANTS,
    *GATE_MUTANTS,
    *READINESS_MUTANTS,
    *FAILURE_MUTANTS,
    *PERSONAL_MUTANTS,
    *COMPILED_MUTANTS,
    *CONTRIBUTION_MUTANTS,
    *COUNTER_MUTANTS,
    *LAW_MUTANTS,
    *DATA_MUTANTS,
    *DATA_REFERENCE_MUTANTS,
    *TEXT_MUTANTS,
    *CANONICAL_MUTANTS,
    *POSTGRES_MUTANTS,
    *SPARK_MUTANTS,
    *RELATION_MUTANTS,
    *QUERY_MECHANISM_MUTANTS,
    *QUERY_MUTANTS,
    *SQL_MUTANTS,
    *SQL_RELATION_MUTANTS,
    *SESSION_MUTANTS,
    *FACE_MUTANTS,
    *WORKLOAD_MUTANTS,
    *MODEL_MUTANTS,
    *LEARN_MUTANTS,
    *MARKET_MUTANTS,
    *LOCAL_MUTANTS,
    *ANONYMITY_MUTANTS,
]


class Trial:
    """One planted bug, and the process that runs its tests."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.begun = mutant, time.monotonic()
        self.folder = Path(tempfile.mkdtemp())
        self.output = self.folder / "output"
        copy = self.folder / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        plant(mutant, copy)
        sys.stdout.flush()
        self.process = os.fork()
        if not self.process:
            self._run_tests(copy)

    def _run_tests(self, copy: Path) -> None:
        """Run the tests in this process, which was made for them, and end it."""
        status = 4
        try:
            os.setsid()  # so that whatever the tests start can be ended with them
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            os.chdir(HERE.parent)
            descriptor = os.open(self.output, os.O_WRONLY | os.O_CREAT)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            sys.path.insert(0, str(copy))
            sys.dont_write_bytecode = True
            os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "DISCREET_CASES": "all"}
            tests = [str(HERE / name) for name in self.mutant.tests.split()]
            # A folder of its own: in a shared one, tests that run at the same time clear up after each other.
            status = pytest.main([*OPTIONS, "--basetemp", str(self.folder / "tests"), *tests])
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - this process ends here, whatever it is
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(status))

    def ended(self) -> tuple[bool, float] | None:
        """Return whether the bug was caught, and how long it took; None while the tests run."""
        seconds = time.monotonic() - self.begun
        if seconds > SECONDS:
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            status = 1
        else:
            process, waited = os.waitpid(self.process, os.WNOHANG)
            if not process:
                return None
            status = os.waitstatus_to_exitcode(waited)
        told = self.output.read_text(errors="replace") if self.output.exists() else ""
        shutil.rmtree(self.folder, ignore_errors=True)
        # 1 is "tests failed"; 2 and more, "could not run", would be a broken mutant rather than a caught one.
        if status not in (0, 1):
            raise SystemExit(f"{self.mutant.bug}: its tests could not run\n{told[-3000:]}")
        return status == 1, seconds


def plant(mutant: Mutant, copy: Path) -> None:
    """Change the one place in a copy of the package."""
    path = copy / "discreet" / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.bug}: the place to change stands {text.count(mutant.old)} times in {mutant.file}")
    path.write_text(text.replace(mutant.old, mutant.new))
    # A library that was made of another text is not used.
    if path.suffix == ".c" and (why := hatch_build.compile_file(path)):
        raise SystemExit(f"{mutant.bug}: {why}\nfix: run `make compiler`, then `make setup`")


def trials(chosen: Sequence[Mutant], seconds: float) -> Iterator[tuple[Mutant, bool, float]]:
    """Run the tests of some bugs, as many at a time as there are processors, and begin no more after some seconds."""
    end = time.monotonic() + seconds
    for name in BEFOREHAND:
        importlib.import_module(name)
    waiting, running = list(reversed(chosen)), list[Trial]()
    while waiting or running:
        if time.monotonic() > end:
            waiting.clear()
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(Trial(waiting.pop()))
        time.sleep(0.02)
        for trial in list(running):
            ended = trial.ended()
            if ended is not None:
                running.remove(trial)
                yield (trial.mutant, *ended)


def main(words: list[str]) -> int:
    """Run the mutants whose description holds the given words, all of them without; `--quick` runs a choice."""
    quick = words == ["--quick"]
    if quick:
        chosen, why = choose(MUTANTS)
        print(f"{len(chosen)} of {len(MUTANTS)} planted bugs: {why}", flush=True)
    else:
        chosen = [mutant for mutant in MUTANTS if " ".join(words) in mutant.bug]
    if not any(hatch_build.library_of(path).exists() for path in SOURCE.rglob("*.c")):
        print("Nothing is compiled: bugs that are found by what is are left out. fix: make compiler, then make setup")
        chosen = [mutant for mutant in chosen if mutant not in COMPILED_MUTANTS]
    survivors, planted = [], 0
    for mutant, found, seconds in trials(chosen, QUICK_SECONDS if quick else math.inf):
        planted += 1
        if not found:
            survivors.append(mutant)
        print(f"{'caught  ' if found else 'SURVIVED'} {seconds:5.1f} s  {mutant.bug}", flush=True)
    for mutant in survivors:  # once more, where whoever reads only the end finds them
        print(f"SURVIVED  {mutant.bug}: {mutant.file}, guarded by {mutant.tests}")
    if planted < len(chosen):
        print(f"{len(chosen) - planted} of the chosen bugs were not planted: a quick run takes {QUICK_SECONDS} seconds")
    print(f"{planted - len(survivors)} passed, {len(survivors)} failed")
    return 1 if survivors or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
