const SIMPLE: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads the escapes of Python's texts, but for characters by name. Undefined: one of them is none. */
export function readStringLiteral(written: string): string | undefined {
  if (!written.includes("\\")) return written;
  let isWrong = false;
  const text = written.replace(/\\([0-7]{1,3}|x[\da-fA-F]{0,2}|u[\da-fA-F]{0,4}|U[\da-fA-F]{0,8}|.)/gs, (all, code) => {
    const first: string = code[0];
    const wanted = DIGITS[first];
    if (/[0-7]/.test(first)) return String.fromCharCode(Number.parseInt(code, 8));
    if (first === "N" || (wanted !== undefined && code.length <= wanted)) isWrong = true;
    if (wanted === undefined) return SIMPLE[first] ?? all;
    const point = Number.parseInt(code.slice(1), 16);
    if (!(point <= 0x10ffff)) isWrong = true;
    return isWrong ? "" : String.fromCodePoint(point);
  });
  return isWrong ? undefined : text;
}
