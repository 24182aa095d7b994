import { expect, test } from "vitest";
import { PawlError } from "../core/errors/pawl-error.ts";
import { nameInRemedy, withNames } from "./name-in-remedy.ts";

test("commands about the topic get the ids, as a shell takes them, and others stay as they are", () => {
  const remedy = "Look with `pawl runs logs ID STEP`, or pause it with `pawl schedules pause ID`. An ID is long.";
  expect(nameInRemedy(remedy, { topic: "runs", id: "01a2", step: "enrich[3]" })).toBe(
    "Look with `pawl runs logs 01a2 'enrich[3]'`, or pause it with `pawl schedules pause ID`. An ID is long.",
  );
  expect(nameInRemedy("See `pawl runs show ID`.", { topic: "runs", id: "$& `x`" })).toBe(
    "See `pawl runs show '$& `x`'`.",
  );
});

test("an error keeps everything but its remedy", () => {
  const error = new PawlError("RUN_NOT_ENDED", { message: "Not yet.", details: { a: 1 }, cause: "c" });
  expect(withNames(error, { topic: "runs", id: "01a2" })).toMatchObject({
    code: "RUN_NOT_ENDED",
    message: "Not yet.",
    details: { a: 1 },
    cause: "c",
    remedy: "Wait for its end with `pawl runs resume 01a2`, or cancel it with `pawl runs cancel 01a2`.",
  });
  const other = new PawlError("RUN_NOT_FOUND", { message: "No such run." });
  expect(withNames(other, { topic: "runs", id: "01a2" })).toBe(other);
});
