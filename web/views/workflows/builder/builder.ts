export type Fields = Readonly<Record<string, unknown>>;

export interface BuiltStep {
  readonly id: string;
  readonly path: readonly (string | number)[];
  readonly fields: Fields;
}

/** From one step to another. */
export interface Link {
  /** One of the dialect's ways to say when. */
  readonly when: string;
  /** For a way that wants words: an expression, a pattern. */
  readonly words?: string;
  readonly to: string;
  /** What the form cannot say stays as it is written. */
  readonly raw?: unknown;
}

/** How the steps of a dialect are written. Every change gives the text with that change alone. */
export interface Builder {
  /** Where the published schema describes a step. */
  readonly schemaPath: readonly string[];
  /** Kinds of steps, each with the fields that make a new one valid. */
  readonly kinds: readonly { readonly name: string; readonly words: string; readonly fields: (id: string) => Fields }[];
  /** Fields that have their own place in the form. */
  readonly hidden: readonly string[];
  /** Fields that are shown before they are added. */
  readonly usual: readonly string[];
  readonly linksTitle: string;
  readonly ways: readonly { readonly when: string; readonly words: string; readonly wants?: string }[];
  readSteps(text: string): readonly BuiltStep[];
  toId(number: number): string;
  /** `behind`: the step that it comes after. */
  addStep(
    text: string,
    step: { readonly id: string; readonly fields: Fields; readonly behind: BuiltStep | undefined },
  ): string;
  readLinks(step: BuiltStep): readonly Link[];
  writeLinks(text: string, step: BuiltStep, links: readonly Link[]): string;
}

/** What is no object has no fields. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
