import { z } from "zod";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Application } from "../../../operations/application/application.ts";
import type { Submissions } from "../../../operations/start/submit-run.ts";
import type { KeyScope } from "../../../ports/service/api-keys.ts";
import type { OfferedTool } from "../../../ports/tools/tool-set.ts";
import type { PerformedCall } from "../add-tools.ts";

/** What a call is lent while it is under way. */
export interface LentParts {
  readonly app: Application;
  readonly submissions: Submissions;
}

export interface ServiceCall extends PerformedCall {
  readonly submissions: Submissions;
  /** The server is about to end: whoever waits is answered now. */
  readonly stopping: AbortSignal;
}

/** A tool of `pawl mcp`: what a client is told of it, and the operation that it translates. */
export interface ServiceTool {
  readonly offered: OfferedTool;
  /** That of the endpoint with the same operation. */
  readonly scope: KeyScope;
  /** Throws `REQUEST_INVALID` with every argument that does not fit, before anything is done; then what the operation throws. */
  perform(app: Application, args: JsonObject, call: ServiceCall): Promise<JsonObject>;
}

interface Definition<Input extends z.ZodType> extends Omit<OfferedTool, "inputSchema" | "outputSchema"> {
  readonly scope: KeyScope;
  readonly input: Input;
  /** What is always in a result. */
  readonly output: Readonly<Record<string, z.ZodType>>;
  perform(app: Application, input: z.output<Input>, call: ServiceCall): Promise<object>;
}

export function defineServiceTool<Input extends z.ZodType>(definition: Definition<Input>): ServiceTool {
  const { input, output, scope, perform, ...told } = definition;
  return {
    scope,
    offered: { ...told, inputSchema: toSchema(input), outputSchema: toSchema(z.looseObject(output)) },
    async perform(app, args, call) {
      // Descriptions are plain data; what JSON leaves out of them is absent anyway.
      return (await perform(app, read(input, args), call)) as JsonObject;
    },
  };
}

function toSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest as JsonObject;
}

function read<Input extends z.ZodType>(input: Input, args: JsonObject): z.output<Input> {
  const result = input.safeParse(args);
  if (result.success) return result.data;
  const violations = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join("."), message }));
  const flaws = violations.map(({ path, message }) => (path === "" ? message : `\`${path}\`: ${message}`));
  throw new PawlError("REQUEST_INVALID", {
    message: `The arguments are not valid: ${flaws.join("; ")}.`,
    details: { violations },
  });
}
