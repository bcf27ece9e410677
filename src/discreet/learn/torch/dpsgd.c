/* Noise on sums of integers in 32-bit floats: what `_add` in dpsgd.py does with a slice. */

#include <stddef.h>
#include <stdint.h>

/* Processors of 2013 and later have wider registers; which one it is, is found where the library is loaded. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_THIS_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_THIS_PROCESSOR
#endif

/* Adds noise, and returns whether it did: it adds none if some of it is more than `most`, which floats may not hold. */
FOR_THIS_PROCESSOR
EXPORT int32_t add_noise(float *restrict sums, const int32_t *restrict noise, size_t count, int32_t most) {
    int32_t above = 0;
    for (size_t i = 0; i < count; i++) above |= (noise[i] > most) | (noise[i] < -most);
    if (above) return 0;
    for (size_t i = 0; i < count; i++) sums[i] += (float)noise[i];
    return 1;
}

/* Which text this was made of. */
EXPORT const char *made_of(void) { return MADE_OF; }
