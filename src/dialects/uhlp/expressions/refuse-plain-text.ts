import { didYouMean } from "../../did-you-mean.ts";
import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, toFault } from "./expression-fault.ts";
import type { ExpressionScope } from "./expression-scope.ts";
import { FUNCTIONS } from "./functions.ts";
import { visibleRoots } from "./resolve-path.ts";

/** For a text that is no expression: a fault if it looks as if it was meant as it stands, e.g. `application/json`. */
export function refusePlainText(text: string, scope: ExpressionScope): ExpressionFault | undefined {
  const trimmed = text.trim();
  if (!URL_LIKE.test(trimmed) && !isPlain(trimmed, scope)) return undefined;
  const start = text.indexOf(trimmed);
  const written = toExcerpt(trimmed);
  const message = `\`${written}\` is neither a path nor a value.`;
  // YAML takes one pair of quotes away.
  const remedy = `Write text in single quotes inside of double ones: \`"'${written}'"\`.`;
  return toFault({ start, end: start + trimmed.length }, { message, remedy });
}

const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\/[^\s'"`]+$/i;
const NUMBER_LIKE = /^-?[0-9.]+(?:e[+-]?[0-9]+)?$/i;
/** Operators, brackets and quotes: somebody has tried to write an expression. */
const HAS_SIGNS = /['"`()[\]{}<>=!&|]|\s[-+*/%?]\s|\s(?:and|or|not)\s/i;

function isPlain(text: string, scope: ExpressionScope): boolean {
  const word = /^[/@#~]?([\p{L}\p{N}_-]+)/u.exec(text)?.[1];
  if (word === undefined || HAS_SIGNS.test(text) || NUMBER_LIKE.test(text)) return false;
  const names = [...visibleRoots(scope), ...OTHER_WORDS, ...FUNCTIONS.keys()];
  return !names.includes(word) && didYouMean(word, names) === undefined;
}

/** Literals, roots that are not visible here, and words that mean something elsewhere. */
const OTHER_WORDS = [
  ...["true", "false", "null", "undefined", "None", "nil", "not", "this"],
  ...["input", "step", "error", "item", "index", "output"],
];
