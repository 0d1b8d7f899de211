#ifndef ROOFLINE_STATUS_H
#define ROOFLINE_STATUS_H

/** The one error type. A function that can fail for reasons outside the program returns a
 *  struct status by value and is declared CHECKED. Broken promises between our own
 *  functions are asserts instead. */

#include <stdbool.h>

enum status_code {
    STATUS_OK,
    STATUS_INVALID,     /**< bad usage or bad input: exit 2 */
    STATUS_UNAVAILABLE, /**< this machine or build cannot do it: exit 1 */
    STATUS_SYSTEM,      /**< memory, rights, disk: exit 1 */
    STATUS_MISMATCH,    /**< a result differs from its reference: exit 1 */
    STATUS_INTERRUPTED  /**< SIGINT or SIGTERM: exit 128 + signal */
};

/** detail says what was tried, on what, what was found and what is accepted, in one line. */
struct status {
    enum status_code code;
    char detail[372];
};

/** In front of every declaration that returns a status: ignoring the result is a warning. */
#define CHECKED __attribute__((warn_unused_result))

/** Success. */
CHECKED struct status status_ok(void);

/** A failure; detail is formatted as by printf and cut at the end of the field. Control
 *  characters in the formatted text (file contents are untrusted) are replaced by '?'. */
CHECKED struct status status_error(enum status_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same failure with "context: " in front of its detail; success stays success. */
CHECKED struct status status_prefix(struct status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** True if status is success: for the rare caller that handles a failure on the spot. */
bool status_is_ok(struct status status);

/** Deliberately drops a status; the name says that it was meant. */
void status_ignore(struct status status);

/** Returns from the calling function with the status of expr unless that is success. */
#define TRY(expr)                            \
    do {                                     \
        struct status try_status_ = (expr);  \
        if (try_status_.code != STATUS_OK) { \
            return try_status_;              \
        }                                    \
    } while (0)

#endif
