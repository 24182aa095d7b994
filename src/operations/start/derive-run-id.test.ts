import { expect, test } from "vitest";
import { deriveRunId } from "./derive-run-id.ts";

test("equal names have equal ids, and every difference makes another one", () => {
  const ids = [
    deriveRunId("queue", "a", "b", "c"),
    deriveRunId("event", "a", "b", "c"),
    deriveRunId("queue", "ab", "", "c"),
    deriveRunId("queue", "a", "b", "d"),
  ];
  expect(new Set(ids).size).toBe(4);
  expect(deriveRunId("queue", "a", "b", "c")).toBe(ids[0]);
});

test("an id is a UUID of version 8", () => {
  expect(deriveRunId("schedule", "tidy", "x")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});
