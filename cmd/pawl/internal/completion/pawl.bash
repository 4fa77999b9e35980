# Completion of pawl for bash. In ~/.bashrc:  source <(pawl completion bash)
_pawl() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" complete-words bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _pawl pawl
