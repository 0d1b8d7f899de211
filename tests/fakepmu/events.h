#ifndef TESTS_FAKEPMU_EVENTS_H
#define TESTS_FAKEPMU_EVENTS_H

#include "fakepmu.h"

#include <linux/perf_event.h>
#include <sys/types.h>

long fake_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group);
int fake_event_ioctl(int fd, unsigned long request, void *argument);
ssize_t fake_event_read(int fd, void *buffer, size_t size);
void fake_event_close(int fd);
bool fake_event_is(int fd);

/** From preload.c. */
const struct fake_script *fake_script(void);
int fake_real_close(int fd);
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
