const SIMPLE: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", e: "\u001b", "\\": "\\" };

const ESCAPE = /\\(?:([nrte\\])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|0([0-7]{0,2}))/g;

/**
 * Control characters that were written out: `\n \r \t \e \xHH \uHHHH \u{H...} \0 \0oo`, and `\\` for a backslash. Any
 * other backslash stays as it is (`\d`, `\.`, `\b` are common in commands), and so does every real control character.
 */
export function translateEscapes(text: string): string {
  return text.replace(
    ESCAPE,
    (whole, simple?: string, byte?: string, unit?: string, point?: string, octal?: string) => {
      if (simple !== undefined) return SIMPLE[simple] ?? whole;
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal || "0", 8));
      const code = Number.parseInt(byte ?? unit ?? point ?? "", 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
