/** Works on all of them, so many at a time. Rejects with the first failure when all have come to rest. */
export async function sideBySide<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  const workThrough = async () => {
    for (const item of left) await work(item);
  };
  const workers = Array.from({ length: Math.min(width, items.length) }, workThrough);
  const broken = (await Promise.allSettled(workers)).find((settled) => settled.status === "rejected");
  if (broken !== undefined) throw broken.reason;
}
