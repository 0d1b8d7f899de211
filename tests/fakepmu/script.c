// The script of the fake PMU.
#include "fakepmu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RULES_MAX = 1024, NAMES_MAX = 64, LINE_BYTES = 512 };

struct rule {
    char who[17];
    bool any_type, any_config, any_config1;
    uint64_t type, config, config1;
    enum fake_kind kind;
    double value;
};

struct fixed {
    uint64_t type, config;
};

struct fake_script {
    struct rule rules[RULES_MAX];
    size_t rule_count;
    struct fixed fixed[NAMES_MAX];
    size_t fixed_count;
    char hidden[NAMES_MAX][256];
    size_t hidden_count;
    char idle[16];
    struct fake_limits limits;
};

static const char *const kinds[FAKE_KINDS] = {"step", "work",    "rate",  "back", "from",
                                              "wrap", "running", "errno", "eof",  "short"};

static void number(bool *any, uint64_t *value, const char *word)
{
    *any = strcmp(word, "*") == 0;
    *value = strtoull(word, NULL, 0);
}

static bool parse_rule(struct fake_script *script, const char *line)
{
    char who[32], type[32], config[32], config1[32], kind[16], value[32];
    if (sscanf(line, "%31s %31s %31s %31s %15s %31s", who, type, config, config1, kind, value) !=
            6 ||
        strlen(who) > 16 || script->rule_count == RULES_MAX) {
        return false;
    }
    struct rule *rule = &script->rules[script->rule_count];
    memcpy(rule->who, who, strlen(who)); // the rest is zero: rules are made once
    number(&rule->any_type, &rule->type, type);
    number(&rule->any_config, &rule->config, config);
    number(&rule->any_config1, &rule->config1, config1);
    char *end = NULL;
    rule->value = strtod(value, &end);
    for (unsigned k = 0; k < FAKE_KINDS && *end == '\0'; k++) {
        if (strcmp(kinds[k], kind) == 0) {
            rule->kind = (enum fake_kind)k;
            script->rule_count++;
            return true;
        }
    }
    return false;
}

static bool parse_directive(struct fake_script *script, const char *line)
{
    struct fake_limits *limits = &script->limits;
    char word[256];
    unsigned value = 0;
    unsigned long long type = 0, config = 0;
    if (sscanf(line, "counters %u", &limits->counters) == 1 ||
        sscanf(line, "stolen %u", &limits->stolen) == 1 ||
        sscanf(line, "files %u", &limits->files) == 1) {
        return true;
    }
    if (sscanf(line, "cpuid %i %12s", (int *)&value, limits->vendor) == 2) {
        limits->cpuid_eax = value;
        return true;
    }
    if (sscanf(line, "fixed %lli %lli", (long long *)&type, (long long *)&config) == 2 &&
        script->fixed_count < NAMES_MAX) {
        script->fixed[script->fixed_count++] = (struct fixed){type, config};
        return true;
    }
    if (sscanf(line, "idle %15s", script->idle) == 1) {
        return true;
    }
    if (sscanf(line, "hide %255s", word) == 1 && script->hidden_count < NAMES_MAX) {
        (void)snprintf(script->hidden[script->hidden_count++], sizeof script->hidden[0], "%s",
                       word);
        return true;
    }
    return false;
}

struct fake_script *fake_script_read(const char *path)
{
    struct fake_script *script = calloc(1, sizeof *script);
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    if (script == NULL || file == NULL) {
        (void)fprintf(stderr, "fakepmu: cannot read FAKEPMU_SCRIPT %s\n", path ? path : "(unset)");
        abort();
    }
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " \t")] != '\0' && !parse_directive(script, line) &&
            !parse_rule(script, line)) {
            (void)fprintf(stderr, "fakepmu: %s: cannot understand '%s'\n", path, line);
            abort();
        }
    }
    (void)fclose(file);
    return script;
}

static bool who_matches(const struct rule *rule, const struct fake_question *question)
{
    if (rule->who[0] == '@') {
        return atoi(rule->who + 1) == question->thread_index;
    }
    return strcmp(rule->who, "*") == 0 || strcmp(rule->who, question->thread_name) == 0;
}

static bool event_matches(const struct rule *rule, const struct fake_question *question)
{
    return (rule->any_type || rule->type == question->type) &&
           (rule->any_config || rule->config == question->config) &&
           (rule->any_config1 || rule->config1 == question->config1);
}

bool fake_script_find(double *value, const struct fake_script *script, enum fake_kind kind,
                      const struct fake_question *question)
{
    for (size_t i = 0; i < script->rule_count; i++) {
        const struct rule *rule = &script->rules[i];
        if (rule->kind == kind && event_matches(rule, question) && who_matches(rule, question)) {
            *value = rule->value;
            return true;
        }
    }
    return false;
}

bool fake_script_knows(const struct fake_script *script, const struct fake_question *question)
{
    for (size_t i = 0; i < script->rule_count; i++) {
        const struct rule *rule = &script->rules[i];
        if (rule->kind <= FAKE_BACK && event_matches(rule, question)) {
            return true;
        }
    }
    return false;
}

bool fake_script_is_fixed(const struct fake_script *script, uint32_t type, uint64_t config)
{
    for (size_t i = 0; i < script->fixed_count; i++) {
        if (script->fixed[i].type == type && script->fixed[i].config == config) {
            return true;
        }
    }
    return false;
}

bool fake_script_is_idle(const struct fake_script *script, const char *thread_name)
{
    return strcmp(script->idle, thread_name) == 0;
}

bool fake_script_hides(const struct fake_script *script, const char *path)
{
    for (size_t i = 0; i < script->hidden_count; i++) {
        size_t length = strlen(script->hidden[i]);
        if (strncmp(path, script->hidden[i], length) == 0 &&
            (path[length] == '\0' || path[length] == '/')) {
            return true;
        }
    }
    return false;
}

const struct fake_limits *fake_script_limits(const struct fake_script *script)
{
    return &script->limits;
}
