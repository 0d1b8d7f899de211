#include "workloads/model_file.h"

#include "workloads/config_json.h"
#include "workloads/gguf.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct embedded_file builtin_models[];

const struct embedded_file *model_builtins(void)
{
    return builtin_models;
}

static struct status system_error(const char *what, const char *path)
{
    return status_error(STATUS_INVALID, "cannot %s '%s': %s; accepted a readable model file", what,
                        path, strerror(errno));
}

// What to call a model read from path: the folder of a config.json, else the file's own name
// without .json or .gguf.
static void name_from_path(char *out, size_t size, const char *path)
{
    char whole[PATH_MAX];
    if (realpath(path, whole) == NULL) {
        (void)snprintf(whole, sizeof whole, "%s", path);
    }
    char *base = strrchr(whole, '/');
    if (base != NULL && strcmp(base, "/config.json") == 0) {
        *base = '\0';
        base = strrchr(whole, '/');
    }
    char *name = base == NULL ? whole : base + 1;
    char *dot = strrchr(name, '.');
    if (dot != NULL && (strcmp(dot, ".json") == 0 || strcmp(dot, ".gguf") == 0)) {
        *dot = '\0';
    }
    (void)snprintf(out, size, "%.*s", (int)size - 1, name[0] != '\0' ? name : "model");
}

// Reads the whole of a small file; *bytes is the caller's to free.
static struct status read_small(char **bytes, size_t *size, FILE *file, const char *path)
{
    *bytes = malloc(CONFIG_BYTES_MAX + 1);
    if (*bytes == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read '%s'", path);
    }
    *size = fread(*bytes, 1, CONFIG_BYTES_MAX + 1, file);
    return ferror(file) != 0 ? system_error("read", path) : status_ok();
}

static struct status read_config(struct model *out, FILE *file, const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    char name[MODEL_NAME];
    name_from_path(name, sizeof name, path);
    struct status status = read_small(&bytes, &size, file, path);
    if (status_is_ok(status)) {
        status = config_read_model(out, bytes, size, path, name);
    }
    free(bytes);
    return status;
}

static bool is_gguf_name(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".gguf") == 0;
}

// What the file starts with decides. Where that is neither GGUF nor JSON, its name says which of
// the two readers can tell best what is wrong.
static bool is_gguf_file(FILE *file, const char *path)
{
    char head[4] = {0};
    size_t size = fread(head, 1, sizeof head, file);
    if (size == sizeof head && memcmp(head, "GGUF", sizeof head) == 0) {
        return true;
    }
    bool is_text = size > 0 && head[0] != '\0' && strchr("{[ \t\r\n\xef", head[0]) != NULL;
    return !is_text && is_gguf_name(path);
}

static struct status not_regular(const char *path)
{
    return status_error(
        STATUS_INVALID,
        "'%s': found neither a regular file nor a directory; accepted a config.json "
        "or its directory, a .gguf",
        path);
}

// Without O_NONBLOCK a pipe of that name would hold us here for ever.
static struct status open_regular(FILE **out, const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *out = NULL;
    if (fd < 0) {
        return system_error("open", path);
    }
    if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)close(fd);
        return not_regular(path);
    }
    *out = fdopen(fd, "r");
    if (*out == NULL) {
        (void)close(fd);
        return system_error("open", path);
    }
    return status_ok();
}

static struct status load_file(struct model *out, const char *path)
{
    FILE *file = NULL;
    struct status status = open_regular(&file, path);
    if (file == NULL) {
        return status;
    }
    if (is_gguf_file(file, path)) {
        status = gguf_read_model(out, path);
        if (status_is_ok(status)) {
            out->origin = MODEL_FROM_GGUF;
        }
    } else {
        rewind(file);
        status = read_config(out, file, path);
    }
    (void)fclose(file);
    return status;
}

// True if name is a shard of a split file other than its first ("...-00002-of-00003.gguf").
static bool is_later_shard(const char *name)
{
    const char *of = strstr(name, "-of-");
    if (of == NULL || of - name < 6) {
        return false;
    }
    char *end = NULL;
    unsigned long number = strtoul(of - 5, &end, 10);
    return of[-6] == '-' && end == of && number > 1;
}

// The only .gguf of a directory, later shards not counted; "" if there is none.
static struct status find_gguf(char *out, size_t size, const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return system_error("open", path);
    }
    unsigned found = 0;
    out[0] = '\0';
    const struct dirent *entry = NULL;
    while ((entry = readdir(directory)) != NULL) {
        if (is_gguf_name(entry->d_name) && !is_later_shard(entry->d_name)) {
            found++;
            (void)snprintf(out, size, "%s/%s", path, entry->d_name);
        }
    }
    (void)closedir(directory);
    if (found > 1) {
        return status_error(STATUS_INVALID,
                            "'%s': found %u .gguf files, accepted a directory with one model: name "
                            "the file",
                            path, found);
    }
    return status_ok();
}

static struct status load_directory(struct model *out, const char *path)
{
    char file[PATH_MAX];
    int length = snprintf(file, sizeof file, "%s/config.json", path);
    if (length < 0 || (size_t)length >= sizeof file) {
        return status_error(STATUS_INVALID, "the path '%.60s...' is too long", path);
    }
    struct stat info;
    if (lstat(file, &info) == 0) { // a link to nowhere is told, not passed over
        return load_file(out, file);
    }
    TRY(find_gguf(file, sizeof file, path));
    if (file[0] == '\0') {
        return status_error(STATUS_INVALID,
                            "'%s': found neither config.json nor a .gguf file in this directory",
                            path);
    }
    return load_file(out, file);
}

// Letters and digits alone, small: "Llama-3.2_1B" is "llama321b".
static void simplify(char *out, size_t size, const char *name)
{
    size_t used = 0;
    for (; *name != '\0' && used + 1 < size; name++) {
        if (isalnum((unsigned char)*name)) {
            out[used++] = (char)tolower((unsigned char)*name);
        }
    }
    out[used] = '\0';
}

// The first built-in model whose name has the word in it, or is in it; NULL if there is none.
static const char *nearest_builtin(const char *word)
{
    char wanted[MODEL_NAME];
    simplify(wanted, sizeof wanted, word);
    for (const struct embedded_file *file = builtin_models; file->name != NULL; file++) {
        char name[MODEL_NAME];
        simplify(name, sizeof name, file->name);
        if (strlen(wanted) >= 3 && (strstr(name, wanted) != NULL || strstr(wanted, name) != NULL)) {
            return file->name;
        }
    }
    return NULL;
}

static struct status load_builtin(struct model *out, const char *name)
{
    for (const struct embedded_file *file = builtin_models; file->name != NULL; file++) {
        if (strcmp(file->name, name) == 0) {
            TRY(config_read_model(out, (const char *)file->bytes, file->size, name, name));
            out->origin = MODEL_FROM_BUILTIN;
            return status_ok();
        }
    }
    const char *near = nearest_builtin(name);
    return status_error(
        STATUS_INVALID,
        "model '%s': found no such file, directory or built-in model%s%s%s; accepted "
        "a name of 'lmroof model --list', a config.json or its directory, a .gguf",
        name, near == NULL ? "" : " (did you mean ", near == NULL ? "" : near,
        near == NULL ? "" : "?)");
}

static struct status load(struct model *out, const char *word)
{
    struct stat info;
    if (word[0] == '\0' || stat(word, &info) != 0) {
        return word[0] == '\0' || errno == ENOENT ? load_builtin(out, word)
                                                  : system_error("open", word);
    }
    if (S_ISDIR(info.st_mode)) {
        return load_directory(out, word);
    }
    if (!S_ISREG(info.st_mode)) {
        return not_regular(word);
    }
    return load_file(out, word);
}

struct status model_load(struct model *out, const char *word)
{
    memset(out, 0, sizeof *out);
    struct status status = load(out, word);
    if (status_is_ok(status)) {
        status = status_prefix(model_check(out), "%s", word);
    }
    if (!status_is_ok(status)) {
        memset(out, 0, sizeof *out);
    }
    return status;
}
