import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { eventKey, fieldOf, matchedSignal, toSentKey } from "../../core/graph/event-match.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { JsonObject } from "../../core/json.ts";
import { maskJson } from "../../hosts/session/values/mask-json.ts";
import type { Claim, PublishedEvent } from "../../ports/service/published-events.ts";
import type { Driving, Place, Principal, Stores } from "../application/ports.ts";

type Publishing = Pick<Place, "clock" | "config" | "mask"> & Stores & Driving;

/** An event by what runs may find it. */
export interface Publication {
  readonly id: string;
  readonly name: string;
  readonly keys: readonly string[];
  readonly payload: JsonObject;
}

/** What an event of hostile length would take is bounded. */
const MOST_CHARACTERS = 64 * 1024;

/**
 * `fields`: by which fields runs may wait for it. Undefined: the payload has none of them, and `isTrigger`. Else throws
 * `EVENT_UNMATCHED`; and `BODY_TOO_LARGE`.
 */
export function toPublication(
  app: Pick<Place, "mask">,
  event: Pick<Publication, "id" | "name" | "payload"> & {
    readonly fields: readonly (readonly string[])[];
    readonly isTrigger: boolean;
  },
): Publication | undefined {
  const { id, name, payload, fields, isTrigger } = event;
  const found = fields.map((each) => eventKey(each, (field) => fieldOf(payload, field)));
  const keys = [...new Set(found.filter((key) => key !== undefined))];
  if (keys.length === 0) {
    if (isTrigger) return undefined;
    const wanted = new Set(fields.map((each) => each.map((field) => `\`${field}\``).join(" and ")));
    const message = `Runs wait for the event "${name}" by ${[...wanted].join(", or ")} of its payload.`;
    throw new PawlError("EVENT_UNMATCHED", { message });
  }
  const { text, value } = maskJson(payload, (plain) => app.mask(plain));
  if (text.length <= MOST_CHARACTERS) return { id, name, keys, payload: value };
  const message = `The payload of an event that runs wait for has at most ${MOST_CHARACTERS} characters.`;
  throw new PawlError("BODY_TOO_LARGE", { message });
}

/** The run that has the event, or until when it is kept for one. */
export interface Published {
  readonly run_id: string | null;
  readonly kept_until: string | null;
}

/**
 * Gives an event to the run that has waited longest for it, or keeps it for one that will wait: to one run, once, whatever happens.
 * One that is known by its id is not given again. Throws `EVENTS_FULL`.
 */
export async function publishEvent(
  app: Publishing & Principal,
  { keys, ...published }: Publication,
): Promise<Published> {
  const { events } = await app.service();
  const { keep_ms: keepMs, max_kept: most } = app.config.settings.events;
  const at = app.clock.now();
  const event = { ...published, tenantId: app.tenantId, at, expiresAt: at + keepMs };
  if (await events.add({ ...event, keys, most })) return offer(app, event);
  const known = await events.find(event.id);
  if (known?.state === "open") return offer(app, known);
  return known?.state === "kept" ? keptUntil(known) : givenTo(known?.claim);
}

type Offered = Pick<PublishedEvent, "id" | "name" | "tenantId" | "payload" | "expiresAt">;

/** Until a wait takes it, or there is none. */
async function offer(app: Publishing, event: Offered): Promise<Published> {
  const { events } = await app.service();
  for (;;) {
    const wait = await events.findWait(event);
    if (wait === undefined) {
      await events.keep(event.id);
      return keptUntil(event);
    }
    // A wait that has begun meanwhile may have claimed it.
    if (!(await events.claim(event.id, wait, app.clock.now()))) return givenTo((await events.find(event.id))?.claim);
    if (await deliver(app, event, wait)) return givenTo(wait);
  }
}

function keptUntil({ expiresAt }: Offered): Published {
  return { run_id: null, kept_until: toIsoTime(expiresAt) };
}

function givenTo(claim: Claim | undefined): Published {
  return { run_id: claim?.runId ?? null, kept_until: null };
}

const IS_OVER = new Set(["EVENT_NOT_AWAITED", "RUN_FINISHED", "RUN_NOT_FOUND"]);

/** False: the wait is over. The event's id is what the run knows it by, so that it may be sent again after a crash. */
async function deliver(app: Publishing, event: Offered, wait: Claim): Promise<boolean> {
  const { events } = await app.service();
  const { runId, path, key } = wait;
  const name = matchedSignal(event.name, key);
  try {
    const { payload } = event;
    await (await app.host()).request(runId, { type: "signal", name, payload, key: toSentKey(event.id), path });
  } catch (error) {
    if (!isPawlError(error) || !IS_OVER.has(error.code)) throw error;
    await events.giveBack(event.id, wait, app.clock.now());
    return false;
  }
  await events.settle(event.id, app.clock.now());
  return true;
}

const UNSETTLED_MS = 10_000;
const PAGE = 100;

/** Goes on with what a process that has died had begun to give, and removes what nobody has waited for in time. */
export async function settleEvents(app: Publishing): Promise<void> {
  const { events } = await app.service();
  const now = app.clock.now();
  for (const event of await events.listUnsettled(now - UNSETTLED_MS, PAGE)) {
    const { claim } = event;
    if (claim === undefined || !(await deliver(app, event, claim))) await offer(app, event);
  }
  await events.forget(now);
}
