import type { PawlClient } from "../../client/pawl-client.ts";
import type { Application } from "../../operations/application/application.ts";
import { parseInput } from "../../operations/fields.ts";
import type { Operation } from "../../operations/operation.ts";
import { RequestRunner, type RunningHost } from "../../operations/requests/request-runner.ts";
import { Submissions } from "../../operations/start/submit-run.ts";

/** Does operations for a verb: here, or at a server. Both answer alike. */
export interface Caller {
  /** Throws `PawlError`, and `ApiError` where a server refuses. */
  call(operation: Operation, given: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Runs that a verb starts go on in a process in the background. */
export function callHere(app: Application): Caller {
  const host: RunningHost = {
    startRun: async (start) => (await app.backgroundHost()).startRun(start),
    settled: async (runId) => (await app.backgroundHost()).settled(runId),
    watch: () => () => undefined,
  };
  const submissions = new Submissions(new RequestRunner(app, host, { maxInFlight: 1 }));
  return {
    async call(operation, given) {
      const input = parseInput(operation.input, given);
      const output: unknown = await operation.handle({ app, by: "cli", submissions }, input);
      // As it would come over a wire: without fields that have no value.
      return output instanceof Uint8Array ? output : (JSON.parse(JSON.stringify(output)) as unknown);
    },
  };
}

export function callServer(client: PawlClient): Caller {
  return {
    async call({ id, http }, given) {
      if ("no" in http) throw new Error(`The operation ${id} is not to be had over HTTP.`);
      return client.send(`${http.method} ${http.path}`, given);
    },
  };
}
