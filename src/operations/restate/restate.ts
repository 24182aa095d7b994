import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { RestateCare } from "../../ports/restate-care.ts";
import type { Care, Stores } from "../application/ports.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { listTroubledRuns } from "./troubled-runs.ts";

const FOR_OPERATORS = { no: "It is for who runs the processes: it works on the Restate server that drives the runs." };

export const registerEndpoint = defineOperation({
  id: "registerEndpoint",
  summary: "Tell Restate where it reaches the workers",
  scope: "admin",
  effect: { does: "writes", again: true, beyond: true },
  input: z.strictObject({
    endpoint_url: z
      .url()
      .optional()
      .describe(
        "As Restate reaches it. Absent: `restate.endpoint_url`, or where the endpoint listens by the settings.",
      ),
  }),
  output: z.object({ endpoint_url: z.string(), restate: z.string().describe("The address of its ingress.") }),
  errors: ["CONFIG_INVALID", "RESTATE_UNREACHABLE", "RESTATE_REFUSED"],
  http: FOR_OPERATORS,
  cli: {
    verb: "restate register",
    args: ["endpoint_url"],
    optional: ["endpoint_url"],
    show: ({ endpoint_url, restate }) => ({ data: `${restate} calls ${endpoint_url}` }),
    example: "restate register http://127.0.0.1:9080",
  },
  mcp: FOR_OPERATORS,
  async handle({ app }: OperationContext<Care>, { endpoint_url: given }) {
    const restate = restateOf(app);
    return { endpoint_url: await restate.register(given), restate: restate.address };
  },
});

export const resumeInvocations = defineOperation({
  id: "resumeInvocations",
  summary: "Have Restate go on with the runs whose invocation was paused or killed",
  scope: "admin",
  effect: { does: "writes", again: true, beyond: true },
  input: z.strictObject({}),
  output: z.object({ resumed: z.int() }),
  errors: ["CONFIG_INVALID", "RESTATE_UNREACHABLE", "RESTATE_REFUSED"],
  http: FOR_OPERATORS,
  cli: {
    verb: "restate resume",
    show: ({ resumed }) => ({ data: resumed === 1 ? "1 run goes on" : `${resumed} runs go on` }),
  },
  mcp: FOR_OPERATORS,
  async handle({ app }: OperationContext<Stores & Care>) {
    const restate = restateOf(app);
    const stopped = await listTroubledRuns(app, restate, { onlyStopped: true });
    for (const invocation of stopped) await restate.resume(invocation);
    return { resumed: stopped.length };
  },
});

function restateOf(app: Care): RestateCare {
  const restate = app.restate?.();
  if (restate !== undefined) return restate;
  throw new PawlError("CONFIG_INVALID", {
    message: "`restate.url` (RESTATE_URL) is not set: processes of Pawl drive the runs.",
    remedy: "Set RESTATE_URL to the ingress of a Restate server, such as http://localhost:8080.",
  });
}
