#include "profiler/contest.h"

#include "roofline/stats.h"

#include <assert.h>
#include <stdlib.h>

void contest_begin(struct contest *out, size_t entries)
{
    assert(entries > 0 && entries <= CONTEST_ENTRIES_MAX);
    *out = (struct contest){.entries = entries};
}

void contest_cut(struct contest *contest, size_t first)
{
    if (contest->turns > 0) {
        return;
    }
    assert(first > 0);
    for (size_t i = first; i < contest->entries; i++) {
        contest->out[i] = true;
    }
    contest->turns = 1;
}

// The median time of those still in.
static double usual_seconds(const struct contest *contest, unsigned turn)
{
    double in[CONTEST_ENTRIES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < contest->entries; i++) {
        if (!contest->out[i]) {
            in[count++] = contest->seconds[turn][i];
        }
    }
    return stats_median(in, count);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// The mean without a fifth at both ends: all turns but odd ones count, where a median would see
// nothing of what differs in less than half of them.
static double score(const struct contest *contest, size_t entry)
{
    double ratios[CONTEST_TURNS_MAX];
    double sum = 0;
    unsigned cut = contest->turns > 2 ? (contest->turns + 2) / 5 : 0;
    for (unsigned turn = 0; turn < contest->turns; turn++) {
        ratios[turn] = contest->seconds[turn][entry] / usual_seconds(contest, turn);
    }
    qsort(ratios, contest->turns, sizeof *ratios, compare);
    for (unsigned turn = cut; turn < contest->turns - cut; turn++) {
        sum += ratios[turn];
    }
    return sum / (contest->turns - 2 * cut);
}

void contest_halve(struct contest *contest)
{
    double scores[CONTEST_ENTRIES_MAX];
    double in[CONTEST_ENTRIES_MAX];
    size_t count = 0;
    assert(contest->turns > 0);
    for (size_t i = 0; i < contest->entries; i++) {
        if (!contest->out[i]) {
            scores[i] = score(contest, i);
            in[count++] = scores[i];
        }
    }
    if (count <= 2) {
        return;
    }
    double limit = stats_median(in, count);
    for (size_t i = 0; i < contest->entries; i++) {
        contest->out[i] = contest->out[i] || scores[i] > limit;
    }
}

size_t contest_leader(const struct contest *contest)
{
    size_t leader = contest->entries;
    double least = 0;
    assert(contest->turns > 0);
    for (size_t i = 0; i < contest->entries; i++) {
        if (contest->out[i]) {
            continue;
        }
        double found = score(contest, i);
        if (leader == contest->entries || found < least) {
            leader = i;
            least = found;
        }
    }
    return leader;
}
