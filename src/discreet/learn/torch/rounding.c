/* Rows of gradients as rows of integers: what rounding.py does in PyTorch, with one look at each number. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Processors of 2013 and later have wider registers; which one it is, is found where the library is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_THIS_PROCESSOR
#if defined(__x86_64__) && !defined(__SSE4_1__)
#error "without an instruction that rounds, PyTorch is faster"
#endif
#endif

/* Numbers that are added up side by side, and numbers that are rounded at a time: a multiple of that. */
enum { LANES = 8, PIECE = 512 };

/* The size of a float, in an order that integers have, too: comparing these needs no rule for what is not a number. */
static inline int32_t size_of(float number) {
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits & INT32_MAX;
}

/* Multiplies each row by its factor, rounds to nearest (to even) or, where it is to be cut, towards zero, and tells of
each row the sum of squares, in 64-bit floats, and the largest number, without its sign. Rows of integers are written
where there is a place for them. With `together` above zero, every so many rows are added to one more row of `added`. */
FOR_THIS_PROCESSOR
void round_rows(const float *restrict rows, size_t count, size_t width, const float *restrict factors,
                const uint8_t *restrict cut, float *restrict integers, double *restrict squares,
                float *restrict largest, size_t together, float *restrict added) {
    float piece[PIECE];
    for (size_t i = 0; i < count; i++) {
        const float factor = factors[i];
        double sums[LANES] = {0};
        int32_t top = 0;
        for (size_t begin = 0; begin < width; begin += PIECE) {
            const size_t size = width - begin < PIECE ? width - begin : PIECE, whole = size - size % LANES;
            const float *from = rows + i * width + begin;
            if (cut[i]) {
                for (size_t j = 0; j < size; j++) piece[j] = truncf(from[j] * factor);
            } else {
                for (size_t j = 0; j < size; j++) piece[j] = rintf(from[j] * factor);
            }
            for (size_t j = 0; j < size; j++) top = size_of(piece[j]) > top ? size_of(piece[j]) : top;
            for (size_t j = 0; j < whole; j += LANES)
                for (int lane = 0; lane < LANES; lane++) sums[lane] += (double)piece[j + lane] * (double)piece[j + lane];
            for (size_t j = whole; j < size; j++) sums[0] += (double)piece[j] * (double)piece[j];
            if (integers) memcpy(integers + i * width + begin, piece, size * sizeof *piece);
            if (together) {
                float *sum = added + i / together * width + begin;
                for (size_t j = 0; j < size; j++) sum[j] += piece[j];
            }
        }
        squares[i] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
        memcpy(&largest[i], &top, sizeof top);
    }
}

/* Which text this was made of. */
const char *made_of(void) { return MADE_OF; }
