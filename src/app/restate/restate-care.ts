import type { Settings } from "../../config/settings.ts";
import type { RestateCare } from "../../ports/restate-care.ts";
import { createRestateApi, endpointUrlOf } from "./restate-address.ts";

export function createRestateCare(settings: Settings["restate"]): RestateCare {
  const api = createRestateApi(settings, () => undefined);
  return {
    address: settings.url ?? "",

    async register(endpointUrl = endpointUrlOf(settings)) {
      await api.register(endpointUrl);
      return endpointUrl;
    },

    isRegistered: () => api.isRegistered(),
    listTroubled: (selection) => api.listTroubled(selection),
    resume: (stopped) => api.resume(stopped),
  };
}
