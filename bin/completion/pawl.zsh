#compdef pawl
# Completion of pawl for zsh: source <(pawl completion zsh), or a file _pawl in a folder of $fpath
_pawl() {
  local line files
  local -a answers
  for line in "${(@f)$(pawl complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      files=yes
    elif [[ -n $line ]]; then
      answers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done
  if ((${#answers})); then _describe -V pawl answers; fi
  if [[ -n $files ]]; then _files; fi
}
if [[ ${funcstack[1]} == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi
