import { decodeSegment } from "../../operations/triggers/path-pattern.ts";

/** Below it each tenant has a folder for the routes of what it has saved. */
export const TENANT_ROUTES = "/tenant-routes/{tenant}";

/** `path` as it stands in the URL. Whose it is, and the path as the tenant's definitions know it. */
export function splitTenantPath(path: string): { readonly tenantId?: string; readonly path: string } {
  const [, segment = "", rest = "/"] = /^\/tenant-routes\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  const tenantId = decodeSegment(segment);
  return tenantId === undefined || tenantId === "" ? { path } : { tenantId, path: rest };
}

/** Cookies of a browser are for the whole origin, which tenants share with the application and with one another. */
export function withoutCookies(request: Request): Pick<Request, "method" | "url" | "headers"> {
  const headers = new Headers(request.headers);
  headers.delete("cookie");
  return { method: request.method, url: request.url, headers };
}

/** A tenant's answer sets no cookies and runs no scripts: browsers would take both for those of everybody at this origin. */
export function isolate(headers: Headers): void {
  headers.delete("set-cookie");
  headers.set("content-security-policy", "sandbox; frame-ancestors 'none'");
  for (const name of FOR_THE_ORIGIN) headers.delete(name);
}

const FOR_THE_ORIGIN = ["clear-site-data", "strict-transport-security", "service-worker-allowed", "alt-svc"];
