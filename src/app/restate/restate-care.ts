import type { Settings } from "../../config/settings.ts";
import { RestateApi } from "../../hosts/restate/restate-api.ts";
import type { RestateCare } from "../../ports/restate-care.ts";

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

const ADMIN_PORT = "9070";
/** As Restate's own examples have it. */
export const DEFAULT_ENDPOINT_PORT = 9080;

/** Where Restate is to call, as far as the settings say. */
function endpointUrlOf({ endpoint_url: url, endpoint_host: host, endpoint_port: port }: Settings["restate"]): string {
  return url ?? `http://${host.includes(":") ? `[${host}]` : host}:${port ?? DEFAULT_ENDPOINT_PORT}`;
}

/** `failed`: something was asked in vain, and is asked again. */
export function createRestateApi(settings: Settings["restate"], failed: (error: unknown) => void): RestateApi {
  const ingressUrl = settings.url ?? "";
  return new RestateApi({
    ingressUrl: withoutSlash(ingressUrl),
    adminUrl: withoutSlash(settings.admin_url ?? toAdminUrl(ingressUrl)),
    service: settings.service,
    token: settings.token,
    maxEntries: settings.max_entries,
    failed,
  });
}

function toAdminUrl(ingressUrl: string): string {
  const url = new URL(ingressUrl);
  url.port = ADMIN_PORT;
  return url.href;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
