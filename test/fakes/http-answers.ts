import { expect } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { HttpWorld } from "./http-world.ts";

type Asked = Response | Promise<Response>;

/** What a request was answered with. An error fails the test. */
export async function dataOf(response: Asked): Promise<JsonObject> {
  const { data, error } = (await (await response).json()) as { readonly data: JsonObject; readonly error: unknown };
  expect(error).toBeNull();
  return data;
}

/** The code of the error that a request was answered with. */
export async function codeOf(response: Asked): Promise<unknown> {
  const { error } = (await (await response).json()) as { readonly error: { readonly code: string } };
  return error.code;
}

/** The headers of a caller with a new key, which the administrator makes. */
export async function keyFor(world: HttpWorld, wanted: JsonObject, admin: Record<string, string>) {
  const { key } = await dataOf(world.post("/keys", { name: "test", ...wanted }, admin));
  return { "x-api-key": String(key) };
}
