import type { Definition } from "../definition.ts";
import { ProblemList } from "../problem-list.ts";
import type { YamlEntry, YamlMap, YamlNode } from "../source/yaml-node.ts";
import { readYaml } from "../source/yaml-source.ts";

/** A Markdown file with settings at its top, between two lines `---`. */
export interface FrontMatter {
  readonly head: YamlMap;
  /** Without the blank lines around it. */
  readonly body: { readonly text: string; readonly start: number; readonly end: number };
  /** The head is no YAML, and was read line by line. */
  readonly isLoose: boolean;
}

/** Whether a text is Markdown, going by its file, and not a definition that is taken out of a page. */
export function isAgentFile({ text, file = "" }: Definition): boolean {
  return file.endsWith(".md") && !/^\s*[{[]/.test(text);
}

/** Undefined: there are no settings at the top. */
export function readFrontMatter({ text }: Definition): FrontMatter | undefined {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?^---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (match === null || match.index !== 0) return undefined;
  const headStart = match[0].indexOf("\n") + 1;
  const head = match[1] ?? "";
  const rest = text.slice(match[0].length);
  const body = rest.trim();
  const start = match[0].length + (body === "" ? 0 : rest.indexOf(body));
  // The first line becomes blank, so that places are those of the whole file.
  const masked = `${" ".repeat(Math.max(0, headStart - 1))}\n${head}`;
  const problems = new ProblemList({ text: masked });
  const node = readYaml(problems);
  const isRead = node?.kind === "map" && !problems.hasErrors;
  return {
    head: isRead ? node : readLoosely(head, headStart),
    body: { text: body, start, end: start + body.length },
    isLoose: !isRead,
  };
}

/**
 * Many such files are not YAML: descriptions hold `: ` without quotes. Those who made the format take the rest of the line
 * after a key, and so do we where nothing else helps.
 */
function readLoosely(head: string, offset: number): YamlMap {
  const entries = new Map<string, YamlEntry>();
  let at = offset;
  for (const line of head.split("\n")) {
    const [, key, gap = "", value] = /^([A-Za-z][\w-]*):([ \t]*)(.*?)\r?$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined && !entries.has(key)) {
      const start = at + key.length + 1 + gap.length;
      entries.set(key, { key: { start: at, end: at + key.length }, value: toScalar(value, start) });
    }
    at += line.length + 1;
  }
  return { kind: "map", start: offset, end: offset + head.length, size: entries.size + 1, entries, inBraces: false };
}

function toScalar(written: string, start: number): YamlNode {
  const [, , quoted] = /^(["'])(.*)\1$/.exec(written.trim()) ?? [];
  const value = quoted ?? written.trim();
  return {
    kind: "scalar",
    start,
    end: start + written.length,
    size: 1,
    value: value === "" ? null : value,
    written: value,
  };
}
