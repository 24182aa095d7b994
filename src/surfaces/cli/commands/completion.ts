import type { Command } from "commander";

interface Verb {
  /** As it is typed, after `pawl`; empty: `pawl` itself. */
  readonly trail: string;
  readonly below: readonly Word[];
  readonly options: readonly Word[];
}

interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** What a shell evaluates to complete verbs and options; where there is nothing to complete, files are. */
export function completionScript(shell: "bash" | "zsh" | "fish", program: Command): string {
  const verbs = verbsOf(program, []);
  switch (shell) {
    case "bash":
      return bashScript(verbs);
    case "zsh":
      return zshScript(verbs);
    case "fish":
      return fishScript(verbs);
  }
}

function verbsOf(command: Command, path: readonly string[]): readonly Verb[] {
  const help = command.createHelp();
  // `help` itself is typed by nobody who has completion.
  const commands = help.visibleCommands(command).filter((below) => below.name() !== "help");
  const options = help.visibleOptions(command).flatMap(({ long, description }) => {
    return long === null || long === undefined ? [] : [{ text: long, meaning: firstClause(description) }];
  });
  const below = commands.map((each) => ({ text: each.name(), meaning: firstClause(each.description()) }));
  const own = { trail: path.join(" "), below, options };
  return [own, ...commands.flatMap((each) => verbsOf(each, [...path, each.name()]))];
}

/** Quotes and colons mean something to shells. */
function firstClause(text: string): string {
  return (text.split(/[;(:]/)[0] ?? "").replaceAll(/['"`\\$]/g, "").trim();
}

function trailsOf(verbs: readonly Verb[]): readonly string[] {
  return verbs.map(({ trail }) => trail).filter((trail) => trail !== "");
}

function textsOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(" ");
}

function bashScript(verbs: readonly Verb[]): string {
  const cases = verbs.map(
    ({ trail, below, options }) => `    "${trail}") verbs="${textsOf(below)}" options="${textsOf(options)}" ;;`,
  );
  return `# Completion of pawl for bash: source <(pawl completion bash)
_pawl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" trail="" verbs="" options="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${trail:+$trail }\${COMP_WORDS[i]}" in
      ${trailsOf(verbs)
        .map((trail) => `"${trail}"`)
        .join("|")}) trail="\${trail:+$trail }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$trail" in
${cases.join("\n")}
  esac
  if [[ $current == -* ]]; then verbs=$options; fi
  COMPREPLY=($(compgen -W "$verbs" -- "$current"))
}
complete -o default -F _pawl pawl
`;
}

function zshScript(verbs: readonly Verb[]): string {
  const list = (words: readonly Word[]) => words.map(({ text, meaning }) => `'${text}:${meaning}'`).join(" ");
  const cases = verbs.map(
    ({ trail, below, options }) => `    '${trail}') verbs=(${list(below)}); options=(${list(options)}) ;;`,
  );
  return `#compdef pawl
# Completion of pawl for zsh: source <(pawl completion zsh), or a file _pawl in a folder of $fpath
_pawl() {
  local trail="" word
  local -a verbs options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${trail:+$trail }$word" in
      ${trailsOf(verbs)
        .map((trail) => `'${trail}'`)
        .join("|")}) trail="\${trail:+$trail }$word" ;;
    esac
  done
  case "$trail" in
${cases.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  elif ((\${#verbs})); then
    _describe verb verbs
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _pawl ]]; then _pawl "$@"; else compdef _pawl pawl; fi
`;
}

function fishScript(verbs: readonly Verb[]): string {
  const lines = verbs.flatMap(({ trail, below, options }) => {
    const at = `complete -c pawl -n "__pawl_at '${trail}'"`;
    return [
      ...below.map(({ text, meaning }) => `${at} -f -a ${text} -d '${meaning}'`),
      ...options.map(({ text, meaning }) => `${at} -l ${text.slice(2)} -d '${meaning}'`),
    ];
  });
  return `# Completion of pawl for fish: pawl completion fish | source
function __pawl_at
  set -l trail
  for word in (commandline -opc)[2..-1]
    if contains -- (string join ' ' $trail $word) ${trailsOf(verbs)
      .map((trail) => `'${trail}'`)
      .join(" ")}
      set trail $trail $word
    end
  end
  test (string join ' ' $trail) = "$argv[1]"
end
${lines.join("\n")}
`;
}
