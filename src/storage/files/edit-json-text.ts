import type { Range } from "yaml";
import { writeExact } from "../../core/exact-json.ts";

/**
 * Replaces an object under one of a JSON object's own keys. The rest of the text stays, down to the spelling of numbers.
 * Undefined if the key is missing or holds no object. The text must be valid JSON.
 */
export async function replaceObject(text: string, key: string, replacement: string): Promise<string | undefined> {
  const range = await findValue(text, [key], "{");
  return range && text.slice(0, range[0]) + replacement + text.slice(range[1]);
}

/**
 * Replaces the name in a saved workflow's text, `{"definition": {"name": ...}, ...}`. The rest of the text stays. Undefined
 * if the name is missing or is no text. The text must be valid JSON.
 */
export async function renameDefinition(text: string, name: string): Promise<string | undefined> {
  const range = await findValue(text, ["definition", "name"], '"');
  return range && text.slice(0, range[0]) + writeExact(name) + text.slice(range[1]);
}

/** The place of a value that begins with a letter. A JSON text is a YAML text, and YAML's parser tells places. */
async function findValue(text: string, path: readonly string[], begin: string): Promise<Range | undefined> {
  const { isMap, isNode, isScalar, parseDocument } = await import("yaml");
  let node: unknown = parseDocument(text, { uniqueKeys: false, logLevel: "silent" }).contents;
  for (const name of path) {
    // If a key occurs twice the last one counts, as it does for JSON parsers.
    const found = isMap(node) ? node.items.findLast(({ key }) => isScalar(key) && key.value === name) : undefined;
    node = found?.value;
  }
  const range = isNode(node) ? node.range : undefined;
  return range && text[range[0]] === begin ? range : undefined;
}
