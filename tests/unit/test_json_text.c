#include "profiler/json_text.h"
#include "tests/test.h"

#include <stdlib.h>

static void compacting(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *plain;
        const char *dropped;
        int line;
    } cases[] = {
        {" { \"a\" : [ 1,\n 2 ] } ", "{\"a\":[1,2]}", "{\"a\":[1,2]}", __LINE__},
        {"{\"a b\": \" c \\\" d\"}", "{\"a b\":\" c \\\" d\"}", "{\"a b\":\" c \\\" d\"}",
         __LINE__},
        {"{\"samples\": [1, 2e-3], \"n\": 2}", "{\"samples\":[1,2e-3],\"n\":2}", "{\"n\":2}",
         __LINE__},
        {"{\"n\": 2, \"samples\": [-1]}", "{\"n\":2,\"samples\":[-1]}", "{\"n\":2}", __LINE__},
        {"{\"samples\": []}", "{\"samples\":[]}", "{}", __LINE__},
        {"{\"a\":1,\"samples\":[1],\"b\":2}", "{\"a\":1,\"samples\":[1],\"b\":2}",
         "{\"a\":1,\"b\":2}", __LINE__},
        // Not a key with an array of numbers: kept.
        {"[\"samples\", [1]]", "[\"samples\",[1]]", "[\"samples\",[1]]", __LINE__},
        {"{\"samples\": [\"x\"]}", "{\"samples\":[\"x\"]}", "{\"samples\":[\"x\"]}", __LINE__},
        {"{\"samples\": null}", "{\"samples\":null}", "{\"samples\":null}", __LINE__},
        {"{\"x\": \"\\\"samples\\\": [1]\"}", "{\"x\":\"\\\"samples\\\": [1]\"}",
         "{\"x\":\"\\\"samples\\\": [1]\"}", __LINE__},
        // Broken texts only have to stay within bounds.
        {"{\"samples\": [1, 2", "{\"samples\":[1,2", "{\"samples\":[1,2", __LINE__},
        {"\"a\\", "\"a\\", "\"a\\", __LINE__},
        {"\"samples\"", "\"samples\"", "\"samples\"", __LINE__},
        {"", "", "", __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int drop = 0; drop < 2; drop++) {
            // An exact allocation: the address sanitizer sees any step beyond it.
            size_t size = strlen(cases[i].text);
            char *text = malloc(size + (size == 0));
            assert_non_null(text);
            memcpy(text, cases[i].text, size);
            size = json_text_compact(text, text, size, drop == 1);
            const char *want = drop == 1 ? cases[i].dropped : cases[i].plain;
            if (size != strlen(want) || memcmp(text, want, size) != 0) {
                fail_msg("line %d, drop %d: got '%.*s', want '%s'", cases[i].line, drop, (int)size,
                         text, want);
            }
            free(text);
        }
    }
}

static void elements(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *found; // elements with '|' behind each; NULL: none are told apart
        const char *rest;
        int line;
    } cases[] = {
        {"{\"p\": [1, {\"a\": [2, \"]\"]} ,[3]] }", "1|{\"a\": [2, \"]\"]} |[3]|", "{\"p\":  }",
         __LINE__},
        {" {\"a\": {\"p\": [9]}, \"q\": \"}\\\"\", \"p\" :[true],\"z\":1}", "true|",
         " {\"a\": {\"p\": [9]}, \"q\": \"}\\\"\", \"p\" :,\"z\":1}", __LINE__},
        {"{\"p\":[ ]}", "", "{\"p\":}", __LINE__},
        {"{\"p\":[1,]}", NULL, NULL, __LINE__},
        {"{\"p\":[1}", NULL, NULL, __LINE__},
        {"{\"p\":[1,{\"a\":2", NULL, NULL, __LINE__},
        {"{\"p\":[\"", NULL, NULL, __LINE__},
        {"{\"p\":{}}", NULL, NULL, __LINE__},
        {"{\"p\"", NULL, NULL, __LINE__},
        {"{\"a\":1", NULL, NULL, __LINE__},
        {"{\"a\":1}", NULL, NULL, __LINE__},
        {"[{\"p\":[1]}]", NULL, NULL, __LINE__},
        {"{", NULL, NULL, __LINE__},
        {"", NULL, NULL, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = strlen(cases[i].text);
        char *text = malloc(size + (size == 0)); // exact: see above
        char found[256] = "";
        struct json_elements parts;
        assert_non_null(text);
        memcpy(text, cases[i].text, size);
        bool split = json_text_elements(&parts, text, size, "p");
        if (split != (cases[i].found != NULL)) {
            fail_msg("line %d: told apart: %d", cases[i].line, split);
        }
        for (size_t e = 0; split && e < parts.count; e++) {
            (void)snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s|",
                           (int)(parts.spans[e].to - parts.spans[e].from),
                           text + parts.spans[e].from);
        }
        if (split) {
            char rest[256];
            (void)snprintf(rest, sizeof rest, "%.*s%.*s", (int)parts.array.from, text,
                           (int)(size - parts.array.to), text + parts.array.to);
            assert_string_equal(found, cases[i].found);
            assert_string_equal(rest, cases[i].rest);
        }
        free(parts.spans);
        free(text);
    }
}

static void no_markup_survives(void **state)
{
    (void)state;
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    assert_non_null(file);
    const char *text = "[\"</script><script>\", \"<\", 1]";
    json_text_write_escaped(file, text, strlen(text));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(out, "[\"\\u003c/script>\\u003cscript>\", \"\\u003c\", 1]");
    free(out);
}

// What is inside strings is no value.
static void counting(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t values;
    } cases[] = {
        {"", 0},
        {"1", 1},
        {"[]", 2},
        {"[1, 2]", 3},
        {"{\"a\": 1, \"b,[{\\\",\": [\",\", {}]}", 6},
        {"[[[[", 5},
        {"[\"never ends, ,,", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = strlen(cases[i].text);
        char *text = malloc(size + (size == 0));
        assert_non_null(text);
        memcpy(text, cases[i].text, size);
        assert_int_equal(json_text_values(text, size), cases[i].values);
        ASSERT_OK(json_text_bounded(text, size, cases[i].values, "x.json"));
        if (cases[i].values > 0) {
            struct status status = json_text_bounded(text, size, cases[i].values - 1, "x.json");
            assert_int_equal(status.code, STATUS_INVALID);
            assert_non_null(strstr(status.detail, "x.json: found some"));
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compacting),
        cmocka_unit_test(elements),
        cmocka_unit_test(no_markup_survives),
        cmocka_unit_test(counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
