// SPDX-License-Identifier: GPL-2.0-only
/* Performance counters that count what they are told, registered with the kernel's perf: a guest
 * test writes to /dev/scripted_pmu what has happened, and perf and PAPI must say the same.
 *
 * One core PMU (type raw; 4 counters for any event, 3 for the fixed ones) and boxes of a node
 * (memory controllers, energy), whose names are given. The lines that it understands:
 *   add PMU CONFIG N          the writer's processor has counted N
 *   rule NAME PMU CONFIG N    a thread of that name counts N whenever its core events, once
 *                             enabled, are disabled or read; '*' any other name. The first rule of
 *                             a counter that fits holds.
 *   rate PMU CONFIG N         on every node N a second, whatever runs
 *   reset                     forgets rules and rates; nothing may be counting
 * PMU 0 is the core, 1 the first box. A box counts what the processors of its node have counted.
 */
#include "scripted.h"

#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static char *boxes[BOXES_MAX];
static int box_count;
module_param_array_named(boxes, boxes, charp, &box_count, 0444);
MODULE_PARM_DESC(boxes, "names of the PMUs of a node, as in sysfs");

static DEFINE_MUTEX(script); /* those who write take turns */

static int obey(const char *line)
{
	char verb[8] = "", name[TASK_COMM_LEN] = "";
	struct counter *counter;
	unsigned int pmu;
	u64 config, n;

	if (!strcmp(line, "reset")) {
		counters_forget();
		return 0;
	}
	if (sscanf(line, "rule %15s %u %llx %llu", name, &pmu, &config, &n) != 4 &&
	    sscanf(line, "%7s %u %llx %llu", verb, &pmu, &config, &n) != 4)
		return -EINVAL;
	counter = pmu < pmu_count() ? counter_find_or_make(pmu, config) : NULL;
	if (!counter)
		return -EINVAL;
	if (name[0])
		return counter_add_rule(counter, name, n);
	if (!strcmp(verb, "add")) {
		counter_add(counter, n);
		return 0;
	}
	if (strcmp(verb, "rate"))
		return -EINVAL;
	counter_set_rate(counter, n);
	return 0;
}

static ssize_t script_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	char *text = memdup_user_nul(from, size), *rest = text, *line;
	int error = 0;

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&script);
	while (!error && (line = strsep(&rest, "\n")) != NULL)
		if (*line)
			error = obey(line);
	mutex_unlock(&script);
	kfree(text);
	return error ? error : (ssize_t)size;
}

static const struct file_operations operations = {.owner = THIS_MODULE, .write = script_write};
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "scripted_pmu", .fops = &operations, .mode = 0666};

static int __init scripted_load(void)
{
	int error = nr_cpu_ids > CPUS_MAX ? -EINVAL : pmu_make(0, "cpu");
	int i;

	for (i = 0; !error && i < box_count; i++)
		error = pmu_make(1 + i, boxes[i]);
	if (!error)
		error = work_watch();
	if (!error) {
		error = misc_register(&device);
		if (error)
			work_unwatch();
	}
	if (error)
		pmu_unmake_all();
	return error;
}

static void __exit scripted_unload(void)
{
	misc_deregister(&device);
	work_unwatch();
	pmu_unmake_all();
	counters_free();
}

module_init(scripted_load);
module_exit(scripted_unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("counters that count what they are told");
