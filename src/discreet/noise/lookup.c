/* Draws from a table by words of 32 bits: what lookup.py does, one draw after another.

The lowest bits of a word are the place in a block; the others begin a word of 64 bits, whose leading 16 bits find the
block, or the first one that it may lie in. Where that is not enough, `spare` words are used, in the order in which
lookup.py would use them: the rest of the 64 bits, then a uniform and, for rounded shapes, a place to decide a maybe, and
for whatever starts again the word of a new draw. What floats cannot decide, tails, and draws for which there are no more
spare words are left to lookup.py, from the beginning of their last try. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* glibc 2.29 has a second `exp`, which sets no `errno`. The first one is the same function, and older systems have it. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__)
__asm__(".symver exp, exp@GLIBC_2.2.5");
#endif

struct table {
    const int32_t *starts;   /* 2^16 of them */
    const uint64_t *sure;    /* where the sure parts of `blocks` blocks end */
    const uint64_t *maybe;   /* where `parts` parts end: the maybe parts of blocks, and then tails */
    const uint64_t *low, *gap;
    const int64_t *guesses;  /* the first part that a place may lie in, by its bits after the shift */
    int64_t blocks, parts, last_guess, first;
    double multiplier, width, margin;
    int32_t bits, split, guess_shift, rounded, gaussian;
};

/* A draw that is left: its place, the word of its last try, and which spare words that used. */
struct left {
    int64_t place, word, begin, end;
};

enum outcome { TAKEN, AGAIN, LEFT };

/* Decides a maybe as `_accept` does: the margins are those for floats there. */
static enum outcome accept(const struct table *t, int64_t index, int64_t x, uint64_t word, uint64_t place) {
    double point = (double)x;
    if (t->rounded) point += (double)place * 0x1p-64 - 0.5;
    const double scaled = point / t->width;
    const double weight = t->multiplier * exp(-(t->gaussian ? scaled * scaled * 0.5 : fabs(scaled)));
    const double gap = (double)t->gap[index], chance = (weight - (double)t->low[index]) / gap;
    const double doubt = (weight * (2 * t->margin) + 2) / gap + 0x1p-40;
    const double uniform = (double)word * 0x1p-64;
    if (!(fabs(uniform - chance) > doubt)) return LEFT;
    return uniform < chance ? TAKEN : AGAIN;
}

/* Tries to make a draw of a word that the table of starts does not decide. */
static enum outcome try_draw(const struct table *t, uint32_t word, const uint64_t *spare, size_t spares, size_t *used,
                             int32_t *value) {
    const int32_t lower = (int32_t)(word & (((uint32_t)1 << t->bits) - 1));
    const uint64_t unknown = ((uint64_t)1 << (32 + t->bits)) - 1;
    const uint64_t least = (uint64_t)(word >> t->bits) << (32 + t->bits);
    if (*used == spares) return LEFT;
    const uint64_t whole = least | (spare[(*used)++] & unknown);
    int64_t index = t->starts[word >> 16] - t->split;
    while (index < t->blocks && t->sure[index] <= whole) index++;
    if (index < t->blocks) {
        *value = (int32_t)((index + t->first) * ((int64_t)1 << t->bits)) + lower;
        return TAKEN;
    }
    const uint64_t behind = whole - t->sure[t->blocks - 1];
    const uint64_t guess = behind >> t->guess_shift;
    index = t->guesses[guess < (uint64_t)t->last_guess ? guess : (uint64_t)t->last_guess];
    while (index < t->parts && t->maybe[index] <= behind) index++;
    if (index == t->parts) return AGAIN;
    if (index >= t->blocks || spares - *used < 2) return LEFT;
    const int64_t x = (index + t->first) * ((int64_t)1 << t->bits) + lower;
    const uint64_t uniform = spare[(*used)++], place = t->rounded ? spare[(*used)++] : 0;
    *value = (int32_t)x;
    return accept(t, index, x, uniform, place);
}

/* Makes a draw, by as many tries as it takes; returns whether it is left. */
static int finish(const struct table *t, size_t place, uint32_t word, const uint64_t *spare, size_t spares, size_t *used,
                  int32_t *value, struct left *left) {
    for (;;) {
        const int32_t start = t->starts[word >> 16];
        if (start < t->split) {
            *value = start + (int32_t)(word & (((uint32_t)1 << t->bits) - 1));
            return 0;
        }
        const size_t begin = *used;
        const enum outcome outcome = try_draw(t, word, spare, spares, used, value);
        if (outcome == TAKEN) return 0;
        if (outcome == LEFT || *used == spares) {
            *left = (struct left){(int64_t)place, (int64_t)word, (int64_t)begin, (int64_t)*used};
            return 1;
        }
        word = (uint32_t)spare[(*used)++];
    }
}

/* Makes `count` draws, and returns how many of them are left, and notes so many as there is room for. There is room for
all of them in `places`, which is for scratch. The first loop is kept small: it alone is for all. */
EXPORT size_t draw(const struct table *t, const uint32_t *words, size_t count, const uint64_t *spare, size_t spares,
                   int32_t *values, uint32_t *places, struct left *lefts, size_t room) {
    const int32_t *starts = t->starts, split = t->split;
    const uint32_t below = ((uint32_t)1 << t->bits) - 1;
    size_t open = 0, used = 0, left = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t start = starts[words[i] >> 16];
        if (start < split) {
            values[i] = start + (int32_t)(words[i] & below);
        } else {
            places[open++] = (uint32_t)i;
        }
    }
    for (size_t i = 0; i < open; i++) {
        const size_t place = places[i];
        struct left one;
        if (!finish(t, place, words[place], spare, spares, &used, &values[place], &one)) continue;
        if (left < room) lefts[left] = one;
        left++;
    }
    return left;
}

/* Which text this was made of. */
EXPORT const char *made_of(void) { return MADE_OF; }

/* How large what is handed over is here. */
EXPORT size_t table_size(void) { return sizeof(struct table); }
EXPORT size_t left_size(void) { return sizeof(struct left); }
