#ifndef TESTS_TEST_H
#define TESTS_TEST_H

/** What every unit test includes: cmocka with the headers it needs, and checks on doubles. */

// cmocka.h needs the others before it.
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <math.h>
#include <stdio.h>
#include <string.h>

/** Fails, naming the caller's line, unless |got - want| <= tolerance x |want|. */
#define ASSERT_CLOSE(got, want, tolerance)                                     \
    do {                                                                       \
        double got_ = (got);                                                   \
        double want_ = (want);                                                 \
        if (!(fabs(got_ - want_) <= (tolerance)*fabs(want_))) {                \
            fail_msg("line %d: got %.17g, want %.17g", __LINE__, got_, want_); \
        }                                                                      \
    } while (0)

/** Fails with the status's own words unless it is a success. */
#define ASSERT_OK(expr)                                        \
    do {                                                       \
        struct status status_ = (expr);                        \
        if (status_.code != STATUS_OK) {                       \
            fail_msg("line %d: %s", __LINE__, status_.detail); \
        }                                                      \
    } while (0)

#endif
