#!/bin/sh
# man.sh [PROGRAM PAGE]: the man page, the README and every --help name the same commands and
# options.
set -u
LMROOF=${1:-$LMROOF}
page=$SOURCE/${2:-profiler/lmroof.1}
name=$(basename "$LMROOF")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

commands=$("$LMROOF" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
for command in $commands; do
    "$LMROOF" "$command" --help >"$work/$command.help" || exit 1
    sed -n 's/^  *\(-[a-zA-Z]\), .*/\1/p; s/^  *\(-., \)*\(--[a-z][a-z-]*\).*/\2/p' \
        "$work/$command.help" | grep -v '^--help$' >"$work/$command.options"
    # `-m, --model` is one line: sed printed only one of the two.
    sed -n 's/^  *-[a-zA-Z], \(--[a-z][a-z-]*\).*/\1/p' "$work/$command.help" >>"$work/$command.options"
done

# section PAGE COMMAND: that part of the page, as plain text.
section() {
    sed -n "/^\.SS $2\$/,/^\.S[SH] [^$]*/{/^\.S[SH]/!p;}" "$1" | sed 's/\\-/-/g; s/\\f.//g'
}

# defaults COMMAND: "--option number" for each option whose help ends in "(number)".
defaults() {
    awk '/^ *-/ { if (text) print text; text = $0; next } /^ +[^ ]/ { text = text " " $0; next }
         { if (text) print text; text = "" } END { if (text) print text }' "$work/$1.help" |
        sed -nE 's/^[^(]*(--[a-z-]+).*\(([0-9][0-9.]*)\) *$/\1 \2/p'
}

# check_page PAGE: says what is missing on either side; fails if anything is.
check_page() {
    bad=0
    for command in $commands; do
        section "$1" "$command" >"$work/section"
        if ! [ -s "$work/section" ]; then
            echo "the man page has no section '$command'"
            bad=1
            continue
        fi
        while read -r option; do
            grep -qE -- "(^|[ \"])$option([ \"=]|\$)" "$work/section" ||
                { echo "the man page lacks $command $option"; bad=1; }
        done <"$work/$command.options"
        awk '/^\.TP/ { print text; text = ""; next } { text = text " " $0 } END { print text }' \
            "$work/section" >"$work/entries"
        defaults "$command" >"$work/defaults"
        while read -r option value; do
            grep -E -- "[ \"]$option[ \"=]" "$work/entries" |
                grep -qE -- "Default: ([0-9a-z.]+, )*$value([.,;]*( |\$))" ||
                { echo "the man page lacks 'Default: $value' of $command $option"; bad=1; }
        done <"$work/defaults"
        for dtype in $(grep -oE '\b(bf|f|q|int)[0-9][a-z0-9_]*' "$work/$command.help" | sort -u); do
            grep -qw -- "$dtype" "$work/section" ||
                { echo "the man page lacks $dtype of $command"; bad=1; }
        done
        for option in $(grep -oE -- '--[a-z][a-z-]*' "$work/section" | grep -v '^--help$' | sort -u); do
            grep -q -- "$option" "$work/$command.help" ||
                { echo "the man page has $command $option, the program has not"; bad=1; }
        done
    done
    for command in $(sed -n '/^\.SH COMMANDS/,/^\.SH READING/s/^\.SS //p' "$1"); do
        [ -s "$work/$command.help" ] || { echo "the man page has command $command, the program has not"; bad=1; }
    done
    return "$bad"
}

# check_examples FILE: the options of every `lmroof COMMAND --option` in a text exist.
check_examples() {
    bad=0
    grep -oE "$name [a-z]+ [^\`|#]*" "$1" | grep -E -- ' --[a-z]' >"$work/examples"
    while read -r _ command rest; do
        [ -s "$work/$command.help" ] || continue
        for option in $(printf '%s\n' "$rest" | grep -oE -- '--[a-z][a-z-]*' | grep -v '^--help$'); do
            grep -q -- "$option" "$work/$command.help" ||
                { echo "$1: lmroof $command has no $option"; bad=1; }
        done
    done <"$work/examples"
    return "$bad"
}

# check_wording: options are told in one style: small letters, the default in brackets, and threads
# that a command binds (place only reads of some) called so.
check_wording() {
    bad=0
    for command in $commands; do
        awk '/^ *-/ { if (text) print text; text = $0; next } /^ +[^ ]/ { sub(/^ +/, " "); text = text $0; next }
             { if (text) print text; text = "" }' "$work/$command.help" |
            grep -v -- '--help\|--usage' >"$work/wording"
        grep -E '^ *(-[a-zA-Z], )?--[^ ]+ +[A-Z][a-z]+ |\(default' "$work/wording" &&
            { echo "the help of $command is not in the style of the others"; bad=1; }
        grep -E -- '--threads' "$work/wording" | grep -v 'bound threads\|threads it used' &&
            { echo "$command has its own word for threads"; bad=1; }
    done
    return "$bad"
}

[ "$(printf '%s\n' "$commands" | wc -l)" -ge 4 ] || { echo "FAIL: found only the commands $commands"; exit 1; }
failed=0
check_page "$page" || failed=1
check_wording || failed=1
for text in README.md CONTRIBUTING.md roofline/METHOD.md profiler/COUNTERS.md profiler/FAQ.md; do
    check_examples "$SOURCE/$text" || failed=1
done
version=$("$LMROOF" --version)
grep -q "\"$version\"" "$page" || { echo "the man page is not of $version"; failed=1; }

# The checks themselves must be able to fail.
sed '/repeat/d' "$page" >"$work/without.1"
check_page "$work/without.1" >/dev/null && { echo "FAIL: a missing option is not seen"; failed=1; }
if grep -q '3 to 64\. Default: 41' "$page"; then
    sed 's/3 to 64\. Default: 41/3 to 64. Default: 15/' "$page" >"$work/default.1"
    check_page "$work/default.1" >/dev/null && { echo "FAIL: a wrong default is not seen"; failed=1; }
fi
sed "s/^\.SS $(echo $commands | cut -d' ' -f1)$/.SS topology/" "$page" >"$work/renamed.1"
check_page "$work/renamed.1" >/dev/null && { echo "FAIL: a missing command is not seen"; failed=1; }
echo "\`$name probe --no-such-option\`" >"$work/text.md"
check_examples "$work/text.md" >/dev/null && { echo "FAIL: a wrong example is not seen"; failed=1; }
sed 's/\(--quick  *\)a/\1A/' "$work/probe.help" >"$work/capital" && cp "$work/capital" "$work/probe.help"
check_wording >/dev/null && { echo "FAIL: another style is not seen"; failed=1; }

if command -v man >/dev/null 2>&1; then
    man --warnings -l "$page" 2>&1 >/dev/null | grep . && { echo "FAIL: the page has warnings"; failed=1; }
fi
[ "$failed" -eq 0 ] && echo "man: ok"
exit "$failed"
