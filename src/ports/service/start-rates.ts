import type { RunSlot } from "../../core/history/events.ts";

interface SlotWish {
  readonly key: string;
  /** So many slots at most lie within `perMs`, whenever that begins. */
  readonly limit: number;
  readonly perMs: number;
  /** Whether a later slot is taken where none is free now. */
  readonly waits: boolean;
}

/**
 * The slots in which runs of one key begin. By as much as a run is late all slots of its key are later: those behind it keep their order
 * and their distance, also after a time in which no process was there. What a call has done is durable when it
 * resolves; a slot whose run is never started, or cancelled, stays empty.
 */
export interface StartRates {
  /** Undefined: none is free now, and none was taken. */
  take(wish: SlotWish, now: number): Promise<(RunSlot & { readonly startsAt: number }) | undefined>;
  /** The run may begin now. Otherwise: when it is asked again. */
  pass(slot: RunSlot, now: number): Promise<number | undefined>;
}
