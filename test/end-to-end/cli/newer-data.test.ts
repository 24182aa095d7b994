import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { expect, test } from "vitest";
import { openConversations } from "../../../src/app/open-service-records.ts";
import { FileSealer } from "../../../src/storage/files/file-sealer.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const env = { PAWL_AGENT__PROVIDER: "simulated:answers.yaml" };

/** An application with a run and a key, and files of a version that is not known yet. */
async function newer(...files: readonly string[]): Promise<string> {
  const cwd = application({ "workflows/question.yaml": QUESTION, "answers.yaml": AT_ONCE });
  expect((await pawl(["run", "question", "-i", "question=1"], { cwd, env })).code).toBe(0);
  expect((await pawl(["keys", "create", "first"], { cwd, env })).code).toBe(0);
  for (const file of files) {
    const database = new DatabaseSync(join(cwd, ".pawl", file));
    database.exec("PRAGMA user_version = 99");
    database.close();
  }
  return cwd;
}

test.each([
  ["pawl.db", ["runs", "ls"]],
  ["pawl.db", ["run", "question", "-i", "question=2"]],
  ["pawl.db", ["serve", "--port", "0"]],
  ["service.db", ["keys", "ls"]],
  ["service.db", ["run", "question", "-i", "question=2"]],
  ["service.db", ["serve", "--port", "0"]],
])("%s of a newer version is refused by pawl %s, with its name and its version", async (file, args) => {
  const cwd = await newer(file);
  const { code, stderr } = await pawl(args, { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`error JOURNAL_NEWER`)]);
  expect(stderr).toContain(`${join(cwd, ".pawl", file)} was written by a newer Pawl: its tables are version 99`);
  expect(stderr).not.toContain("a defect");
});

test.each([
  ["runs", "ls"],
  ["run", "question", "-i", "question=2"],
  ["serve", "--port", "0"],
  ["serve", "--port", "0", "--role", "worker"],
  ["keys", "ls"],
  ["db", "migrate"],
  ["db", "copy", ".pawl"],
])("a database whose tables a newer version has changed is refused by pawl %s %s, with the change", async (...args) => {
  const DATABASE_URL = await newTestDatabase();
  const options = {
    cwd: await newer(),
    env: { ...env, DATABASE_URL, PAWL_SECRETS__KEY: "0123456789abcdef" },
  };
  expect((await pawl(["db", "migrate"], options)).code).toBe(0);
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  await client.query("INSERT INTO steps (name) VALUES ('journal-99')");
  await client.end();
  const { code, stderr } = await pawl(args, options);
  expect([code, stderr]).toEqual([1, expect.stringContaining("error JOURNAL_NEWER")]);
  expect(stderr).toContain("changed by a newer Pawl: journal-99 is not known");
  expect((await pawl(["db", "status"], options)).stdout).toContain("journal-99");
});

test("conversations of a newer version are refused, with the file and its version", async () => {
  const path = join(application({}), "conversations.db");
  const open = () => openConversations({ path, durability: "process" });
  await open().close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 99");
  database.close();
  expect(open).toThrow(expect.objectContaining({ code: "JOURNAL_NEWER" }));
  expect(open).toThrow(`${path} was written by a newer Pawl: its tables are version 99`);
});

test("files of the version before have the new version after they were opened", async () => {
  const cwd = await newer();
  const path = join(cwd, ".pawl", "service.db");
  const versionOf = () => {
    const database = new DatabaseSync(path);
    const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
    database.exec("PRAGMA user_version = 0");
    database.close();
    return version;
  };
  const version = versionOf();
  expect(version).toBeGreaterThan(0);
  expect((await pawl(["keys", "ls"], { cwd, env })).code).toBe(0);
  expect(versionOf()).toBe(version);
});

test("a backup of a newer version is not restored, and says so", async () => {
  const cwd = await newer();
  expect((await pawl(["backup", "copy"], { cwd, env })).code).toBe(0);
  const manifest = join(cwd, "copy", "backup.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace('"format": 1', '"format": 2'));
  const { code, stderr } = await pawl(["restore", "copy", "--data", "elsewhere"], { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("BACKUP_INVALID")]);
  expect(stderr).toContain("backup.json has the format 2, and this Pawl reads 1");
});

test("a secret that a newer version has sealed is not read, and says so", () => {
  const sealer = new FileSealer({ path: join(application({}), "secrets.key"), key: "0123456789abcdef" });
  const sealed = sealer.seal("hush").replace("sealed:1:", "sealed:2:");
  expect(() => sealer.open(sealed)).toThrow("a newer Pawl has sealed it in version 2, and this one knows 1");
});
