const OPENING = /^\s*(`{3,}|~{3,})\s*[\w+.-]*\s*$/;
const ONE_LINE = /^(`{3,})(?:json)?[ \t]*([^`\r\n]*?)[ \t]*\1$/i;

/** The text without the Markdown fence that stands around the whole of it, if one does. */
export function removeFence(text: string): string {
  const trimmed = text.trim();
  const oneLine = ONE_LINE.exec(trimmed)?.[2];
  if (oneLine !== undefined) return oneLine;
  const lines = trimmed.split(/\r\n|\n|\r/);
  const block = readBlock(lines, 0);
  return block !== undefined && block.next >= lines.length ? block.content : trimmed;
}

/** The contents of all fenced blocks, in order. The last one may be unclosed: answers are cut off there. */
export function* fencedBlocks(text: string): Generator<string> {
  const lines = text.split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length; ) {
    const block = readBlock(lines, at);
    if (block !== undefined) yield block.content;
    at = block?.next ?? at + 1;
  }
}

function readBlock(
  lines: readonly string[],
  at: number,
): { readonly content: string; readonly next: number } | undefined {
  const fence = OPENING.exec(lines[at] ?? "")?.[1];
  if (fence === undefined) return undefined;
  const closing = lines.findIndex((line, index) => index > at && line.trim() === fence);
  const end = closing === -1 ? lines.length : closing;
  return {
    content: lines
      .slice(at + 1, end)
      .join("\n")
      .trim(),
    next: end + 1,
  };
}
