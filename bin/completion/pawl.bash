# Completion of pawl for bash: source <(pawl completion bash)
# No line evaluates what was typed or what the program answers.
_pawl() {
  local current="" prefix="" files="" word meaning
  local -a words=() shown=()
  # Readline has split words at `:` and `=`.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $word == [:=]* || $current == *[:=] && -n $word ]]; then
      current+=$word
    else
      words+=("$current")
      current=$word
    fi
  done
  words=("${words[@]:1}" "$current")
  words=("${words[@]//[\"\'\\]/}")
  current=${words[${#words[@]} - 1]}
  # It replaces what stands behind the last of them.
  if [[ $current == *[:=]* ]]; then prefix=${current%"${current##*[:=]}"}; fi

  COMPREPLY=()
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == :files ]]; then files=yes; continue; fi
    if [[ $word != "$current"* ]]; then continue; fi
    shown+=("$word${meaning:+  ($meaning)}")
    COMPREPLY+=("${word#"$prefix"}")
  done < <(pawl complete -- "${words[@]}" 2>/dev/null)

  if [[ -z $files ]]; then
    compopt +o default 2>/dev/null
    # The second TAB shows a list.
    if [[ $COMP_TYPE == 63 ]] && ((${#shown[@]} > 1)); then
      COMPREPLY=("${shown[@]}")
    elif [[ ${COMP_WORDS[COMP_CWORD]} != [\"\']* ]]; then
      for word in "${!COMPREPLY[@]}"; do printf -v "COMPREPLY[word]" %q "${COMPREPLY[word]}"; done
    fi
  elif ((${#COMPREPLY[@]} > 0)); then
    compopt -o filenames 2>/dev/null
    while read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  fi
}
# An older bash sorts.
complete -o default -o nosort -F _pawl pawl 2>/dev/null || complete -o default -F _pawl pawl
