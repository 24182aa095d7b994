import type { Settings } from "../../config/settings.ts";
import type { RestateCare } from "../../ports/restate-care.ts";
import { createRestateApi, endpointUrlOf } from "./restate-address.ts";

/** `calledAt`: where this process is called. Undefined: others are. */
export function createRestateCare(
  settings: Settings["restate"],
  calledAt: () => Promise<string | undefined>,
): RestateCare {
  const api = createRestateApi(settings, () => undefined);
  return {
    address: settings.url ?? "",

    async register(endpointUrl) {
      const url = endpointUrl ?? settings.endpoint_url ?? (await calledAt()) ?? endpointUrlOf(settings);
      await api.register(url);
      return url;
    },

    isRegistered: () => api.isRegistered(),
    listTroubled: (runId) => api.listTroubled(runId),

    async resumePaused() {
      const paused = (await api.listTroubled()).filter(({ status }) => status === "paused");
      for (const { invocationId } of paused) await api.resume(invocationId);
      return paused.length;
    },
  };
}
