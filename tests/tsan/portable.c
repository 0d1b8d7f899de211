// The program with the kernels in plain C alone: ThreadSanitizer sees no access of the vector
// units, whose files are built without it.
#include "workloads/isa.h"

// What the linker calls in place of isa_detect() (--wrap).
struct isa_set __wrap_isa_detect(void);

struct isa_set __wrap_isa_detect(void)
{
    return (struct isa_set){.features = 0};
}
