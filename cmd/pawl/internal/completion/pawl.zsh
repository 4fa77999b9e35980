#compdef pawl
# Completion of pawl for zsh. In ~/.zshrc, after compinit:  source <(pawl completion zsh)
_pawl() {
    local -a candidates
    candidates=("${(@f)$("${words[1]}" complete-words zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${candidates[1]}" ]]; then
        _describe pawl candidates
    else
        _files
    fi
}
if [[ "${funcstack[1]}" = "_pawl" ]]; then
    _pawl "$@"
else
    compdef _pawl pawl
fi
