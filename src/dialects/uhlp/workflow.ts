import type { Range } from "../source/source-text.ts";

/** The id of a step, where it is named. */
export interface Reference {
  readonly value: string;
  readonly at: Range;
}

/** Steps that may lead to each other: those of the workflow, or of a block that is written in place. */
export interface LevelOf<Step> {
  readonly startAt: Reference | undefined;
  readonly steps: ReadonlyMap<string, Step>;
  /** What runs where the workflow fails, in place of a step around it. */
  readonly onError?: { readonly owner: Step; readonly block: BlockOf<Step> };
}

/** The steps that run inside a control step: those of the same level from `start` on, or steps of a level of its own. */
export type BlockOf<Step> =
  | { readonly kind: "reference"; readonly start: Reference }
  | { readonly kind: "written"; readonly level: LevelOf<Step> };

export interface NamedBlockOf<Step> {
  readonly name: string;
  /** The place of the name. */
  readonly at: Range;
  readonly block: BlockOf<Step>;
}
