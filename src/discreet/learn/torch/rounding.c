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

/* What is called for every row is made for the same processor as what calls it. */
#if defined(__GNUC__)
#define ALWAYS __attribute__((always_inline))
#else
#define ALWAYS
#endif

/* Numbers that are added up side by side, and numbers that are rounded at a time: a multiple of that. */
enum { LANES = 8, PIECE = 512 };

/* The size of a float, in an order that integers have, too: comparing these needs no rule for what is not a number. */
static inline int32_t size_of(float number) {
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits & INT32_MAX;
}

/* Multiplies a row by its factor, rounds to nearest (to even) or, if it is to be cut, towards zero, and returns the sum of
squares, in 64-bit floats. The largest number, without its sign, is told. The row of integers is written, and added to a
row of sums, where there is a place for it. */
static inline ALWAYS double round_row(const float *from, size_t width, float factor, int cut, float *to, float *sum,
                               float *largest) {
    float piece[PIECE];
    double sums[LANES] = {0};
    int32_t top = 0;
    for (size_t begin = 0; begin < width; begin += PIECE) {
        const size_t size = width - begin < PIECE ? width - begin : PIECE, whole = size - size % LANES;
        if (cut) {
            for (size_t j = 0; j < size; j++) piece[j] = truncf(from[begin + j] * factor);
        } else {
            for (size_t j = 0; j < size; j++) piece[j] = rintf(from[begin + j] * factor);
        }
        for (size_t j = 0; j < size; j++) top = size_of(piece[j]) > top ? size_of(piece[j]) : top;
        for (size_t j = 0; j < whole; j += LANES)
            for (int lane = 0; lane < LANES; lane++) sums[lane] += (double)piece[j + lane] * (double)piece[j + lane];
        for (size_t j = whole; j < size; j++) sums[0] += (double)piece[j] * (double)piece[j];
        if (to) memcpy(to + begin, piece, size * sizeof *piece);
        if (sum)
            for (size_t j = 0; j < size; j++) sum[begin + j] += piece[j];
    }
    memcpy(largest, &top, sizeof top);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* Rounds rows, each with its factor, towards zero where it is to be cut. With `together` above zero, every so many rows
are added to one more row of `added`. */
FOR_THIS_PROCESSOR
EXPORT void round_rows(const float *rows, size_t count, size_t width, const float *factors, const uint8_t *cut,
                float *integers, double *squares, size_t together, float *added) {
    float largest;
    for (size_t i = 0; i < count; i++) {
        float *to = integers ? integers + i * width : NULL, *sum = together ? added + i / together * width : NULL;
        squares[i] = round_row(rows + i * width, width, factors[i], cut[i], to, sum, &largest);
    }
}

/* Rounds both factors of outer products, as `Outer.on_grid` in grid.py has it: inputs first, and then gradients, which
take back by how much that has lengthened the product. `long_squares` and `wide_squares` are the squared norms of both, and
`share` is the root of the ratio of their sizes. Tells the squared norm and the largest number of each product. */
FOR_THIS_PROCESSOR
EXPORT void round_outer(const float *gradient, const float *inputs, size_t count, size_t outs, size_t ins,
                 const float *long_squares, const float *wide_squares, const float *steps, float share, int32_t cut,
                 float *second, float *first, double *squares, double *largest) {
    for (size_t i = 0; i < count; i++) {
        const float length_g = sqrtf(long_squares[i]), length_x = sqrtf(wide_squares[i]);
        const float length = steps[i] * length_g * length_x, goal = sqrtf(length * share);
        float top_x, top_g;
        const float of_x = length_x > 0 ? goal / length_x : 0;
        const double square_x = round_row(inputs + i * ins, ins, of_x, cut, first + i * ins, NULL, &top_x);
        const float below = (float)sqrt(square_x) * length_g, of_g = below > 0 ? length / below : 0;
        const double square_g = round_row(gradient + i * outs, outs, of_g, cut, second + i * outs, NULL, &top_g);
        squares[i] = square_g * square_x;
        largest[i] = (double)top_g * (double)top_x;
    }
}

/* Which text this was made of. */
EXPORT const char *made_of(void) { return MADE_OF; }
