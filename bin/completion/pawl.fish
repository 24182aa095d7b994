# Completion of pawl for fish: pawl completion fish | source
function __pawl_answers
  set -l current (commandline -ct)
  set -l words (commandline -opc)
  for line in (pawl complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      printf '%s\n' "$line"
    end
  end
end
complete -c pawl -e
complete -c pawl -f -k -a '(__pawl_answers)'
