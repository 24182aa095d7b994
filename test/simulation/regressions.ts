import type { Drawn } from "./properties.ts";

/** Runs on which a property once failed, with what was wrong. */
export const REGRESSIONS: readonly (Drawn & { readonly because: string })[] = [
  { seed: 10111, size: 4, because: "the result of a fanned-out respond step was that of the item that ended last" },
];
