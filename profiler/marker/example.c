/* Places a kernel of your own on the roofline:
 *
 *     cc -O3 -march=native -pthread example.c -o example -llmroof
 *     lmroof exec --markers -- ./example 4096 200
 */
#include <lmroof.h>
#include <stdio.h>
#include <stdlib.h>

static void gemv(float *y, const float *a, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (size_t j = 0; j < n; j++) {
            sum += a[i * n + j] * x[j];
        }
        y[i] = sum;
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
    int repeats = argc > 2 ? atoi(argv[2]) : 20;
    float *a = malloc(n * n * sizeof *a);
    float *x = malloc(n * sizeof *x);
    float *y = malloc(n * sizeof *y);
    if (a == NULL || x == NULL || y == NULL || n == 0) {
        return 1;
    }
    for (size_t i = 0; i < n * n; i++) {
        a[i] = (float)(i % 7);
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = 1;
    }
    for (int r = 0; r < repeats; r++) {
        lmroof_begin("gemv");
        gemv(y, a, x, n);
        lmroof_work("gemv", 2.0 * (double)n * (double)n, 4.0 * (double)n * (double)n);
        lmroof_end("gemv");
    }
    printf("y[0] = %g\n", (double)y[0]);
    free(a);
    free(x);
    free(y);
    return 0;
}
