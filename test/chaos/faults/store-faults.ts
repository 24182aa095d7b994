import type { Fault, SeenRequest } from "../../support/s3-faults.ts";
import type { StoreFault } from "./fault-plan.ts";

/** How long a store that is not consistent at once shows nothing of what it has taken. */
const BLIND_MS = 1_000;

/** What the store does to each request while the fault lasts. */
export function toStoreFault(how: StoreFault): (request: SeenRequest) => Fault | undefined {
  const written = new Map<string, number>();
  let asked = 0;
  return ({ method, path }) => {
    asked += 1;
    switch (how) {
      case "500":
        return { status: 500, code: "InternalError" };
      case "slow":
        return "slow";
      // Every other one: else nobody could be sure of anything before it is over.
      case "no answer":
        return asked % 2 === 0 ? "no answer" : undefined;
      case "answer lost":
        return asked % 2 === 0 ? "answer lost" : undefined;
      case "404 after a write": {
        if (method === "PUT") written.set(path, Date.now());
        const at = written.get(path) ?? 0;
        return method === "GET" && Date.now() - at < BLIND_MS ? { status: 404, code: "NoSuchKey" } : undefined;
      }
    }
  };
}
