// race [barrier]: two threads fill the same bytes through memset(), with a barrier between or
// without. ThreadSanitizer must tell them apart: a check that cannot see a race, copies among them,
// or sees one at every barrier, is none.
#include <omp.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char shared[64];
    const size_t size = 16 * (size_t)argc; // unknown to the compiler: a call
    (void)argv;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            memset(shared, 1, size);
        }
        if (argc > 1) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 1) {
            memset(shared, 2, size);
        }
    }
    (void)printf("ended with %d\n", shared[0]);
    return 0;
}
