// A plugin for qemu-user 7.2 and later (its plugin interface, version 1): counts the floating-point
// operations that x86 vector instructions execute, a fused multiply-add as two, by mnemonic and
// register width. Debian ships no qemu-plugin.h: what is used of it is declared here. For programs
// of one thread.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t,
                                                            struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
                                                enum qemu_plugin_op op, void *counter,
                                                uint64_t add);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void *),
                                    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
                               char **argv);

static uint64_t fused;  // operations of multiply-adds
static uint64_t simple; // of all others
static uint64_t unread; // instructions without a disassembly

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// Operations of one element: 2 for the fused ones, 1 for the simple ones, else 0.
static unsigned operations(const char *mnemonic)
{
    static const char *const twice[] = {"fmadd", "fmsub", "fnmadd", "fnmsub"};
    static const char *const once[] = {"add", "sub", "mul", "div", "sqrt", "hadd"};
    const char *name = mnemonic[0] == 'v' ? mnemonic + 1 : mnemonic;
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        if (begins(name, twice[i])) {
            return 2;
        }
    }
    for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
        if (begins(name, once[i])) {
            return 1;
        }
    }
    return 0;
}

// The type is the mnemonic's last two letters, the width the widest register among the operands.
static unsigned elements(const char *mnemonic, const char *operands)
{
    size_t length = strlen(mnemonic);
    const char *type = length > 2 ? mnemonic + length - 2 : "";
    unsigned width = strstr(operands, "zmm") != NULL   ? 64
                     : strstr(operands, "ymm") != NULL ? 32
                                                       : 16;
    if (strcmp(type, "ps") == 0) {
        return width / 4;
    }
    if (strcmp(type, "pd") == 0) {
        return width / 8;
    }
    return strcmp(type, "ss") == 0 || strcmp(type, "sd") == 0 ? 1 : 0;
}

static unsigned flop_of(bool *is_fused, const char *text)
{
    char mnemonic[32];
    size_t length = strcspn(text, " \t");
    if (length >= sizeof mnemonic) {
        return 0;
    }
    memcpy(mnemonic, text, length);
    mnemonic[length] = '\0';
    *is_fused = operations(mnemonic) == 2;
    return operations(mnemonic) * elements(mnemonic, text + length);
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(tb);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        char *text = qemu_plugin_insn_disas(insn);
        if (text == NULL) {
            unread++;
            continue;
        }
        bool is_fused = false;
        unsigned each = flop_of(&is_fused, text);
        free(text);
        if (each > 0) {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                       is_fused ? &fused : &simple, each);
        }
    }
}

static void report(qemu_plugin_id_t id, void *data)
{
    (void)id;
    (void)data;
    (void)fprintf(stderr, "executed %llu %llu unread %llu\n", (unsigned long long)fused,
                  (unsigned long long)simple, (unsigned long long)unread);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
                               char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, report, NULL);
    return 0;
}
