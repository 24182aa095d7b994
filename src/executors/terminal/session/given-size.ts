/** Linux gives no program a longer argument or variable; one byte of it is the end mark. */
const MAX_BYTES = 128 * 1024 - 1;
/** And not more of both than this, where stacks have the usual size: with room for what every terminal gets. */
const MAX_BYTES_TOGETHER = 1024 * 1024;
/** An end mark, and where it begins. */
const BYTES_FOR_EACH = 9;

/** Finds arguments or variables that are too long: the system would not start the program. */
export function findTooLong(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): string | undefined {
  const variables = Object.entries(environment).map(([name, value]) => ({ name, bytes: sizeOf(`${name}=${value}`) }));
  const tooLong = variables.find(({ bytes }) => bytes > MAX_BYTES);
  if (tooLong) return `The environment variable '${tooLong.name}' is too long: ${limit(tooLong.bytes, MAX_BYTES)}`;
  const sizes = args.map(sizeOf);
  const longest = sizes.find((bytes) => bytes > MAX_BYTES);
  if (longest !== undefined) return `An argument of the shell is too long: ${limit(longest, MAX_BYTES)}`;
  const all = [...sizes, ...variables.map(({ bytes }) => bytes)];
  const total = all.reduce((sum, bytes) => sum + bytes + BYTES_FOR_EACH, 0);
  if (total <= MAX_BYTES_TOGETHER) return undefined;
  return `The environment and the shell's arguments are too long: ${limit(total, MAX_BYTES_TOGETHER)}`;
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text);
}

function limit(bytes: number, most: number): string {
  return `${bytes} bytes, and ${most} are possible.`;
}
