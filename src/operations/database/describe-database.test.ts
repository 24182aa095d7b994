import { expect, test } from "vitest";
import type { DatabaseState } from "../../ports/database-care.ts";
import { checkDatabaseState } from "./describe-database.ts";

const STATE: DatabaseState = {
  host: "db:5432",
  name: "pawl",
  version: "18.1",
  taken: ["journal-1"],
  missing: [],
  unknown: [],
  drivers: 2,
  oldest: undefined,
};

function open(ageMs: number | null): DatabaseState {
  return { ...STATE, oldest: { pid: 4711, program: "psql", state: "idle in transaction", ageMs } };
}

test.each([
  ["a database in order is one line", STATE, 1],
  ["a transaction that has just begun is no matter", open(9_999), 1],
  ["a transaction of another user, whose age is hidden, is no matter", open(null), 1],
  ["a transaction that is open for more than 10 s is told of", open(10_001), 2],
  ["tables of a newer version are told of", { ...STATE, unknown: ["journal-9"] }, 2],
])("%s", (_, state, lines) => {
  expect(checkDatabaseState(state)).toHaveLength(lines);
});

test("what is told of a transaction names it, and says how it is ended", () => {
  expect(checkDatabaseState(open(12_300))[1]).toMatchObject({
    state: "warning",
    message: expect.stringMatching(/4711.*psql, idle in transaction.*12\.3 s.*GET \/events/),
    remedy: expect.stringContaining("pg_terminate_backend(4711)"),
  });
});
