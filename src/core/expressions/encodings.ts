/** Bytes in UTF-8; the halves of a character that stand alone are U+FFFD. */
function toUtf8(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.toWellFormed());
  const bytes = new Uint8Array(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at += 1) {
    const isEscape = escaped[at] === "%";
    bytes[length] = isEscape ? Number.parseInt(escaped.slice(at + 1, at + 3), 16) : escaped.charCodeAt(at);
    if (isEscape) at += 2;
    length += 1;
  }
  return bytes.subarray(0, length);
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export function toBase64(text: string): string {
  const bytes = toUtf8(text);
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b, c] = bytes.subarray(at, at + 3);
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    const digits = [18, 12, 6, 0].map((shift) => DIGITS[(bits >> shift) & 63]).join("");
    parts.push(b === undefined ? `${digits.slice(0, 2)}==` : c === undefined ? `${digits.slice(0, 3)}=` : digits);
  }
  return parts.join("");
}

/**
 * Whether a text is Base64, with or without `=`. It is looked for what is none: one pattern for the whole would need a stack as long
 * as the text.
 */
export function isBase64(text: string): boolean {
  const length = lengthWithout(text, "=");
  const padding = text.length - length;
  const isWhole = padding === 0 ? length % 4 !== 1 : padding <= 2 && text.length % 4 === 0;
  return isWhole && !/[^A-Za-z0-9+/]/.test(text.slice(0, length));
}

function lengthWithout(text: string, end: string): number {
  let length = text.length;
  while (text[length - 1] === end) length -= 1;
  return length;
}

/** Also with `-` and `_`, and without `=`. Undefined where it is none, or no text in UTF-8. */
export function fromBase64(text: string): string | undefined {
  const digits = text.slice(0, lengthWithout(text, "=")).replaceAll("-", "+").replaceAll("_", "/");
  const escapes: string[] = [];
  for (let at = 0; at < digits.length; at += 4) {
    const codes = Array.from(digits.slice(at, at + 4), (digit) => DIGITS.indexOf(digit));
    if (codes.includes(-1) || codes.length === 1) return undefined;
    const bits = codes.reduce((sum, code, place) => sum | (code << (18 - 6 * place)), 0);
    for (let byte = 0; byte < codes.length - 1; byte += 1)
      escapes.push(`%${((bits >> (16 - 8 * byte)) & 255).toString(16).padStart(2, "0")}`);
  }
  try {
    return decodeURIComponent(escapes.join(""));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** SHA-256 in small hexadecimal digits. Written here because the core imports nothing, and conditions ask for it too. */
export function sha256(text: string): string {
  const bytes = toUtf8(text);
  const padded = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
  padded.setUint32(padded.byteLength - 4, bytes.length << 3);
  const hash = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fractionOf(Math.sqrt(prime)));
  const words = new Uint32Array(64);
  for (let block = 0; block < padded.byteLength; block += 64) mix(hash, words, padded, block);
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter(
  (n) => n > 1 && !Array.from({ length: n - 2 }, (_, at) => at + 2).some((divisor) => n % divisor === 0),
);
const ROUNDS = Uint32Array.from(PRIMES, (prime) => fractionOf(Math.cbrt(prime)));

function fractionOf(root: number): number {
  return Math.floor((root % 1) * 2 ** 32);
}

function mix(hash: Uint32Array, words: Uint32Array, data: DataView, block: number): void {
  const word = (at: number) => words[at] ?? 0;
  for (let at = 0; at < 16; at += 1) words[at] = data.getUint32(block + at * 4);
  for (let at = 16; at < 64; at += 1) {
    const [x, y] = [word(at - 15), word(at - 2)];
    const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
    const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
    words[at] = word(at - 16) + s0 + word(at - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let at = 0; at < 64; at += 1) {
    const first = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + (ROUNDS[at] ?? 0) + word(at);
    const second = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [at, value] of [a, b, c, d, e, f, g, h].entries()) hash[at] = (hash[at] ?? 0) + value;
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** A UUID of version 8: the same for the same seed. */
export function uuidOf(seed: string): string {
  const hex = sha256(seed);
  const variant = ((Number.parseInt(hex[16] ?? "0", 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
