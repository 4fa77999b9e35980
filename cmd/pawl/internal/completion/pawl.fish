# Completion of pawl for fish. In ~/.config/fish/config.fish:  pawl completion fish | source
function __pawl_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete-words fish -- $words[2..-1] 2>/dev/null
end
complete -c pawl -a '(__pawl_complete)'
