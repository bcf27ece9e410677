"""Planted bugs in what is compiled, and beside it, and the tests that must catch each."""

from mutant import Mutant

DRAWS = "noise/compiled_draws.c"
SAME = "claims/test_noise_compiled.py"
ROUNDING = "learn/torch/rounding.c"
LEARN = "unit/test_learn_compiled.py"

COMPILED_MUTANTS = [
    Mutant(
        "an end of a block belongs to it, in C",
        DRAWS,
        "while (index < t->blocks && t->sure[index] <= whole) index++;",
        "while (index < t->blocks && t->sure[index] < whole) index++;",
        SAME,
    ),
    Mutant(
        "the end of a maybe part belongs to it, in C",
        DRAWS,
        "while (index < t->parts && t->maybe[index] <= behind) index++;",
        "while (index < t->parts && t->maybe[index] < behind) index++;",
        SAME,
    ),
    Mutant(
        "every maybe draw is taken, in C",
        DRAWS,
        "return uniform < chance ? TAKEN : AGAIN;",
        "return uniform < 2 ? TAKEN : AGAIN;",
        SAME,
    ),
    Mutant(
        "close decisions are left to floats, in C",
        DRAWS,
        "if (!(fabs(uniform - chance) > doubt)) return LEFT;",
        "if (!(fabs(uniform - chance) > doubt * 0x1p-60)) return LEFT;",
        f"{SAME}::test_what_floats_cannot_decide_and_tails_are_left",
    ),
    Mutant(
        "reals are not drawn around the integer that they are rounded to, in C",
        DRAWS,
        "point += (double)place * 0x1p-64 - 0.5;",
        "point += (double)place * 0x1p-64;",
        SAME,
    ),
    Mutant(
        "Laplace and Gaussian shapes are exchanged, in C",
        DRAWS,
        "t->gaussian ? scaled * scaled * 0.5 : fabs(scaled)",
        "t->gaussian ? fabs(scaled) : scaled * scaled * 0.5",
        SAME,
    ),
    Mutant(
        "tails start again, in C",
        DRAWS,
        "if (index == t->parts) return AGAIN;",
        "if (index >= t->blocks) return AGAIN;",
        f"{SAME}::test_what_floats_cannot_decide_and_tails_are_left",
    ),
    Mutant(
        "bits that are known of a word are drawn again",
        DRAWS,
        "const uint64_t whole = least | (spare[(*used)++] & unknown);",
        "const uint64_t whole = ((uint64_t)(word >> 16) << 48) | (spare[(*used)++] & (((uint64_t)1 << 48) - 1));",
        SAME,
    ),
    Mutant(
        "a spare word is used twice",
        DRAWS,
        "word = (uint32_t)spare[(*used)++];",
        "word = (uint32_t)spare[*used];",
        SAME,
    ),
    Mutant(
        "a draw that is left has new words for those it has used",
        DRAWS,
        "const size_t begin = *used;",
        "const size_t begin = spares;",
        f"{SAME}::test_a_draw_that_runs_out_of_words_is_finished_with_the_same_ones",
    ),
    Mutant(
        "words that are replayed come in another order",
        "noise/lookup.py",
        "known.tolist()[::-1], then",
        "known.tolist(), then",
        f"{SAME}::test_a_draw_that_runs_out_of_words_is_finished_with_the_same_ones",
    ),
    Mutant(
        "spare words are those of the batch before",
        "noise/lookup.py",
        "        entropy.fill(spare)\n",
        "        if not start:\n            entropy.fill(spare)\n",
        f"{SAME}::test_spare_words_are_drawn_for_each_batch",
    ),
    Mutant(
        "draws that C has left stay what they are",
        "noise/lookup.py",
        "            values[place] = _resolve(table.table, Replayed(spare[begin:end], entropy), known)[0]\n",
        "            values[place] = 0\n",
        f"{SAME}::test_draws_that_are_left_are_finished",
    ),
    Mutant(
        "large negative noise is rounded before it is added, in C",
        "learn/torch/gradient_noise.c",
        "(noise[i] > most) | (noise[i] < -most)",
        "(noise[i] > most)",
        f"{LEARN}::test_one_draw_that_32_bits_do_not_hold_is_not_rounded_before_it_is_added",
    ),
    Mutant(
        "squares of integers are rounded, in C",
        ROUNDING,
        "sums[lane] += (double)piece[j + lane] * (double)piece[j + lane];",
        "sums[lane] += (double)(piece[j + lane] * piece[j + lane]);",
        f"{LEARN}::test_squared_norms_are_exact_or_not_below_what_floats_hold",
    ),
    Mutant(
        "the last numbers of a row are not in its norm, in C",
        ROUNDING,
        "for (size_t j = whole; j < size; j++) sums[0]",
        "for (size_t j = whole; j < whole; j++) sums[0]",
        f"{LEARN}::test_rows_are_rounded_as_by_pytorch",
    ),
    Mutant(
        "what is too long is rounded to nearest again, in C",
        ROUNDING,
        "piece[j] = truncf(from[j] * factor);",
        "piece[j] = rintf(from[j] * factor);",
        f"{LEARN}::test_rows_are_rounded_as_by_pytorch",
    ),
    Mutant(
        "rows are added to the sum of others, in C",
        ROUNDING,
        "added + i / together * width + begin",
        "added + (i + 1) / (together + 1) * width + begin",
        f"{LEARN}::test_rows_are_rounded_as_by_pytorch",
    ),
    Mutant(
        "long rows are added to their beginning, in C",
        ROUNDING,
        "added + i / together * width + begin",
        "added + i / together * width",
        f"{LEARN}::test_rows_are_rounded_as_by_pytorch",
    ),
    Mutant(
        "sums of rows stay when rows leave",
        "learn/torch/grid.py",
        "            each[~kept] = 0\n        self.added.clear()\n",
        "            each[~kept] = 0\n",
        f"{LEARN}::test_sums_are_of_the_rows_that_are_there_in_the_end",
    ),
    Mutant(
        "sums of rows stay when rows are exchanged",
        "learn/torch/grid.py",
        "            mine[~kept] = other[~kept]\n        self.added.clear()\n",
        "            mine[~kept] = other[~kept]\n",
        f"{LEARN}::test_sums_are_of_the_rows_that_are_there_in_the_end",
    ),
    Mutant(
        "an example that leaves one parameter's sum loses its numbers in others",
        "learn/torch/grid.py",
        "WholeIntegers.of(self.rows, steps.clone(), every, bound, self.order)",
        "WholeIntegers.of(self.rows, steps, every, bound, self.order)",
        f"{LEARN}::test_sums_are_of_the_rows_that_are_there_in_the_end",
    ),
]
