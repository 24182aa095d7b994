import type { Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import { createJsonScanner } from "./json-scanner.ts";
import { fencedBlocks, removeFence } from "./markdown-fence.ts";

// Text made of thousands of opening brackets must not cost a pass over the rest for each of them.
const MAX_STARTS = 200;
const MAX_SCANNED_CHARS = 8 * 1024 * 1024;

/** The JSON values that an answer in prose may mean, the likeliest first: the whole, fenced blocks, what stands in the text. */
export function* jsonInText(text: string): Generator<Json> {
  const whole = parseJson(text) ?? parseJson(removeFence(text));
  if (whole !== undefined) yield whole;
  for (const block of fencedBlocks(text)) {
    const value = parseJson(block);
    if (value !== undefined) yield value;
  }
  yield* objectsAndLists(text);
}

function* objectsAndLists(text: string): Generator<Json> {
  let scannedChars = 0;
  let at = nextBracket(text, 0);
  for (let starts = 0; at !== -1 && starts < MAX_STARTS && scannedChars < MAX_SCANNED_CHARS; starts += 1) {
    const scan = createJsonScanner().read(text, at);
    const end = scan.state === "closed" ? scan.end : text.length;
    scannedChars += end - at;
    const value = scan.state === "closed" ? parseJson(text.slice(at, end)) : undefined;
    if (value !== undefined) yield value;
    at = nextBracket(text, value === undefined ? at + 1 : end);
  }
}

function nextBracket(text: string, from: number): number {
  const candidates = [text.indexOf("{", from), text.indexOf("[", from)].filter((index) => index !== -1);
  return candidates.length === 0 ? -1 : Math.min(...candidates);
}
