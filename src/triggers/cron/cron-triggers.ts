import type { Cron } from "croner";
import { toIsoTime } from "../../core/iso-time.ts";
import { type DeliveryParts, deliverMessage } from "../../operations/deliver-message.ts";
import { deriveRunId } from "../../operations/derive-run-id.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Armed } from "../trigger-table.ts";

export interface CronParts extends DeliveryParts {
  readonly clock: Clock;
  failed(workflow: string, error: unknown): void;
}

interface Alarm {
  readonly key: string;
  armed: Armed<"cron">;
  readonly cron: Cron;
  stop(): void;
}

/**
 * Starts workflows on schedule while the process serves. A slot has one run, also where two processes in turn think that
 * it is theirs; slots that pass while nobody serves are gone.
 */
export class CronTriggers {
  readonly #parts: CronParts;
  readonly #alarms = new Map<string, Alarm>();

  constructor(parts: CronParts) {
    this.#parts = parts;
  }

  /** These from now on. One whose schedule is the same keeps its next slot. */
  async arm(all: readonly Armed<"cron">[]): Promise<void> {
    const { Cron } = await import("croner");
    const wanted = new Map(all.map((armed) => [keyOf(armed), armed]));
    for (const [key, alarm] of this.#alarms) {
      const armed = wanted.get(key);
      if (armed !== undefined) alarm.armed = armed;
      else this.#disarm(alarm);
    }
    for (const [key, armed] of wanted) {
      if (this.#alarms.has(key)) continue;
      try {
        this.#armOne(key, armed, Cron);
      } catch (error) {
        this.#parts.failed(armed.target.definition.graph.name, error);
      }
    }
  }

  stop(): void {
    for (const alarm of [...this.#alarms.values()]) this.#disarm(alarm);
  }

  #armOne(key: string, armed: Armed<"cron">, Schedule: typeof Cron): void {
    const { schedule, timezone } = armed.trigger;
    // Without a function to call it only computes.
    const cron = new Schedule(schedule, { timezone, mode: "5-part" });
    const alarm: Alarm = { key, armed, cron, stop: () => undefined };
    this.#alarms.set(key, alarm);
    this.#wait(alarm, this.#parts.clock.now());
  }

  #disarm(alarm: Alarm): void {
    alarm.stop();
    this.#alarms.delete(alarm.key);
  }

  #wait(alarm: Alarm, afterMs: number): void {
    const slot = alarm.cron.nextRun(new Date(afterMs))?.getTime();
    if (slot === undefined) return;
    alarm.stop = this.#parts.clock.wakeAt(slot, () => {
      this.#wait(alarm, Math.max(slot, this.#parts.clock.now()));
      this.#fire(alarm.armed, slot).catch((error: unknown) =>
        this.#parts.failed(alarm.armed.target.definition.graph.name, error),
      );
    });
  }

  async #fire({ target }: Armed<"cron">, slot: number): Promise<void> {
    const scheduledTime = toIsoTime(slot);
    const { name } = target.definition.graph;
    await deliverMessage(this.#parts, {
      targets: [target],
      requestId: deriveRunId("cron", name, scheduledTime),
      requestData: { source: "cron", cronDetails: { jobId: name, scheduledTime } },
      context: {},
      runIdFor: (workflow) => deriveRunId("cron", workflow, scheduledTime),
    });
  }
}

function keyOf({ trigger, target }: Armed<"cron">): string {
  return JSON.stringify([target.definition.graph.name, trigger.schedule, trigger.timezone]);
}
