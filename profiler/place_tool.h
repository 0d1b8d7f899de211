#ifndef PROFILER_PLACE_TOOL_H
#define PROFILER_PLACE_TOOL_H

/** Other tools' measurements as they are: how each names what it did. A tool is one file
 *  place/<name>.c that defines `const struct place_tool place_tool_<name>`, and one word in
 *  profiler/CMakeLists.txt. */

#include "profiler/place_rows.h"
#include "roofline/dtype.h"

/** Something that was timed: batch sequences, each with prompt tokens read at once behind depth
 *  cached ones, then generated tokens one by one. */
struct place_test {
    size_t row;
    uint64_t batch;
    uint64_t depth;
    uint64_t prompt;        /**< 0: none was timed */
    uint64_t generated;     /**< 0: none was timed */
    uint64_t ubatch;        /**< tokens of a chunk of the prompt; 0 not told */
    double seconds;         /**< of the whole */
    double spread_fraction; /**< standard deviation of its repeats over their mean; 0 not told */
    unsigned threads;       /**< 0 not told */
    char model[96];         /**< as the tool describes it; "" not told */
    char backend[32];       /**< "CPU", "CUDA", ...; "" not told */
    bool flash_attention;   /**< the file tells that it was on */
    enum dtype_id dtype;    /**< of most weights; DTYPE_NONE not told */
    enum dtype_id kv_dtype; /**< DTYPE_F16 where not told */
    double file_bytes;      /**< of all tensors; NaN not told */
    double parameters;      /**< NaN not told */
    bool parameters_exact;  /**< not rounded to three digits */
};

/** What the user tells where a tool's output does not. 0: not told. */
struct place_hints {
    uint64_t batch;
    uint64_t prompt;
    uint64_t generated;
    uint64_t threads;
    enum dtype_id dtype; /**< DTYPE_NONE: not told */
};

enum { PLACE_TESTS_OF_ROW = 2 };

struct place_tool {
    const char *name;    /**< of --from */
    const char *summary; /**< what of it is read */
    bool needs_model;    /**< its output tells neither size nor shape */
    /** The tests of a row, at most PLACE_TESTS_OF_ROW; *count may be 0 (nothing was timed). Each is
     *  zeroed, with NaN and DTYPE_NONE. Errors: INVALID naming key, found and accepted. */
    struct status (*take)(struct place_test *out, size_t *count, const struct place_row *row,
                          const struct place_hints *hints);
};

/** All tools, ended by NULL. */
const struct place_tool *const *place_tools(void);

/** The tool of that name. Errors: INVALID listing them. */
CHECKED struct status place_tool_find(const struct place_tool **out, const char *name);

/** The type that a description such as "llama 8B Q4_K - Medium" names; DTYPE_NONE if none. */
enum dtype_id place_dtype_of(const char *description);

/** A whole number of a row, at most 2^32. *out keeps its value if the row has none of the keys.
 *  Errors: INVALID. */
CHECKED struct status place_row_count(uint64_t *out, const struct place_row *row,
                                      const char *const *keys);

#endif
