import type { Apply } from "../functions/builtin.ts";
import { htmlFilters } from "./html-filters.ts";
import { listFilters } from "./list-filters.ts";
import { moreFilters } from "./more-filters.ts";
import { numberFilters } from "./number-filters.ts";
import { selectFilters } from "./select-filters.ts";
import { textFilters } from "./text-filters.ts";

/** What stands behind `|`. */
export const filters: ReadonlyMap<string, Apply> = new Map([
  ...textFilters,
  ...htmlFilters,
  ...numberFilters,
  ...listFilters,
  ...selectFilters,
  ...moreFilters,
]);
