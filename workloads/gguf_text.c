#include "workloads/gguf_file.h"

// Length of the UTF-8 sequence that starts at text, 0 if there is no valid printable one.
// Unicode 15, table 3-7 (well-formed byte sequences); C0, DEL and C1 are controls, and U+202A..E
// and U+2066..9 turn the direction of what follows.
static size_t printable_length(const unsigned char *text, size_t left)
{
    unsigned char first = text[0];
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7f ? 1 : 0;
    }
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > left) {
        return 0;
    }
    uint32_t code = first & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (text[i] & 0x3fU);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool valid = code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return valid && code >= 0xa0 && !turns ? length : 0;
}

char *gguf_printable(char *out, size_t size, const char *bytes, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        const unsigned char *at = (const unsigned char *)bytes + i;
        size_t n = printable_length(at, length - i);
        size_t shown = n > 0 ? n : 1;
        if (used + shown >= size) {
            break;
        }
        for (size_t j = 0; j < shown; j++) {
            out[used + j] = bytes[i + j];
        }
        if (n == 0) {
            out[used] = '?';
        }
        used += shown;
        i += shown;
    }
    out[used] = '\0';
    return out;
}
