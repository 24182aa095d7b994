import { describeHealth } from "../../../../operations/service/check-health.ts";
import type { Asked } from "../serve-operation.ts";

/** 200 also where a part is in trouble, for the service answers. `status` is at the top as well, where monitors of the original look. */
export async function serveHealth({ parts, c }: Asked): Promise<Response> {
  const data = await describeHealth(parts.app);
  return c.json({ status: data.status, data, error: null });
}
