#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

/** What a fuzz_<name>.c defines. libFuzzer calls it with inputs that it makes (preset `fuzz`); in
 *  every other build corpus.c calls it once with each file of the seed corpus. */

#include <stddef.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#endif
