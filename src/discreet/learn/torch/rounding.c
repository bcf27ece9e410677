/* Rows of gradients as rows of integers: what `_by_torch` in rounding.py does, with one look at each number. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_PROCESSOR __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FOR_THIS_PROCESSOR
#endif

enum { LANES = 8 };

/* The size of a float, in an order that integers have, too: comparing these needs no rule for what is not a number. */
static inline int32_t size_of(float number) {
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits & INT32_MAX;
}

/* Multiplies each row by its factor, rounds to nearest (to even) or, with `cut`, towards zero, and tells of each row the
sum of squares, in 64-bit floats, and the largest number, without its sign. Squares are added up in eight sums. With
`together` above zero, every so many rows are added to one more row of `added`. */
FOR_THIS_PROCESSOR
void round_rows(const float *restrict rows, size_t count, size_t width, const float *restrict factors, int32_t cut,
                float *restrict integers, double *restrict squares, float *restrict largest, size_t together,
                float *restrict added) {
    for (size_t i = 0; i < count; i++) {
        const float *from = rows + i * width, factor = factors[i];
        float *to = integers + i * width;
        double sums[LANES] = {0};
        int32_t top = 0;
        if (cut) {
            for (size_t j = 0; j < width; j++) to[j] = truncf(from[j] * factor);
        } else {
            for (size_t j = 0; j < width; j++) to[j] = rintf(from[j] * factor);
        }
        for (size_t j = 0; j < width; j++) top = size_of(to[j]) > top ? size_of(to[j]) : top;
        size_t whole = width - width % LANES;
        for (size_t j = 0; j < whole; j += LANES)
            for (int lane = 0; lane < LANES; lane++) sums[lane] += (double)to[j + lane] * (double)to[j + lane];
        for (size_t j = whole; j < width; j++) sums[0] += (double)to[j] * (double)to[j];
        squares[i] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
        memcpy(&largest[i], &top, sizeof top);
        if (together) {
            float *sum = added + i / together * width;
            for (size_t j = 0; j < width; j++) sum[j] += to[j];
        }
    }
}
