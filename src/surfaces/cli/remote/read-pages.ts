export interface Page {
  readonly limit: number;
  readonly cursor?: string;
}

interface Items<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** The most that a server lists at a time. */
const MAX_PAGE = 200;

/** So many items of a list, in as many pages as they take. */
export async function readPages<Item>(
  limit: number,
  ask: (page: Page) => Promise<Items<Item>>,
  first?: string,
): Promise<Items<Item>> {
  const items: Item[] = [];
  let cursor: string | null | undefined = first;
  do {
    const page: Items<Item> = await ask({ limit: Math.min(MAX_PAGE, limit - items.length), cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < limit);
  return { items, next_cursor: cursor };
}
