// marked THREADS CALLS: a program with regions of its own, for the marker's tests.
#include <lmroof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 16 };

static void *work(void *argument)
{
    long calls = *(const long *)argument;
    for (long i = 0; i < calls; i++) {
        lmroof_begin("kernel");
        lmroof_work("kernel", 100, 25);
        lmroof_end("kernel");
    }
    lmroof_begin("outer");
    lmroof_begin("inner");
    (void)usleep(20000);
    lmroof_end("other"); // an end that has no beginning
    lmroof_end("inner");
    lmroof_end("outer");
    lmroof_end("outer");
    lmroof_begin("a name with blanks");
    lmroof_end("a name with blanks");
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    long count = argc > 1 ? atol(argv[1]) : 1;
    long calls = argc > 2 ? atol(argv[2]) : 1;
    if (count < 1 || count > THREADS_MAX) {
        return 2;
    }
    for (long t = 0; t < count; t++) {
        if (pthread_create(&threads[t], NULL, work, &calls) != 0) {
            return 1;
        }
    }
    for (long t = 0; t < count; t++) {
        (void)pthread_join(threads[t], NULL);
    }
    (void)puts(lmroof_markers_on ? "on" : "off");
    return 0;
}
