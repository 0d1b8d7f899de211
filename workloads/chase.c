#include "workloads/chase.h"

#include <assert.h>
#include <string.h>

// Each step can be undone (xor with a right shift; multiplication by an odd number modulo 2^bits),
// so that no place comes twice. The multipliers are those of splitmix64 (Steele et al., 2014).
uint64_t chase_scatter(uint64_t i, unsigned bits)
{
    uint64_t mask = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    unsigned half = bits / 2 + 1;
    i = (i + 0x632be59bd9b4e019u) & mask;
    i ^= i >> half;
    i = (i * 0xbf58476d1ce4e5b9u) & mask;
    i ^= i >> half;
    i = (i * 0x94d049bb133111ebu) & mask;
    return i ^ i >> half;
}

static unsigned bits_for(uint64_t count)
{
    unsigned bits = 1;
    while (((uint64_t)1 << bits) < count) {
        bits++;
    }
    return bits;
}

static void set_pointer(unsigned char *line, void *to)
{
    memcpy(line, &to, sizeof to);
}

// The next line of the order that lies within the memory; *i counts on.
static unsigned char *next_line(uint64_t *i, unsigned char *base, size_t room, unsigned bits)
{
    uint64_t place = room;
    while (place >= room) {
        place = chase_scatter((*i)++, bits);
    }
    return base + place * CHASE_LINE_BYTES;
}

void *chase_build(size_t *placed, unsigned char *base, size_t bytes, size_t lines)
{
    size_t room = bytes / CHASE_LINE_BYTES;
    unsigned bits = bits_for(room);
    uint64_t i = 0;
    assert(room >= 2);
    lines = lines < room ? lines : room;
    unsigned char *first = next_line(&i, base, room, bits);
    unsigned char *last = first;
    for (size_t count = 1; count < lines; count++) {
        unsigned char *line = next_line(&i, base, room, bits);
        set_pointer(last, line);
        last = line;
    }
    set_pointer(last, first);
    if (placed != NULL) {
        *placed = lines;
    }
    return first;
}

void *chase_follow(void *start, uint64_t steps)
{
    void *at = start;
    for (uint64_t i = 0; i < steps; i++) {
        at = *(void *volatile *)at;
    }
    return at;
}
