// The four loops of STREAM by its rules (McCalpin, 1995; stream.c 5.10): three arrays of at least
// four times the caches, OpenMP with a static schedule, the best of several times without the
// first, 16 or 24 bytes an element. On huge pages like ours. Prints bytes per second.
//   stream_rules THREADS BYTES copy|scale|add|triad       BYTES: of the three arrays together
#define _GNU_SOURCE

#include <omp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TIMES = 21 };

struct arrays {
    double *a;
    double *b;
    double *c;
    long n;
};

static double *map_array(long n)
{
    size_t bytes = (size_t)n * sizeof(double);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static double run_once(const struct arrays *arrays, const char *kernel)
{
    double *restrict a = arrays->a;
    double *restrict b = arrays->b;
    double *restrict c = arrays->c;
    const double scalar = 3;
    double begin = omp_get_wtime();
    if (strcmp(kernel, "copy") == 0) {
#pragma omp parallel for schedule(static)
        for (long j = 0; j < arrays->n; j++) {
            c[j] = a[j];
        }
    } else if (strcmp(kernel, "scale") == 0) {
#pragma omp parallel for schedule(static)
        for (long j = 0; j < arrays->n; j++) {
            b[j] = scalar * c[j];
        }
    } else if (strcmp(kernel, "add") == 0) {
#pragma omp parallel for schedule(static)
        for (long j = 0; j < arrays->n; j++) {
            c[j] = a[j] + b[j];
        }
    } else {
#pragma omp parallel for schedule(static)
        for (long j = 0; j < arrays->n; j++) {
            a[j] = b[j] + scalar * c[j];
        }
    }
    return omp_get_wtime() - begin;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    omp_set_num_threads((int)strtol(argv[1], NULL, 10));
    long n = strtol(argv[2], NULL, 10) / 24;
    struct arrays arrays = {map_array(n), map_array(n), map_array(n), n};
    if (arrays.a == NULL || arrays.b == NULL || arrays.c == NULL) {
        return 1;
    }
#pragma omp parallel for schedule(static)
    for (long j = 0; j < n; j++) {
        arrays.a[j] = 1;
        arrays.b[j] = 2;
        arrays.c[j] = 0;
    }
    double best = 1e9;
    for (int i = 0; i < TIMES; i++) {
        double seconds = run_once(&arrays, argv[3]);
        best = i > 0 && seconds < best ? seconds : best;
    }
    int moved = strcmp(argv[3], "copy") == 0 || strcmp(argv[3], "scale") == 0 ? 2 : 3;
    (void)printf("%.6g\n", (double)moved * 8 * (double)n / best);
    return 0;
}
