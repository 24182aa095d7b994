/** A rule for a task's output, applied before the output is recorded. */
export interface Policy {
  readonly id: string;
  readonly when: PolicyTrigger;
  readonly action: "redact" | "block" | "approve" | "alert";
  /** Replaces a match. Absent: `[KIND]`. */
  readonly replacement?: string;
  /** The webhook for alerts. Raw URL, `${NAME}` unresolved. Absent: the webhook of the run's end. */
  readonly webhook?: string;
}

/** Everything that is named must hold; of the patterns and texts one is enough. */
export interface PolicyTrigger {
  readonly patterns?: readonly PolicyPattern[];
  /** Texts, in whatever case. */
  readonly contains?: readonly string[];
  /** Integer micro-dollars. An unknown cost is over it. */
  readonly costOverMicro?: number;
  readonly tokensOver?: number;
  /** Characters of a text, of anything else as JSON. */
  readonly lengthOver?: number;
}

export type BuiltInPattern = "email" | "phone" | "card" | "secret";

export type PolicyPattern =
  | { readonly kind: BuiltInPattern }
  /** In the syntax of RE2. The host searches in linear time. */
  | { readonly kind: "regex"; readonly name: string; readonly pattern: string };

/** A match as it is recorded: never the text itself. */
export interface PolicyDecision {
  readonly policy: string;
  readonly action: Policy["action"];
  /** How often, by kind of pattern. */
  readonly found?: { readonly [kind: string]: number };
  /** In words. */
  readonly why: string;
}
