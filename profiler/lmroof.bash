# bash completion for lmroof. Commands, options and their words are read from the program's own
# --help, so that they are those of the installed version.
_lmroof() {
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} words
    if [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if ((COMP_CWORD == 1)); then
        words=$("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$word")
        return
    fi
    case $before in
    -m | --model) words=$("$program" model --list | sed -n '/^Families/q; s/^  //p') ;;
    --picture) words='roofline hierarchy batch context threads operators levels' ;;
    --from) words='llama-bench llama-batched-bench vllm' ;;
    --machine)
        words=$("$program" predict --list | sed -n 's/^  \([^ ]*\) .*/\1/p')
        ;;
    --phase) words='decode prefill' ;;
    --smt) words='on off' ;;
    --pages) words='small huge' ;;
    --counters) words='auto off require papi perf' ;;
    --dtype | --kv-dtype)
        words=$("$program" "$command" --help | grep -oE '\b(bf|f|q|int)[0-9][a-z0-9_]*')
        ;;
    *)
        if [[ $word == -* ]]; then
            words=$("$program" "$command" --help |
                sed -n 's/^  *\(-., \)*\(--[a-z][a-z-]*\).*/\2/p')
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
        fi
        ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    [[ $before == -m || $before == --model || $before == --machine ]] &&
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    return 0
}
complete -o filenames -F _lmroof lmroof
