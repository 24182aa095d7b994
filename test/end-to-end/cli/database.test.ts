import { expect, test } from "vitest";
import { newTestDatabase } from "../../support/test-database.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

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

test("a value that lies on another machine is told as such, and doctor says so before", async () => {
  const env = { DATABASE_URL: await newTestDatabase(), PAWL_SECRETS__KEY: "0123456789abcdef" };
  const files = { "question.yaml": QUESTION, "answers.yaml": AT_ONCE };
  const [cwd, elsewhere] = [application(files), application(files)];
  const run = ["run", "question.yaml", "--agent", "simulated:answers.yaml", "-i", `question=${"x".repeat(200_000)}`];
  const { run_id: id } = JSON.parse((await pawl([...run, "--json"], { cwd, env })).stdout).data;
  expect((await pawl(["runs", "show", id, "--whole"], { cwd, env })).code).toBe(0);
  const there = await pawl(["runs", "show", id, "--whole"], { cwd: elsewhere, env });
  expect(there.stderr).toContain("BLOB_MISSING");
  expect(there.stderr).toContain("on this machine");
  expect(there.stderr).toContain("STORAGE_BACKEND=s3");
  const doctor = await pawl(["doctor"], { cwd, env });
  expect(doctor.stdout + doctor.stderr).toMatch(/^note +storage: .*other machines/m);
});

test.each(["status", "migrate"])("`pawl db %s` without a database says what to set", async (verb) => {
  const { code, stderr } = await pawl(["db", verb], { cwd: application({}), env: { DATABASE_URL: "" } });
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

test("`pawl run --detach` hands the run to a worker, and says so where there is none", async () => {
  const cwd = application({ "question.yaml": QUESTION, "script.yaml": AT_ONCE, "in.json": '{"question":"why"}' });
  const env = {
    DATABASE_URL: await newTestDatabase(),
    PAWL_SECRETS__KEY: "0123456789abcdef",
    PAWL_AGENT__PROVIDER: "simulated:script.yaml",
  };
  const run = ["run", "question.yaml", "--input", "in.json", "--detach"];
  const statusOf = async (printed: string) => {
    const shown = await pawl(["runs", "show", printed.trim(), "--json"], { cwd, env });
    return JSON.parse(shown.stdout).data.status;
  };
  const waiting = await pawl(run, { cwd, env });
  expect(waiting.stderr).toContain("The run waits: no process drives the runs of the database now.");
  expect(await statusOf(waiting.stdout)).toBe("queued");

  await startServer(["--role", "worker"], { cwd, env });
  await expect.poll(() => statusOf(waiting.stdout)).toBe("completed");
  const handed = await pawl(run, { cwd, env });
  expect(handed.stderr).toContain("The run goes on in a process that drives the runs of the database.");
  await expect.poll(() => statusOf(handed.stdout)).toBe("completed");
});
