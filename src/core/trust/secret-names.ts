/** Settings, variables, headers, parameters and options with such a name hold secrets. */
export const SECRET_NAME = /key|token|secret|passw|credential|auth|cookie/i;

/** Stands for a secret, wherever something is written or shown. */
export const REDACTED = "[redacted]";

/** The last word, or a word anywhere, that tells a secret which a person types. */
const TYPED_SECRET =
  /(?:^|_)(?:pass|pw|pwd|pin|otp|token|credentials?|(?:api|private|access)_?key)\d*$|passw|passphrase|passcode|secret/;
/** Names of what is about a secret and none. */
const ABOUT_SECRET = /_(?:prompt|pattern|regex|file|path|name|field|label|length|count|url|host)$/;

/** Whether a variable with this name holds what is typed at hidden prompts. Word by word: not `author` or `password_prompt`. */
export function isTypedSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
  return TYPED_SECRET.test(words) && !ABOUT_SECRET.test(words);
}

/** A command line for people: without the values of options, headers and variables that are secret by their names. */
export function describeCommand(words: readonly string[]): string {
  return words
    .map((word, index) => {
      const isValue = OPTION.test(words[index - 1] ?? "") && SECRET_NAME.test(words[index - 1] ?? "");
      if (isValue) return REDACTED;
      return SECRET_NAME.test(word) ? word.replace(/([=:]\s*).+/s, `$1${REDACTED}`) : word;
    })
    .join(" ");
}

const OPTION = /^--?[\w-]+$/;
