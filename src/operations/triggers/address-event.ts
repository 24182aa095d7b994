import { PawlError } from "../../core/errors/pawl-error.ts";
import { asObject, type Json } from "../../core/json.ts";
import type { Place, Principal, Stores } from "../application/ports.ts";
import { deriveRunId } from "../start/derive-run-id.ts";
import type { Delivery } from "./deliver-message.ts";
import { type Publication, toPublication } from "./publish-event.ts";
import { nameOf, type TriggerTable } from "./trigger-table.ts";

/** An event that a client or a step sends. */
export interface SentEvent {
  /** The application that it comes from. */
  readonly sourceAppId?: string | undefined;
  readonly payload: Json;
}

/** Whom a message is for: runs that it starts, and beside that one that waits for it. */
export type Message = Pick<Delivery, "targets" | "requestData" | "runIdFor"> & {
  readonly publication?: Publication | undefined;
};

/**
 * Finds whom an event of this name is for. The message of one is made of the id that it has whenever it is sent. Throws `EVENT_UNKNOWN`; the
 * message `EVENT_UNMATCHED`, `BODY_TOO_LARGE`.
 */
export async function addressEvent(
  app: Pick<Place, "mask"> & Principal & Pick<Stores, "service">,
  { events, awaited }: Pick<TriggerTable, "events" | "awaited">,
  name: string,
): Promise<(event: SentEvent) => (messageId: string) => Message> {
  const { tenantId } = app;
  // Runs may wait for it in another way than their workflow does today.
  const waiting = await (await app.service()).events.listFields({ tenantId, name });
  const fields = [...(awaited.get(name) ?? []), ...waiting];
  const armed = events.get(name) ?? [];
  if (armed.length === 0 && fields.length === 0) {
    const message = `No workflow is triggered by the event "${name}", and none waits for it by its fields.`;
    throw new PawlError("EVENT_UNKNOWN", { message });
  }
  return ({ sourceAppId, payload }) => {
    const isMeant = (wanted: string | undefined) => wanted === undefined || wanted === sourceAppId;
    const triggerDetails = { ...(sourceAppId === undefined ? {} : { sourceAppId }), triggerEvent: name, payload };
    // Of several triggers of one workflow the first that means it starts the run.
    const meant = armed.filter(({ trigger }) => isMeant(trigger.sourceAppId));
    const targets = meant
      .filter(({ target }, index) => meant.findIndex((each) => each.target === target) === index)
      .map(({ target, trigger }) => ({ ...target, ...nameOf(trigger) }));
    const event = { name, payload: asObject(payload), fields, isTrigger: targets.length > 0 };
    return (messageId) => {
      const idFor = (to: string) => deriveRunId("event", ...namespaceOf(app), name, sourceAppId ?? "", messageId, to);
      return {
        targets,
        requestData: { source: "trigger", triggerDetails },
        runIdFor: idFor,
        publication: fields.length === 0 ? undefined : toPublication(app, { ...event, id: idFor("") }),
      };
    };
  };
}

/** Tenants number their messages each for itself. */
export function namespaceOf({ tenantId }: Principal): readonly string[] {
  return tenantId === undefined ? [] : [tenantId];
}
