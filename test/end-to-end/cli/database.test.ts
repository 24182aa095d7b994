import { expect, test } from "vitest";
import { newTestDatabase } from "../../support/test-database.ts";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

/** A password that the server does not ask for. */
async function withPassword(): Promise<string> {
  return (await newTestDatabase()).replace("//pawl@", "//pawl:hunter22hunter22@");
}

test("`pawl db` brings the tables of a database up to date and shows how it is, without its password", async () => {
  const DATABASE_URL = await withPassword();
  const options = { cwd: application({}), env: { DATABASE_URL } };
  const name = new URL(DATABASE_URL).pathname.slice(1);

  const before = await pawl(["db", "status"], options);
  expect(before.stdout).toMatch(new RegExp(`^database +.*${name}$`, "m"));
  expect(before.stdout).toMatch(/^server +PostgreSQL \d+/m);
  expect(before.stdout).toMatch(/^missing +journal-1, /m);

  const migrated = await pawl(["db", "migrate"], options);
  expect(migrated.stdout).toContain("  records-1\n");
  expect((await pawl(["db", "migrate"], options)).stdout).toContain("is up to date");

  const after = await pawl(["db", "status", "--json"], options);
  expect(JSON.parse(after.stdout).data).toMatchObject({ name, steps_missing: [], processes: 0 });
  for (const { stdout, stderr } of [before, migrated, after]) expect(stdout + stderr).not.toContain("hunter22");

  const doctor = await pawl(["doctor"], { ...options, env: { DATABASE_URL, PAWL_SECRETS__KEY: "0123456789abcdef" } });
  expect(doctor.stdout).toMatch(/^ok +database: .*PostgreSQL \d+.*0 processes drive runs$/m);
});

test.each(["status", "migrate"])("`pawl db %s` without a database says what to set", async (verb) => {
  const { code, stderr } = await pawl(["db", verb], { cwd: application({}) });
  expect(code).toBe(2);
  expect(stderr).toContain("`database.url` (DATABASE_URL) is not set");
  expect(stderr).toContain("postgresql://USER:PASSWORD@HOST:5432/DATABASE");
});

test("`pawl db status` names a server that is not there, without its password", async () => {
  const env = { DATABASE_URL: "postgresql://pawl:hunter22hunter22@127.0.0.1:1/pawl" };
  const { code, stderr } = await pawl(["db", "status"], { cwd: application({}), env });
  expect(code).toBe(1);
  expect(stderr).toContain("JOURNAL_IO");
  expect(stderr).toContain("127.0.0.1:1/pawl");
  expect(stderr).not.toContain("hunter22");
});
