import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import type { OutboxRecord } from "../../ports/journal.ts";
import type { Stores } from "../application/ports.ts";
import { addDelivery, type WantedDelivery } from "./add-delivery.ts";

export interface TakeUp {
  readonly kind: "webhook" | "notify";
  /** Entries that cannot be read now: left alone until the next start, and in nobody's way. */
  readonly unreadable: Set<number>;
  read(entry: OutboxRecord): Promise<readonly WantedDelivery[]>;
  failed(error: unknown): void;
}

const PAGE = 100;

/**
 * Makes deliveries of what was committed with runs. An entry is marked done only when its deliveries are durable, and their
 * ids come from the entry: after a crash in between they are the same ones.
 */
export async function takeUpEntries(
  app: Pick<Stores, "records" | "service">,
  { kind, unreadable, read, failed }: TakeUp,
): Promise<void> {
  const { journal } = await app.records();
  for (;;) {
    const limit = PAGE + unreadable.size;
    const entries = await journal.readOutbox({ kind, limit });
    for (const entry of entries) {
      if (unreadable.has(entry.id)) continue;
      const wanted = await read(entry).catch((error: unknown) => {
        // Then the others would fail too.
        if (isStorageFailure(error)) throw error;
        unreadable.add(entry.id);
        failed(error);
      });
      if (wanted === undefined) continue;
      for (const each of wanted) await addDelivery(app, each);
      await journal.finishOutbox([entry.id]);
    }
    if (entries.length < limit) return;
  }
}
