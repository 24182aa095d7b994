import { PawlError } from "../../core/errors/pawl-error.ts";
import { viewOf } from "../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Progress } from "../../ports/executor.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { filesOfTenant } from "../tenant-files.ts";
import type { Flight, FlightControl } from "./flight.ts";
import { LiveText, type PieceMask } from "./live-text.ts";
import { maskJson } from "./mask-json.ts";
import type { OutputPolicies } from "./policies/output-policies.ts";
import { toStoredValue, type ValueWriter } from "./to-value.ts";

export interface FlightDeskParts {
  readonly clock: Clock;
  /** Where what steps produce becomes artifacts. */
  readonly files: FileStorage;
  readonly writer: ValueWriter;
  /** For each text that comes in pieces. */
  maskPieces(): PieceMask;
  /** Of what steps bring. */
  readonly policies: OutputPolicies;
}

const MAX_LOG_ENTRIES = 10_000;

/** What an executor may ask for while it works: to tell how far it is, to keep records, and the files of its run. */
export class FlightDesk implements FlightControl {
  readonly #parts: FlightDeskParts;

  constructor(parts: FlightDeskParts) {
    this.#parts = parts;
  }

  filesFor({ driver }: Flight): FileStorage {
    return filesOfTenant(this.#parts.files, driver.tenantId);
  }

  emit(flight: Flight, progress: Progress): void {
    const { driver, path, attempt } = flight;
    if (flight.isAbandoned) return;
    if (progress.type === "cost") {
      flight.reportedMicro += progress.costMicro;
      driver.apply({ type: "costReported", at: this.#parts.clock.now(), path, attempt, costMicro: progress.costMicro });
      return;
    }
    if (progress.type === "call") return driver.noteCall({ ...progress.call, path, attempt });
    if (progress.type === "live") return this.#showLive(flight, progress.event);
    flight.log ??= [];
    const event = this.#parts.policies.clean(flight, progress.event);
    if (flight.log.length < MAX_LOG_ENTRIES) flight.log.push(event);
    if (driver.isWatched) driver.notify({ type: "progress", path, attempt, event: this.#masked(event) });
  }

  /** Nobody watches: nothing is kept for whoever comes later. */
  #showLive(flight: Flight, event: JsonObject): void {
    const { driver, path, attempt } = flight;
    // Text that comes in pieces cannot be searched.
    if (!driver.isWatched || this.#parts.policies.redacts(flight)) return;
    const { writer, maskPieces } = this.#parts;
    flight.live ??= new LiveText({ whole: (text) => writer.mask(text), text: maskPieces() }, (shown) =>
      driver.notify({ type: "live", path, attempt, event: shown }),
    );
    flight.live.show(event);
  }

  #masked(event: Json): Json {
    return maskJson(event, (text) => this.#parts.writer.mask(text)).value;
  }

  async record(flight: Flight, key: string, value: Json): Promise<void> {
    const { driver, path, attempt } = flight;
    const stored = await toStoredValue(this.#parts.policies.clean(flight, value), this.#parts.writer);
    if (stored === "too large") {
      throw new PawlError("OUTPUT_TOO_LARGE", { message: `The record "${key}" of "${path}" is too large.` });
    }
    if (driver.isDiscarded) throw new PawlError("OWNER_GONE", { message: `"${path}" is no longer driven here.` });
    driver.apply({ type: "stepRecorded", at: this.#parts.clock.now(), path, attempt, key }, stored.stored);
    await driver.durable();
  }

  async recorded({ driver, instance }: Flight, key: string): Promise<Json | undefined> {
    const seq = instance.records?.get(key);
    if (seq === undefined) return undefined;
    const values = await driver.values.load(viewOf(instance), [], new Set([seq]));
    return values.value(seq);
  }
}
