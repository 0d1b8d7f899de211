// race [barrier]: two threads write one number, with a barrier between or without. ThreadSanitizer
// must tell them apart: a check that cannot see a race, or sees one at every barrier, is none.
#include <omp.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int shared = 0;
    (void)argv;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            shared = 1;
        }
        if (argc > 1) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 1) {
            shared = 2;
        }
    }
    (void)printf("ended with %d\n", shared);
    return 0;
}
