/** Settings, variables, headers, parameters and options with such a name hold secrets. */
export const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie/i;

/** A command line for people: without the values of options, headers and variables that are secret by their names. */
export function describeCommand(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const isValue = OPTION.test(words[index - 1] ?? "") && SECRET_NAME.test(words[index - 1] ?? "");
      if (isValue) return HIDDEN;
      return SECRET_NAME.test(word) ? word.replace(/([=:]\s*).+/s, `$1${HIDDEN}`) : word;
    })
    .join(" ");
}

const OPTION = /^--?[\w-]+$/;
const HIDDEN = "[redacted]";
