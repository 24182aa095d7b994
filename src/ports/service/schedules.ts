import type { CronSettings } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Grant } from "../../core/trust/grant.ts";

/**
 * Schedules, and the outcome of each of their slots. A slot is a time that a cron expression names; a run belongs to
 * exactly one. Every process may change schedules, and several may fire them.
 */
export interface Schedules {
  /** Durable when it resolves. False if the id is taken. */
  add(schedule: StoredSchedule): Promise<boolean>;
  find(id: string): Promise<StoredSchedule | undefined>;
  /** Oldest first. */
  list(options: { readonly tenantId?: string; readonly workflow?: string }): Promise<readonly StoredSchedule[]>;
  /** False if it is gone or has another version; then nothing has changed. */
  edit(id: string, edit: ScheduleEdit): Promise<boolean>;
  /** Removes its slots too. False if there is none. */
  remove(id: string): Promise<boolean>;
  /** Enabled schedules whose next slot is due. */
  listDue(now: number): Promise<readonly StoredSchedule[]>;
  nextDueAt(): Promise<number | undefined>;
  /** All or nothing. False if the schedule has changed meanwhile, or another process was faster. */
  claim(id: string, claim: SlotClaim): Promise<boolean>;
  addSlots(id: string, slots: readonly NewSlot[]): Promise<void>;
  /** Slots whose run has not been started yet: by schedule, oldest first. */
  listPending(): Promise<readonly SlotRecord[]>;
  /** Started slots whose run is not known to have ended. */
  listRunning(id: string): Promise<readonly SlotRecord[]>;
  /**
   * A slot that has been started becomes the schedule's last run. It stays started: of two processes that decide at once the one
   * that has started the run is right.
   */
  settle(seq: number, outcome: SlotOutcome): Promise<void>;
  /** The runs of these slots have ended. */
  finish(seqs: readonly number[]): Promise<void>;
  /** Newest first. */
  listSlots(id: string, page: SlotPage): Promise<readonly SlotRecord[]>;
  countSlots(id: string): Promise<number>;
  /** Calls back after every change that is made through this object. */
  watch(changed: () => void): () => void;
  /** Whether another process may have written since this was asked last. */
  hasChangedElsewhere(): Promise<boolean>;
}

/** What is said when a schedule is made, and can be changed later. */
export interface ScheduleSettings extends Required<CronSettings> {
  readonly cron: string;
  /** IANA. */
  readonly timezone: string;
  readonly notify?: JsonObject;
  readonly enabled: boolean;
  readonly jitterSeconds: number;
}

export interface StoredSchedule extends ScheduleSettings {
  readonly id: string;
  readonly workflow: string;
  readonly disabledReason?: DisabledReason;
  /** `definition`: it follows the file of its workflow. `saved`: it follows a definition saved through the service. */
  readonly source: "api" | "definition" | "saved";
  readonly tenantId?: string;
  /** The settings that its definition says: nobody else changes them. */
  readonly says?: CronSettings;
  /** The most that one of its runs may cost, in integer micro-dollars. */
  readonly maxCostMicro?: number;
  /** The tenant of its maker. */
  readonly grant?: Grant;
  /** Who has made it. Absent: the operator, or a definition. */
  readonly requestedBy?: string;
  readonly lastRunId?: string;
  /** The next slot. It stays while the schedule is disabled, so that missed slots can be counted. */
  readonly nextFireAt?: number;
  /** The slot with its jitter. */
  readonly dueAt?: number;
  /** Counts edits. */
  readonly version: number;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

type DisabledReason = "paused" | "definition_removed";

/** Fields that change with the settings. */
type Following = "disabledReason" | "requestedBy" | "says" | "maxCostMicro" | "grant" | "nextFireAt" | "dueAt";

/** `null` clears a field that may be missing. */
export type Changes<Item> = {
  readonly [Field in keyof Item]?: undefined extends Item[Field] ? Item[Field] | null : Item[Field];
};

export interface ScheduleEdit {
  readonly version: number;
  readonly at: number;
  readonly changes: Changes<ScheduleSettings & Pick<StoredSchedule, Following>>;
  /** Recorded in the same commit. */
  readonly slots?: readonly NewSlot[];
}

export interface SlotClaim {
  /** The schedule as the caller has read it. */
  readonly version: number;
  readonly fromFireAt: number;
  readonly nextFireAt: number | undefined;
  readonly dueAt: number | undefined;
  readonly slots: readonly NewSlot[];
}

/** `manual`: a person asked for the run. `change`: not a slot, but the reason why none come any more, with its time. */
type SlotKind = "cron" | "manual" | "change";

export interface NewSlot {
  readonly slot: number;
  readonly kind: SlotKind;
  readonly outcome: SlotOutcome;
  /** Several slots in a row that were skipped for one reason: the last one, and how many (at least). */
  readonly lastSlot?: number;
  readonly count?: number;
  readonly at: number;
}

export type SkipReason = "overlap" | "queue_full" | "disabled" | "missed" | "definition_removed" | "refused";

/** `claimed`: its run will be started, whatever happens; `queued`: when the one before has ended. */
export type SlotOutcome =
  | { readonly state: "claimed" }
  | { readonly state: "queued" }
  | { readonly state: "started"; readonly runId: string }
  | { readonly state: "skipped"; readonly reason: SkipReason; readonly message?: string };

export interface SlotRecord extends NewSlot {
  readonly seq: number;
  readonly scheduleId: string;
}

interface SlotPage {
  readonly limit: number;
  /** Only those with a smaller number. */
  readonly beforeSeq?: number;
  readonly offset?: number;
}
