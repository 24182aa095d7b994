import { resolve } from "node:path";
import { isJsonObject, type Json } from "../../../core/json.ts";
import { readTextFile } from "../../definitions/read-text-file.ts";
import { parseJson } from "../../parse-json.ts";
import { type ExecuteRequest, readRequest } from "./read-request.ts";

export interface RequestFile {
  readonly file: string;
  readonly folder: string;
  /** The default where the file does not say. */
  readonly workflowId: string;
}

/** A request from a file, as `POST /execute` would get it. Throws `FILE_NOT_FOUND`, `REQUEST_INVALID`. */
export async function readRequestFile(file: RequestFile): Promise<ExecuteRequest> {
  return readRequest(await readRequestBody(file));
}

export async function readRequestBody({ file, folder, workflowId }: RequestFile): Promise<Json> {
  return withWorkflow(parseJson(await readTextFile(resolve(folder, file)), file), workflowId);
}

const NAMES_OF_WORK = ["workflowInfo", "taskDetails", "handlerType"];

function withWorkflow(body: Json, workflowId: string): Json {
  if (!isJsonObject(body)) return body;
  const context = Object.hasOwn(body, "context") ? body["context"] : {};
  if (!isJsonObject(context) || NAMES_OF_WORK.some((name) => Object.hasOwn(context, name))) return body;
  return { ...body, context: { ...context, workflowInfo: { workflowId } } };
}
