/** Clients over stdio take messages of 10 MB, and a result is in one twice, once as an escaped text. */
const MAX_CHARACTERS = 2_000_000;

/** The first of several forms of a result, the fullest first, that clients take; the last one whatever its length. */
export async function fitResult(forms: readonly (() => Promise<object>)[]): Promise<object> {
  const [form, ...rest] = forms;
  if (form === undefined) return {};
  const result = await form();
  return rest.length === 0 || JSON.stringify(result).length <= MAX_CHARACTERS ? result : fitResult(rest);
}

export const SHORTENED = "Too long for one answer. The CLI shows all of it: pawl runs show RUN_ID --json";

/** A list cut off where clients would not take more of it. */
export function fitItems<Item>(items: readonly Item[]): { readonly items: readonly Item[]; readonly left_out: number } {
  let length = 0;
  const fitting = items.filter((item) => {
    length += JSON.stringify(item).length;
    return length <= MAX_CHARACTERS;
  });
  return { items: fitting, left_out: items.length - fitting.length };
}
