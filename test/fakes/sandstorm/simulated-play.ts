import { randomUUID } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";
import { readAgentInput } from "../../../src/executors/agent/agent-input.ts";
import { toConversation } from "../../../src/executors/agent/simulated/simulated-executor.ts";
import { prepareTurn } from "../../../src/executors/models/mock/simulate-turn.ts";
import { JsonSchemas } from "../../../src/schemas/json-schemas.ts";
import { type Move, type Play, type ReceivedRequest, toJsonReply, toStreamReply } from "./fake-sandstorm.ts";
import { toEvents, toPing } from "./framing.ts";

/** Answers any prompt with made-up content in the shape of its schema, over the wire. */
export function createSimulatedPlay(options: { readonly delayFactor: number }): Play {
  const validators = new JsonSchemas();
  return async (request) => {
    if (typeof request.body["prompt"] !== "string" || request.body["prompt"] === "") return toUnprocessable(request);
    const input = readAgentInput({ ...request.body, output_schema: readSchema(request.body) ?? null });
    const schema = input.outputSchema === undefined ? undefined : await validators.compile(input.outputSchema);
    if (schema?.ok === false)
      return toJsonReply(422, { detail: [{ loc: ["body", "output_format"], msg: schema.message }] });

    const { prompt, model = "sonnet", outputSchema } = input;
    const step = { stepId: "query", path: "query", attempt: 1 };
    const question = { ...step, prompt, model, schema: outputSchema, validate: schema?.validate };
    const { turn } = await prepareTurn(question, options);
    if (!turn.ok) return toJsonReply(500, { detail: turn.failed.message });
    const { answer } = turn;
    const [init, assistant, result] = toEvents(toConversation(answer, { model, sessionId: randomUUID() }));
    const wait: Move = { do: "wait", ms: answer.delayMs };
    const moves: Move[] = [send(init), send(toPing()), wait, send(assistant), send(result)];
    return toStreamReply(moves);
  };
}

function send(bytes = ""): Move {
  return { do: "send", bytes };
}

function readSchema(body: JsonObject): JsonObject | undefined {
  const format = body["output_format"];
  return isJsonObject(format) && isJsonObject(format["schema"]) ? format["schema"] : undefined;
}

/** Like the real server it repeats the whole request, keys included. */
export function toUnprocessable(request: ReceivedRequest): ReturnType<typeof toJsonReply> {
  return toJsonReply(422, {
    detail: [{ type: "missing", loc: ["body", "prompt"], msg: "Field required", input: request.body }],
  });
}
