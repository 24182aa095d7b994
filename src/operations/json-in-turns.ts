import { writeExact } from "../core/exact-json.ts";
import { passTurn } from "../ports/turns.ts";

/** Lists that are longer are written a part at a time. */
const LONG = 500;
/** The long lists of an answer are not further in: steps of a run, the outputs of a fan-out. */
const DEPTH = 4;

/** The JSON of an answer that may be long: others get their turn while it is written. */
export async function toJsonInTurns(answer: object): Promise<string> {
  return write(answer, DEPTH);
}

async function write(value: object, depth: number): Promise<string> {
  if (!hasLongList(value, depth)) return writeExact(value);
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (let from = 0; from < value.length; from += LONG) {
      parts.push(writeExact(value.slice(from, from + LONG)).slice(1, -1));
      await passTurn();
    }
    return `[${parts.join(",")}]`;
  }
  for (const [name, member] of Object.entries(value)) {
    const text = isObject(member) ? await write(member, depth - 1) : writeExact(member);
    if (text !== undefined) parts.push(`${writeExact(name)}:${text}`);
    await passTurn();
  }
  return `{${parts.join(",")}}`;
}

function hasLongList(value: object, depth: number): boolean {
  if (Array.isArray(value)) return value.length > LONG;
  return depth > 0 && Object.values(value).some((member) => isObject(member) && hasLongList(member, depth - 1));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
