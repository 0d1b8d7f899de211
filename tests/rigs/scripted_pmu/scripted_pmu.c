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
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

enum { BOXES_MAX = 16, GENERAL = 4, FIXED = 3, CPUS_MAX = 64, COUNTERS_MAX = 256 };

static char *boxes[BOXES_MAX];
static int box_count;
module_param_array_named(boxes, boxes, charp, &box_count, 0444);
MODULE_PARM_DESC(boxes, "names of the PMUs of a node, as in sysfs");

struct rule {
	struct list_head list;
	char name[TASK_COMM_LEN];
	u64 step;
};

/* What one event of one PMU has counted, by processor. */
struct counter {
	unsigned int pmu;
	u64 config;
	u64 per_second;
	u64 since;
	struct list_head rules;
	atomic64_t counts[CPUS_MAX];
};

struct scripted {
	struct pmu pmu;
	unsigned int index;
	struct perf_event *slots[CPUS_MAX][GENERAL + FIXED];
};

static struct counter *counters[COUNTERS_MAX];
static unsigned int counter_count;
static struct scripted *pmus[1 + BOXES_MAX];
static unsigned int pmu_count;
static DEFINE_MUTEX(script); /* writers of rules */

static struct counter *find(unsigned int pmu, u64 config)
{
	unsigned int i, n = smp_load_acquire(&counter_count);

	for (i = 0; i < n; i++)
		if (counters[i]->pmu == pmu && counters[i]->config == config)
			return counters[i];
	return NULL;
}

/* With the mutex held. */
static struct counter *find_or_make(unsigned int pmu, u64 config)
{
	struct counter *counter = find(pmu, config);

	if (counter || counter_count == COUNTERS_MAX)
		return counter;
	counter = kzalloc(sizeof(*counter), GFP_KERNEL);
	if (!counter)
		return NULL;
	counter->pmu = pmu;
	counter->config = config;
	INIT_LIST_HEAD(&counter->rules);
	counters[counter_count] = counter;
	smp_store_release(&counter_count, counter_count + 1);
	return counter;
}

static u64 count_now(const struct scripted *pmu, u64 config, int cpu)
{
	struct counter *counter = find(pmu->index, config);
	u64 sum = 0;
	int other;

	if (!counter)
		return 0;
	if (pmu->index == 0)
		return atomic64_read(&counter->counts[cpu]);
	for_each_cpu(other, cpumask_of_node(cpu_to_node(cpu)))
		sum += atomic64_read(&counter->counts[other]);
	if (counter->per_second)
		sum += div_u64(div_u64(sched_clock() - counter->since, 1000) * counter->per_second,
			       1000000);
	return sum;
}

/* --- what perf asks of a PMU */
enum { CYCLES = 0x3c, INSTRUCTIONS = 0xc0, REFERENCE = 0x300 };

static bool is_fixed(const struct perf_event *event)
{
	u64 config = event->hw.config;

	return event->attr.type != PERF_TYPE_HARDWARE &&
	       (config == CYCLES || config == INSTRUCTIONS || config == REFERENCE);
}

static struct scripted *scripted_of(const struct perf_event *event)
{
	return container_of(event->pmu, struct scripted, pmu);
}

static void scripted_read(struct perf_event *event)
{
	u64 now = count_now(scripted_of(event), event->hw.config, smp_processor_id());
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

static void scripted_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	local64_set(&event->hw.prev_count,
		    count_now(scripted_of(event), event->hw.config, smp_processor_id()));
}

static void scripted_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	scripted_read(event);
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int scripted_add(struct perf_event *event, int flags)
{
	struct perf_event **slots = scripted_of(event)->slots[smp_processor_id()];
	int i = is_fixed(event) ? GENERAL : 0;
	int end = is_fixed(event) ? GENERAL + FIXED : GENERAL;

	while (i < end && slots[i])
		i++;
	if (i == end)
		return -EAGAIN;
	slots[i] = event;
	event->hw.idx = i;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		scripted_start(event, flags);
	return 0;
}

static void scripted_del(struct perf_event *event, int flags)
{
	scripted_stop(event, PERF_EF_UPDATE);
	scripted_of(event)->slots[smp_processor_id()][event->hw.idx] = NULL;
}

/* A set that can never be scheduled is refused, as by real drivers. */
static bool fits(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *other;
	int general = 1;

	if (leader == event || is_fixed(event))
		return true;
	general += leader->pmu == event->pmu && !is_fixed(leader);
	for_each_sibling_event(other, leader)
		general += other != event && other->pmu == event->pmu && !is_fixed(other);
	return general <= GENERAL;
}

static int init_core(struct perf_event *event)
{
	static const u64 generic[] = { CYCLES, INSTRUCTIONS };

	if (event->attr.type != PERF_TYPE_HARDWARE) {
		event->hw.config = event->attr.config;
		return event->attr.type == event->pmu->type ? 0 : -ENOENT;
	}
	if (event->attr.config >= ARRAY_SIZE(generic))
		return -ENOENT;
	event->hw.config = generic[event->attr.config];
	return 0;
}

static int init_box(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->cpu < 0 || (event->attach_state & PERF_ATTACH_TASK))
		return -EINVAL;
	event->cpu = cpumask_first(cpumask_of_node(cpu_to_node(event->cpu)));
	event->hw.config = event->attr.config;
	return 0;
}

static int scripted_init(struct perf_event *event)
{
	unsigned int index = scripted_of(event)->index;
	int error = index == 0 ? init_core(event) : init_box(event);

	if (error)
		return error;
	if (is_sampling_event(event))
		return -EOPNOTSUPP;
	if (!find(index, event->hw.config) && event->attr.type != PERF_TYPE_HARDWARE)
		return -ENOENT; /* no such event on this machine */
	return fits(event) ? 0 : -EINVAL;
}

/* --- sysfs: what real PMUs of these names show */
PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
PMU_FORMAT_ATTR(rdwrmask, "config:8-9");
static struct attribute *core_format[] = { &format_attr_event.attr, &format_attr_umask.attr, NULL };
static struct attribute *box_format[] = { &format_attr_event.attr, &format_attr_umask.attr,
					  &format_attr_rdwrmask.attr, NULL };
static const struct attribute_group core_format_group = { .name = "format", .attrs = core_format };
static const struct attribute_group box_format_group = { .name = "format", .attrs = box_format };

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *page)
{
	static cpumask_t designated;
	int node;

	cpumask_clear(&designated);
	for_each_online_node(node)
		cpumask_set_cpu(cpumask_first(cpumask_of_node(node)), &designated);
	return cpumap_print_to_pagebuf(true, page, &designated);
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *box_attributes[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group box_group = { .attrs = box_attributes };
static const struct attribute_group *core_groups[] = { &core_format_group, NULL };
static const struct attribute_group *box_groups[] = { &box_format_group, &box_group, NULL };

static int make(unsigned int index, const char *name)
{
	struct scripted *made = kzalloc(sizeof(*made), GFP_KERNEL);
	bool core = index == 0;
	int error;

	if (!made)
		return -ENOMEM;
	made->index = index;
	made->pmu.module = THIS_MODULE;
	made->pmu.task_ctx_nr = core ? perf_hw_context : perf_invalid_context;
	made->pmu.attr_groups = core ? core_groups : box_groups;
	made->pmu.capabilities = PERF_PMU_CAP_NO_INTERRUPT | (core ? 0 : PERF_PMU_CAP_NO_EXCLUDE);
	made->pmu.event_init = scripted_init;
	made->pmu.add = scripted_add;
	made->pmu.del = scripted_del;
	made->pmu.start = scripted_start;
	made->pmu.stop = scripted_stop;
	made->pmu.read = scripted_read;
	error = perf_pmu_register(&made->pmu, name, core ? PERF_TYPE_RAW : -1);
	if (error) {
		kfree(made);
		return error;
	}
	pmus[pmu_count++] = made;
	return 0;
}

/* --- what has happened */
static u64 step_of(const struct counter *counter, const char *name, bool by_name)
{
	const struct rule *rule;

	list_for_each_entry(rule, &counter->rules, list)
		if ((!by_name && !strcmp(rule->name, "*")) || !strcmp(rule->name, name))
			return rule->step;
	return 0;
}

static void feed(struct counter *counter, bool by_name)
{
	atomic64_add(step_of(counter, current->comm, by_name),
		     &counter->counts[smp_processor_id()]);
}

/* A thread's own core events stand for its work. Boxes alone are fed by the threads that rules
 * name, on their node. */
static void work_is_done(struct perf_event *event)
{
	unsigned int i, n = smp_load_acquire(&counter_count);
	struct counter *counter;

	if (pmu_count == 0 || event->pmu->event_init != scripted_init || !event->hw.flags)
		return;
	event->hw.flags = 0;
	if (event->pmu != &pmus[0]->pmu) {
		counter = find(scripted_of(event)->index, event->hw.config);
		if (counter && cpu_to_node(event->cpu) == cpu_to_node(smp_processor_id()))
			feed(counter, true);
		return;
	}
	for (i = 0; event->ctx->task == current && i < n; i++)
		feed(counters[i], false);
}

/* The last moment to count the work of an enabled event: its program disables it, or, as PAPI does
 * before that, reads it. The event's flags say that it has been enabled and not fed since. */
static int before_ioctl(struct kprobe *probe, struct pt_regs *regs)
{
	struct file *file = (struct file *)regs_get_kernel_argument(regs, 0);
	unsigned int request = (unsigned int)regs_get_kernel_argument(regs, 1);
	struct perf_event *event = file->private_data;

	if (request == PERF_EVENT_IOC_DISABLE)
		work_is_done(event);
	else if (request == PERF_EVENT_IOC_ENABLE && event->pmu->event_init == scripted_init)
		event->hw.flags = 1;
	return 0;
}

static int before_read(struct kprobe *probe, struct pt_regs *regs)
{
	struct file *file = (struct file *)regs_get_kernel_argument(regs, 0);

	work_is_done(file->private_data);
	return 0;
}

static struct kprobe ioctl_probe = { .symbol_name = "perf_ioctl", .pre_handler = before_ioctl };
static struct kprobe read_probe = { .symbol_name = "perf_read", .pre_handler = before_read };
static struct kprobe *probes[] = { &ioctl_probe, &read_probe };

static void forget(void)
{
	struct rule *rule, *next;
	unsigned int i;

	for (i = 0; i < counter_count; i++) {
		list_for_each_entry_safe(rule, next, &counters[i]->rules, list) {
			list_del(&rule->list);
			kfree(rule);
		}
		counters[i]->per_second = 0;
	}
}

static int add_rule(struct counter *counter, const char *name, u64 step)
{
	struct rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);

	if (!rule)
		return -ENOMEM;
	strscpy(rule->name, name, sizeof(rule->name));
	rule->step = step;
	list_add_tail(&rule->list, &counter->rules);
	return 0;
}

static int obey(const char *line)
{
	char verb[8] = "", name[TASK_COMM_LEN] = "";
	struct counter *counter;
	unsigned int pmu;
	u64 config, n;

	if (!strcmp(line, "reset")) {
		forget();
		return 0;
	}
	if (sscanf(line, "rule %15s %u %llx %llu", name, &pmu, &config, &n) != 4 &&
	    sscanf(line, "%7s %u %llx %llu", verb, &pmu, &config, &n) != 4)
		return -EINVAL;
	counter = pmu < pmu_count ? find_or_make(pmu, config) : NULL;
	if (!counter)
		return -EINVAL;
	if (name[0])
		return add_rule(counter, name, n);
	if (!strcmp(verb, "add")) {
		atomic64_add(n, &counter->counts[get_cpu()]);
		put_cpu();
		return 0;
	}
	if (strcmp(verb, "rate"))
		return -EINVAL;
	counter->since = sched_clock();
	counter->per_second = n;
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

static const struct file_operations operations = { .owner = THIS_MODULE, .write = script_write };
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "scripted_pmu", .fops = &operations, .mode = 0666
};

static void unmake(void)
{
	while (pmu_count > 0) {
		perf_pmu_unregister(&pmus[--pmu_count]->pmu);
		kfree(pmus[pmu_count]);
	}
}

static int __init scripted_load(void)
{
	int error = nr_cpu_ids > CPUS_MAX ? -EINVAL : make(0, "cpu");
	int i;

	for (i = 0; !error && i < box_count; i++)
		error = make(1 + i, boxes[i]);
	if (!error)
		error = register_kprobes(probes, ARRAY_SIZE(probes));
	if (!error) {
		error = misc_register(&device);
		if (error)
			unregister_kprobes(probes, ARRAY_SIZE(probes));
	}
	if (error)
		unmake();
	return error;
}

static void __exit scripted_unload(void)
{
	misc_deregister(&device);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
	unmake();
	forget();
	while (counter_count > 0)
		kfree(counters[--counter_count]);
}

module_init(scripted_load);
module_exit(scripted_unload);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("counters that count what they are told");
