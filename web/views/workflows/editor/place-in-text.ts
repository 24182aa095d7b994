/** Where something is typed: the keys on the way, with `*` for an entry of a list. */
export interface TypingPlace {
  readonly path: readonly string[];
  /** A key of the object at `path`, or the value at `path`. */
  readonly wants: "key" | "value";
  /** Where the word begins that is being typed. */
  readonly from: number;
  /** Keys that the object has already. */
  readonly taken: readonly string[];
}

const KEY = /^(\s*)((?:- +)*)(?:"([^"]*)"|'([^']*)'|([^\s#:'"[\]{},][^:#]*?))\s*:(?:\s|$)/;

/** By indentation alone, for YAML that is being typed is seldom well-formed. Undefined inside of a block of text. */
export function placeInYaml(text: string, at: number): TypingPlace | undefined {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const typed = text.slice(start, at);
  if (typed.includes("#")) return undefined;
  const value = KEY.exec(`${typed} `);
  const lines = text.slice(0, start).split("\n").slice(0, -1);
  if (value !== null) {
    const indent = (value[1] ?? "").length + (value[2] ?? "").length;
    const { path } = parents(lines, indent, value[2] !== "" ? (value[1] ?? "").length : undefined);
    const word = /[^\s:]*$/.exec(typed)?.[0] ?? "";
    return { path: [...path, keyOf(value)], wants: "value", from: at - word.length, taken: [] };
  }
  const bare = /^(\s*)((?:- +)*)("?[\w$-]*)$/.exec(typed);
  if (bare === null) return undefined;
  const [, space = "", dashes = "", word = ""] = bare;
  const indent = space.length + dashes.length;
  const found = parents(lines, indent, dashes === "" ? undefined : space.length);
  if (found.isText) return undefined;
  return {
    path: found.path,
    wants: "key",
    from: at - word.length,
    taken: [...found.taken, ...siblingsBelow(text, at, indent)],
  };
}

interface Parents {
  readonly path: string[];
  readonly taken: string[];
  readonly isText: boolean;
}

function parents(lines: readonly string[], indent: number, dashAt: number | undefined): Parents {
  const path: string[] = [];
  const taken: string[] = [];
  let isText = false;
  let limit = indent;
  if (dashAt !== undefined) {
    path.unshift("*");
    limit = dashAt;
  }
  for (let index = lines.length - 1; index >= 0 && limit >= 0; index -= 1) {
    const line = lines[index] ?? "";
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const match = KEY.exec(line);
    const space = /^\s*/.exec(line)?.[0].length ?? 0;
    const dashes = /^\s*((?:- +)*)/.exec(line)?.[1]?.length ?? 0;
    const column = space + dashes;
    if (match === null) {
      if (space < limit && dashes === 0) limit = Math.min(limit, space + 1);
      continue;
    }
    if (column === limit && dashAt === undefined && path.length === 0) taken.push(keyOf(match));
    if (column < limit || (path[0] === "*" && column === limit && dashes === 0)) {
      if (/[|>][-+0-9]*\s*$/.test(line)) isText = true;
      path.unshift(keyOf(match));
      limit = column;
    }
    if (dashes > 0 && space < limit && column <= limit) {
      path.unshift("*");
      limit = space;
    }
    if (limit === 0 && path[0] !== "*") break;
  }
  return { path, taken, isText };
}

function siblingsBelow(text: string, at: number, indent: number): string[] {
  const below: string[] = [];
  for (const line of text.slice(at).split("\n").slice(1)) {
    if (line.trim() === "") continue;
    const column = /^\s*/.exec(line)?.[0].length ?? 0;
    if (column < indent || line.slice(column).startsWith("- ")) break;
    const match = column === indent ? KEY.exec(line) : null;
    if (match !== null) below.push(keyOf(match));
  }
  return below;
}

function keyOf(match: RegExpExecArray): string {
  return (match[3] ?? match[4] ?? match[5] ?? "").trim();
}

/** By brackets: what is open before the cursor. */
export function placeInJson(text: string, at: number): TypingPlace | undefined {
  const open: { readonly is: "{" | "["; key: string; readonly taken: string[]; isValue: boolean }[] = [];
  let index = 0;
  while (index < at) {
    const char = text[index];
    const top = open.at(-1);
    if (char === '"') {
      const end = endOfText(text, index);
      if (end >= at) break;
      if (top?.is === "{" && !top.isValue) {
        top.key = text.slice(index + 1, end);
        top.taken.push(top.key);
      }
      index = end;
    } else if (char === "{" || char === "[") open.push({ is: char, key: "", taken: [], isValue: false });
    else if (char === "}" || char === "]") open.pop();
    else if (char === ":" && top) top.isValue = true;
    else if (char === "," && top) top.isValue = false;
    index += 1;
  }
  const top = open.at(-1);
  if (top === undefined) return undefined;
  const word = /"?[\w$-]*$/.exec(text.slice(0, at))?.[0] ?? "";
  const outer = open.slice(0, -1).map((each) => (each.is === "[" ? "*" : each.key));
  if (top.is === "{" && !top.isValue) return { path: outer, wants: "key", from: at - word.length, taken: top.taken };
  return { path: [...outer, top.is === "[" ? "*" : top.key], wants: "value", from: at - word.length, taken: [] };
}

function endOfText(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === '"' || text[index] === "\n") return index;
  }
  return text.length;
}
