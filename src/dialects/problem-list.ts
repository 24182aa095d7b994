import { ERRORS, type ErrorCode } from "../core/errors/error-table.ts";
import type { Problem } from "../core/errors/problem.ts";
import type { Definition } from "./definition.ts";
import { isMisspelt } from "./did-you-mean.ts";
import { toExcerpt } from "./source/printable.ts";
import { type Range, SourceText } from "./source/source-text.ts";

export interface Finding {
  readonly code: ErrorCode;
  readonly at: Range;
  readonly message: string;
  /** The table's remedy unless the finder knows a better one. */
  readonly remedy?: string | undefined;
}

interface UnknownKey extends Pick<Finding, "at" | "remedy"> {
  readonly where: string;
  /** The key of the map that it stands in. */
  readonly within?: string | undefined;
}

// A hostile file can hold a hundred thousand mistakes; no author reads more than these.
const MAX_PER_SEVERITY = 200;

/** The text of one definition, and what is wrong with it. */
export class ProblemList {
  readonly source: SourceText;
  readonly #found = new Map<string, { readonly at: Range; readonly problem: Problem }>();
  #errors = 0;
  #warnings = 0;

  readonly #isLenient: boolean;

  constructor(definition: Definition, { isLenient = false }: { readonly isLenient?: boolean } = {}) {
    this.source = new SourceText(definition);
    this.#isLenient = isLenient;
  }

  get hasErrors(): boolean {
    return this.#errors > 0;
  }

  /** How often an error was found, also where it is shown only once. */
  get errorCount(): number {
    return this.#errors;
  }

  error(finding: Finding): void {
    this.#errors += 1;
    if (this.#errors <= MAX_PER_SEVERITY) this.#add("error", finding);
  }

  warning(finding: Finding): void {
    this.#warnings += 1;
    if (this.#warnings <= MAX_PER_SEVERITY) this.#add("warning", finding);
  }

  /** A likely misspelling: the text means something as it stands, and hardly what was meant. */
  slip(finding: Finding): void {
    if (this.#isLenient) this.warning(finding);
    else this.error(finding);
  }

  /** A name that is not known: a slip where a known one is close, else only worth a word. */
  unknown(name: string, known: Iterable<string>, finding: Finding): void {
    if (isMisspelt(name, known)) this.slip(finding);
    else this.warning(finding);
  }

  /** A key that means nothing in `where`, e.g. "in a step". One that guards or guides something is a slip: it would not hold. */
  unknownKey(key: string, known: Iterable<string>, { where, within = "", at, remedy }: UnknownKey): void {
    const lost = restricts(`${within} ${key}`) ? "what it limits" : guides(key) ? "what it asks for" : undefined;
    const isError = !this.#isLenient && (lost !== undefined || isMisspelt(key, known));
    const then = lost !== undefined ? `: ${lost} would not hold` : isError ? "" : " and is ignored";
    const message = `\`${toExcerpt(key)}\` means nothing ${where}${then}.`;
    const finding = { code: "UNKNOWN_KEY", at, message, remedy } as const;
    if (isError) this.error(finding);
    else this.warning(finding);
  }

  /** In the order of their places. */
  toArray(): readonly Problem[] {
    return [...this.#found.values()].sort((a, b) => a.at.start - b.at.start).map((found) => found.problem);
  }

  #add(severity: Problem["severity"], { code, at, message, remedy }: Finding): void {
    const problem = { code, severity, message, remedy: remedy ?? ERRORS[code].remedy, place: this.source.place(at) };
    // A part that YAML aliases repeat would be reported once per repetition, always with the same place.
    this.#found.set(`${code} ${at.start} ${message}`, { at, problem });
  }
}

const LIMITING = toSet(
  "allow allowed allowlist whitelist deny denied denylist blacklist block blocked exclude excluded exclusions disallow disallowed forbid forbidden restrict restricted restrictions only max maximum limit limits limited budget quota cap readonly sandbox sandboxed",
);

/** What workflow languages call that which changes whether, when or how often something runs. */
const GUIDING = toSet(
  "if unless when condition conditions conditional guard guards precondition preconditions skip until while break retry retries retrier retryable attempts backoff catch finally fallback continue ignore tolerate tolerated tolerance concurrency concurrent parallelism debounce throttle delay timeout timeouts deadline ttl expires expiry wait pause gate gates priority queue rate after before once stop halt cron schedule schedules interval repeat times loop foreach each batch parallel race compensate compensation compensations rollback undo approve approval approvals confirm confirmation idempotent idempotency dedupe deduplicate cache cached memoize lock mutex semaphore singleton enabled disabled depends needs requires remind reminder reminders escalate escalation escalations",
);

/** `onError`, `on_failure`: what happens after. `onboarding` is none. */
const HANDLED = toSet(
  "error errors fail failed failure failures timeout cancel exception success complete completed completion skip retry start exit",
);

function toSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** Whether a key forbids or limits something, by its words: `allowed_tools`, `maxCalls`, `exclude_components`. */
export function restricts(key: string): boolean {
  return wordsOf(key).some((word) => LIMITING.has(word));
}

/** Whether a key says whether, when or how often something runs, by its words: `if`, `retryOn`, `onError`, `toleratedFailures`. */
export function guides(key: string): boolean {
  const words = wordsOf(key);
  const [first, second = ""] = words;
  return words.some((word) => GUIDING.has(word)) || (first === "on" && HANDLED.has(second));
}

/** What `restricts` and `guides` find, for JSON Schemas: a word at the beginning or behind another, in small letters or with a capital. */
export function toLostPattern(): string {
  const words = [...LIMITING, ...GUIDING];
  const handled = [...HANDLED].map((word) => `[${word[0]}${word[0]?.toUpperCase()}]${word.slice(1)}`);
  const capital = words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return `(?:(?:^|[^A-Za-z])(?:${words.join("|")})|(?:^|[^A-Z])(?:${capital.join("|")})|^on_?(?:${handled.join("|")}))(?![a-z])`;
}

function wordsOf(key: string): readonly string[] {
  return key
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z]+/);
}
