import type { Application } from "../application/application.ts";
import type { EventFeed, StreamedEvent } from "./event-feed.ts";

/** What happens in all runs that the caller may see, as `EventFeed.follow` tells it. */
export function streamEvents(
  app: Pick<Application, "tenantId">,
  feed: EventFeed,
  after: string | undefined,
  stop: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  return feed.follow({ tenantId: app.tenantId, after }, stop);
}
