# Bash completion for npgnn. It reads the output of --help, so it always matches the program.

# The commands that `npgnn --help` lists.
_npgnn_commands()
{
    "$1" --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# The long options that the help of a command lists.
_npgnn_options()
{
    sed -n 's/^  .\{4\}\(--[a-z][a-z0-9-]*\).*/\1/p'
}

# _npgnn_value_of OPTION: how the help calls the value of this option: "FILE", "a|b|c" or nothing.
_npgnn_value_of()
{
    # "  -o, --output FILE   Explanation": two spaces end the name of the option and its value
    awk -v option="$1" '/^  [ -]/ {
        sub(/^ +/, ""); sub(/  .*/, ""); gsub(/[][]/, "")
        if (($1 == option || $1 == option "," || $2 == option) && $NF !~ /^-/) print $NF
    }'
}

_npgnn()
{
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local page value
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(_npgnn_commands "$program") --help --version" -- "$word")
        return
    fi
    if [[ ${COMP_WORDS[1]} == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_npgnn_commands "$program")" -- "$word")
        return
    fi
    page=$("$program" "${COMP_WORDS[1]}" --help 2>/dev/null) || return
    if [[ $before == -* ]]; then
        value=$(_npgnn_value_of "$before" <<<"$page")
        case $value in
        *FILE* | MODEL | OUT) ;; # complete file names, below
        *DIR*)
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            return
            ;;
        *'|'*)
            mapfile -t COMPREPLY < <(compgen -W "${value//|/ }" -- "$word")
            return
            ;;
        ?*) return ;; # a number: nothing to offer
        esac
    elif [[ ${COMP_WORDS[1]} == fetch && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" fetch --list 2>/dev/null | cut -d ' ' -f 1)" -- "$word")
        return
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_npgnn_options <<<"$page") --help" -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}

complete -o filenames -F _npgnn npgnn
