#include "tests/gguf/writer.h"
#include "tests/test.h"
#include "workloads/gguf.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct model *new_model(void)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    return model;
}

static void write_file(const char *path, const struct writer *writer)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(writer->bytes, 1, writer->size, file), writer->size);
    assert_int_equal(fclose(file), 0);
}

static void put_split(struct writer *out, unsigned tensors, unsigned values, unsigned number)
{
    memset(out, 0, sizeof *out);
    put_header(out, 3, tensors, values);
    put_int(out, "split.no", GGUF_UINT16, number);
    put_int(out, "split.count", GGUF_UINT16, 2);
    put_int(out, "split.tensors.count", GGUF_INT32, TENSORS);
}

static void shards_are_found_beside_the_first(void **state)
{
    (void)state;
    char folder[] = "/tmp/lmroof-gguf-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char first[96];
    char second[96];
    (void)snprintf(first, sizeof first, "%s/m-00001-of-00002.gguf", folder);
    (void)snprintf(second, sizeof second, "%s/m-00002-of-00002.gguf", folder);
    struct model *model = new_model();
    struct writer *writer = malloc(sizeof *writer);
    put_split(writer, 10, VALUES + 3, 0);
    put_values(writer);
    put_tensor(writer, "token_embd.weight", 64, 40, DTYPE_Q8_0);
    put_layer(writer, 0, DTYPE_Q8_0, DTYPE_Q5_0);
    write_file(first, writer);
    struct status status = gguf_read_model(model, first);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "m-00002-of-00002.gguf"));

    put_split(writer, 12, 3, 1);
    put_layer(writer, 1, DTYPE_F16, DTYPE_Q8_0);
    put_tensor(writer, "rope_freqs.weight", 8, 0, DTYPE_F32);
    put_tensor(writer, "output_norm.weight", 64, 0, DTYPE_F32);
    put_tensor(writer, "output.weight", 64, 40, DTYPE_F16);
    write_file(second, writer);
    ASSERT_OK(gguf_read_model(model, first));
    struct model_counts counts;
    model_count(&counts, model);
    assert_int_equal(counts.total, 66880);
    assert_int_equal(model_weight_bytes(model, DTYPE_STORED), 51520);
    status = gguf_read_model(model, second);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "-00001-of-00002.gguf"));

    put_split(writer, 12, 3, 7); // of another place
    put_layer(writer, 1, DTYPE_F16, DTYPE_Q8_0);
    write_file(second, writer);
    assert_int_equal(gguf_read_model(model, first).code, STATUS_INVALID);
    (void)unlink(first);
    (void)unlink(second);
    (void)rmdir(folder);
    free(writer);
    free(model);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    char folder[] = "/tmp/lmroof-gguf-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char fifo[64];
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const char *const paths[] = {folder, fifo, "/dev/zero", "/nonexistent/model.gguf"};
    struct model *model = new_model();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct status status = gguf_read_model(model, paths[i]);
        assert_int_equal(status.code, STATUS_INVALID);
        assert_non_null(strstr(status.detail, paths[i]));
    }
    (void)unlink(fifo);
    (void)rmdir(folder);
    free(model);
}

static void texts_are_made_printable(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *want;
        int line;
    } cases[] = {
        {"plain", "plain", __LINE__},
        {"\x1b[2J\r\n\x7f", "?[2J???", __LINE__},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", __LINE__},
        {"\xc2\x9b"
         "31m",
         "??31m", __LINE__},                         // CSI as a C1 control
        {"\xc0\xaf\xe0\x80\xaf", "?????", __LINE__}, // overlong
        {"\xed\xa0\x80", "???", __LINE__},           // surrogate
        {"\xf4\x90\x80\x80\xff", "?????", __LINE__}, // beyond U+10FFFF
        {"\xe2\x80\xae"
         "abc",
         "???abc", __LINE__},         // right-to-left override
        {"\xe2\x82", "??", __LINE__}, // cut
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[64];
        gguf_printable(out, sizeof out, cases[i].text, strlen(cases[i].text));
        if (strcmp(out, cases[i].want) != 0) {
            fail_msg("line %d: got '%s'", cases[i].line, out);
        }
    }
    char small[4];
    assert_string_equal(gguf_printable(small, sizeof small, "ab\xc3\xa9", 4), "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_are_found_beside_the_first),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(texts_are_made_printable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
