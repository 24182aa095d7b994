import type { NewDelivery } from "../../ports/service/deliveries.ts";
import { showSlackUrl } from "../schedules/schedule-notify.ts";
import { showUrl } from "./show-url.ts";

/** The receiver of a message, as people may see it. */
export function showReceiver(
  { channel, url }: Pick<NewDelivery, "channel" | "url">,
  mask: (text: string) => string,
): string {
  return channel === "slack" ? showSlackUrl(url) : showUrl(url, mask);
}
