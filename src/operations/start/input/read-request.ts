import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject, ownField } from "../../../core/json.ts";

/** A body of `POST /execute`, in either of its two published shapes, checked. */
export interface ExecuteRequest {
  readonly requestId?: string;
  readonly traceId?: string;
  /** `source` and the details that belong to it. */
  readonly requestData: JsonObject;
  /** The context as sent, with `userInfo`, `sessionId` and `configuration`. A caller that does not trust the sender removes those. */
  readonly context: JsonObject;
  readonly work: RequestedWork;
}

export type RequestedWork =
  | { readonly kind: "workflow"; readonly workflowId: string; readonly startAt?: string; readonly filePath?: string }
  | { readonly kind: "jit" | "llm"; readonly details: JsonObject };

interface Violation {
  readonly path: string;
  readonly message: string;
}

/** Reads a request. Throws `REQUEST_INVALID` with everything that is wrong with it. */
export function readRequest(body: Json): ExecuteRequest {
  if (!isJsonObject(body)) throw requestInvalid([{ path: "", message: "must be an object" }]);
  const reader = new Reader();
  const context = reader.object(body, "", "context") ?? {};
  const requestData = readRequestData(reader, body);
  const requestId = reader.text(body, "", "requestId") ?? reader.text(context, "/context", "requestId");
  const traceId = reader.text(body, "", "traceId") ?? reader.text(context, "/context", "traceId");
  checkContext(reader, context);
  const work = readWork(reader, context);
  if (work === undefined || reader.violations.length > 0) throw requestInvalid(reader.violations);
  return { requestId, traceId, requestData, context, work };
}

class Reader {
  readonly violations: Violation[] = [];

  report(path: string, message: string): void {
    this.violations.push({ path, message });
  }

  text(from: JsonObject, path: string, name: string): string | undefined {
    const value = ownField(from, name);
    if (value === undefined || value === null) return undefined;
    if (typeof value === "string" && value.trim() !== "") return value;
    this.report(`${path}/${name}`, typeof value === "string" ? "must not be empty" : "must be a string");
    return undefined;
  }

  object(from: JsonObject, path: string, name: string): JsonObject | undefined {
    const value = ownField(from, name);
    if (value === undefined || value === null) return undefined;
    if (isJsonObject(value)) return value;
    this.report(`${path}/${name}`, "must be an object");
    return undefined;
  }

  oneOf<T extends string>(from: JsonObject, place: { path: string; name: string }, known: readonly T[]): T | undefined {
    const written = this.text(from, place.path, place.name);
    const found = known.find((each) => each === written);
    if (written !== undefined && found === undefined)
      this.report(`${place.path}/${place.name}`, `must be one of ${known.join(", ")}`);
    return found;
  }
}

const SOURCES = ["http", "trigger", "callback", "queue", "cron", "internal"] as const;
type Source = (typeof SOURCES)[number];

const DETAILS: Readonly<Record<Exclude<Source, "internal">, string>> = {
  http: "httpDetails",
  trigger: "triggerDetails",
  callback: "callbackDetails",
  queue: "queueDetails",
  cron: "cronDetails",
};

const TEXTS = [
  "method",
  "path",
  "routePattern",
  "body",
  "sourceAppId",
  "triggerEvent",
  "callbackUrl",
  "queueName",
  "messageId",
  "jobId",
  "scheduledTime",
];
const OBJECTS = ["pathParameters", "queryParameters", "headers"];

function readRequestData(reader: Reader, body: JsonObject): JsonObject {
  const data = reader.object(body, "", "requestData");
  if (data === undefined) {
    if (ownField(body, "requestData") === undefined) reader.report("/requestData", "is missing");
    return {};
  }
  const source = reader.oneOf(data, { path: "/requestData", name: "source" }, SOURCES);
  if (source === undefined) {
    if (ownField(data, "source") === undefined) reader.report("/requestData/source", "is missing");
    return data;
  }
  if (source !== "internal") checkDetails(reader, data, DETAILS[source]);
  return data;
}

function checkDetails(reader: Reader, data: JsonObject, name: string): void {
  const path = `/requestData/${name}`;
  const details = reader.object(data, "/requestData", name);
  if (details === undefined) {
    if (ownField(data, name) === undefined) reader.report(path, "is missing");
    return;
  }
  for (const text of TEXTS) {
    const value = ownField(details, text);
    // A body may be empty; nothing else here is read as a text of any length.
    if (value !== undefined && value !== null && typeof value !== "string")
      reader.report(`${path}/${text}`, "must be a string");
  }
  for (const object of OBJECTS) reader.object(details, path, object);
  reader.oneOf(details, { path, name: "bodyEncoding" }, ["utf8", "base64"]);
}

function checkContext(reader: Reader, context: JsonObject): void {
  for (const name of ["appId", "componentId", "mcp_endpoint"]) reader.text(context, "/context", name);
  for (const name of ["stateConfig", "state_config", "applicationInfo"]) reader.object(context, "/context", name);
}

/** The documents name the work in two ways: `workflowInfo`, or `handlerType` with `taskDetails`. */
function readWork(reader: Reader, context: JsonObject): RequestedWork | undefined {
  const info = reader.object(context, "/context", "workflowInfo") ?? {};
  const details = reader.object(context, "/context", "taskDetails") ?? {};
  const workflowId =
    reader.text(info, "/context/workflowInfo", "workflowId") ??
    reader.text(details, "/context/taskDetails", "workflowId");
  const handler = { path: "/context", name: "handlerType" };
  const written = reader.oneOf(context, handler, ["WORKFLOW", "JIT", "LLM"]);
  const type = written ?? (workflowId === undefined ? undefined : "WORKFLOW");
  if (type === "JIT" || type === "LLM") return { kind: type === "JIT" ? "jit" : "llm", details };
  if (workflowId !== undefined) return readWorkflow(reader, { info, details, workflowId });
  if (type === "WORKFLOW") reader.report("/context/workflowInfo/workflowId", "is missing");
  else if (ownField(context, "handlerType") === undefined)
    reader.report("/context", "must name `workflowInfo.workflowId`, or a `handlerType` with its `taskDetails`");
  return undefined;
}

function readWorkflow(
  reader: Reader,
  { info, details, workflowId }: { info: JsonObject; details: JsonObject; workflowId: string },
): RequestedWork {
  const startAt =
    reader.text(info, "/context/workflowInfo", "startAt") ?? reader.text(details, "/context/taskDetails", "startAt");
  const filePath =
    reader.text(info, "/context/workflowInfo", "filePath") ?? reader.text(details, "/context/taskDetails", "filePath");
  return { kind: "workflow", workflowId, startAt, filePath };
}

function requestInvalid(violations: readonly Violation[]): PawlError {
  const [first] = violations;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : "";
  return new PawlError("REQUEST_INVALID", {
    message: `The request is not valid: ${first?.path || "it"} ${first?.message ?? "cannot be read"}${more}.`,
    details: { violations: violations.map(({ path, message }) => ({ path, message })) },
  });
}
