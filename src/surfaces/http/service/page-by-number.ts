import { z } from "zod";
import { offsetQuery } from "../../../operations/schemas.ts";

/** Of a list that is answered whole: for clients that page by number, as those of the original do. */
export const numberedQuery = {
  limit: z.coerce.number().int().min(1).max(200).optional().describe("Absent: the whole list."),
  ...offsetQuery,
};

interface Asked {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** There is no cursor: whoever wants no numbers gets everything at once. */
export function pageByNumber<Item>(items: readonly Item[], { limit = items.length, offset = 0 }: Asked) {
  const countAll = async () => ({ total: items.length, limit, offset });
  return { data: { items: items.slice(offset, offset + limit), next_cursor: null }, countAll };
}
