import type { Application } from "../application/application.ts";
import type { EventFeed, StreamedEvent } from "./event-feed.ts";

/** Follows all runs that the caller may see. See `EventFeed.follow`. */
export function streamEvents(
  app: Pick<Application, "tenantId">,
  feed: EventFeed,
  after: string | undefined,
  stop: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  return feed.follow({ tenantId: app.tenantId, after }, stop);
}
