const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** Output as tmux writes it: control characters and backslashes as `\ooo`, everything else as it is. */
export function readOutput(escaped: Buffer): Buffer {
  const output = Buffer.allocUnsafe(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at += 1) {
    const byte = escaped[at] ?? 0;
    if (byte === BACKSLASH && at + 3 < escaped.length) {
      output[length] = (digit(escaped, at + 1) << 6) | (digit(escaped, at + 2) << 3) | digit(escaped, at + 3);
      at += 3;
    } else output[length] = byte;
    length += 1;
  }
  return output.subarray(0, length);
}

function digit(escaped: Buffer, at: number): number {
  return ((escaped[at] ?? ZERO) - ZERO) & 7;
}
