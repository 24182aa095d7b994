import type { Language } from "../definition.ts";
import { suggest } from "../did-you-mean.ts";

/** Where functions may come from that the text does not name, or the name be read by a program. */
const UNCERTAIN: { readonly [kind in "python" | "javascript"]: RegExp } = {
  python:
    /\bimport\s*\*|\bargv\b|\b(?:argparse|click|typer|fire|runpy)\b|\bstdin\b|\bfileinput\b|\binput\s*\(|\b(?:globals|locals|vars|setattr|exec|eval)\s*\(|\b__getattr__\b|\bsys\.modules\b|\bopen\(\s*0\b/,
  javascript:
    /\bexport\s*[*=]|\bargv\b|\bstdin\b|\bparseArgs\b|\breadFileSync\(\s*0\b|\bexports\s*\[|\bmodule\.exports\s*=\s*(?!\{[^}.]*\})|\b(?:assign|defineProperty|defineProperties)\s*\(\s*(?:module\.)?exports\b/,
};

const DEFINITIONS: { readonly [kind in "python" | "javascript"]: RegExp } = {
  python: /^(?:async\s+)?(?:def|class)\s+([\p{ID_Start}_][\p{ID_Continue}]*)/gmu,
  javascript:
    /(?:^|;)\s*export\s+(?:async\s+)?(?:function\s*\*?|const|let|var|class)\s+([\p{ID_Start}_$][\p{ID_Continue}$]*)/gmu,
};

/**
 * Says why a script cannot have a function: its name is no word of the text, and nothing there could bring it. Undefined:
 * it has it, or it cannot be told without running it.
 */
export function findMissingFunction(
  { language, name }: { readonly language: Language; readonly name: string },
  text: string,
): { readonly remedy: string | undefined } | undefined {
  const kind = language === "python" ? "python" : "javascript";
  const [wanted = name] = name.split(".");
  if (UNCERTAIN[kind].test(text) || wordsOf(text).has(wanted)) return undefined;
  const defined = [...text.matchAll(DEFINITIONS[kind])].flatMap(([, found]) => found ?? []);
  const listed = defined.length === 0 ? undefined : `It has ${defined.map((each) => `\`${each}\``).join(", ")}.`;
  return { remedy: suggest(name, defined) ?? listed };
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\p{ID_Start}_$][\p{ID_Continue}$]*/gu) ?? []);
}
