#ifndef ROOFLINE_EMBEDDED_H
#define ROOFLINE_EMBEDDED_H

/** A data file compiled into the program by lmroof_embed() (cmake/lmroof.cmake). */

#include <stddef.h>

struct embedded_file {
    const char *name;           /**< file name without its last extension; NULL ends a list */
    const unsigned char *bytes; /**< size bytes, followed by one 0 that is not counted */
    size_t size;                /**< bytes */
};

#endif
