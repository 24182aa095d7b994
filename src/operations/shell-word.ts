/** A text as a shell takes it for one word. Step paths hold brackets, which shells read as patterns. */
export function shellWord(text: string): string {
  return /^[\w:./@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
