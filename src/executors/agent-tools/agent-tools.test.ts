import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { MemoryFileStorage } from "../../../test/support/memory/memory-file-storage.ts";
import { needs } from "../../../test/support/needs.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { AgentTool } from "../../ports/tools/agent-toolbox.ts";
import { LocalFileStorage } from "../../storage/files/local-file-storage.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { createAgentTools } from "./create-agent-tools.ts";

const NEVER = new AbortController().signal;

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function openTools(storageDir = temporaryFolder(), kept?: FileStorage) {
  const tools = createAgentTools({
    outbound: createOutbound({ allow: ["127.0.0.1"] }),
    webFetch: { timeoutMs: 5_000, maxBytes: 100_000 },
    filesIn: async (folder) => new LocalFileStorage(folder, join(storageDir, ".incoming")),
    storageDir,
    kept,
    sandbox: async () => createSandbox({ mode: "required" }),
    limits: { timeoutMs: 20_000, memoryBytes: 256 * 1024 * 1024, maxOutputBytes: 1_000_000, maxProcesses: 32 },
  });
  const offer = (names: readonly string[], runId = "run-1", files?: JsonObject) =>
    tools.offer({ names, runId, path: "a", files }, NEVER);
  const call = async (name: string, args: JsonObject, runId?: string) => {
    const tool = (await offer(["web_fetch", "files", "bash"], runId)).find((each) => each.name === name) as AgentTool;
    return tool.call(args, { idempotencyKey: "key-1" }, NEVER);
  };
  return { storageDir, offer, call, folder: join(storageDir, "artifacts", "run-1", "files") };
}

test("an agent has what it names and nothing else", async () => {
  const { offer } = openTools();
  const named = async (...names: string[]) => (await offer(names)).map(({ name }) => name);
  expect(await named("files")).toEqual(["read_file", "write_file", "list_files", "delete_file"]);
  expect(await named("web_fetch", "bash", "no_such_tool")).toEqual(["web_fetch", "bash"]);
  expect((await offer(["web_fetch", "files", "bash"])).map(({ isRepeatable }) => isRepeatable).lastIndexOf(false)).toBe(
    5,
  );
});

test("a page comes as its readers see it, whatever its charset, and in parts where it is long", async () => {
  const page =
    "<html><head><title>T</title><style>p{}</style><script>alert(1)</script></head><body><nav>Menu</nav>" +
    '<h1>Prices</h1><p>A &amp; B cost 5 €.</p><ul><li>one</li></ul><a href="/more">More</a></body></html>';
  const url = await serve((_, answer) => {
    answer.writeHead(200, { "content-type": "text/html; charset=windows-1252" });
    answer.end(Buffer.from(page.replace("€", "\x80"), "latin1"));
  });
  const { call } = openTools();
  const { isError, text } = await call("web_fetch", { url });
  expect(isError).toBe(false);
  expect(text).toContain("Prices");
  expect(text).toContain("A & B cost 5 €.");
  expect(text).toContain("More [/more]");
  expect(text).not.toMatch(/alert|Menu|p\{\}/);
  const part = await call("web_fetch", { url, max_chars: 100, offset: 3 });
  expect(part.text).not.toContain("Prices\n");
});

test.each([
  ["JSON as it is", 200, "application/json", '{"a":1}', false, '{"a":1}'],
  ["a text without a type", 200, undefined, "plain words", false, "plain words"],
  ["a page that is not there", 404, "text/plain", "no such page", true, "(status 404)\n\nno such page"],
  ["a picture", 200, "image/png", "\x89PNG", true, "It is image/png, which is no text."],
  ["more than is read of a page", 200, "text/plain", "x".repeat(200_000), false, "more characters"],
])("of the web: %s", async (_, status, type, body, isError, text) => {
  const url = await serve((_request, answer) => {
    answer.writeHead(status, type === undefined ? {} : { "content-type": type }).end(body);
  });
  const result = await openTools().call("web_fetch", { url });
  expect(result.isError).toBe(isError);
  expect(result.text).toContain(text);
});

test("an address that is not public is not asked", async () => {
  const result = await openTools().call("web_fetch", { url: "http://169.254.169.254/latest/meta-data/" });
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining("is not a public address") });
});

test("files are written, read, listed and deleted, and are the run's artifacts at once", async () => {
  const { call, folder } = openTools();
  expect(await call("write_file", { path: "notes/plan.md", content: "one" })).toMatchObject({ isError: false });
  await call("write_file", { path: "data.bin", content: "/wD+", encoding: "base64" });
  expect(readFileSync(join(folder, "notes/plan.md"), "utf8")).toBe("one");
  expect((await call("read_file", { path: "./notes/plan.md" })).text).toBe("one");
  expect(await call("read_file", { path: "data.bin" })).toMatchObject({ isError: true });
  expect((await call("read_file", { path: "data.bin", encoding: "base64" })).text).toBe("/wD+");
  expect((await call("list_files", {})).text).toBe("data.bin (3 bytes)\nnotes/plan.md (3 bytes)");
  expect((await call("list_files", {}, "run-2")).text).toBe("The folder is empty.");
  expect((await call("delete_file", { path: "data.bin" })).text).toBe("Deleted.");
  expect((await call("delete_file", { path: "data.bin" })).isError).toBe(false);
  expect(await call("read_file", { path: "data.bin" })).toMatchObject({ isError: true });
});

test.each([
  "",
  ".",
  "..",
  "../x",
  "a/../../x",
  "/etc/passwd",
  "a//b",
  "a\\b",
  "C:/x",
  "a\u0000b",
  "x".repeat(400),
  ".incoming/x",
])("the path %j is refused", async (path) => {
  const { call } = openTools();
  for (const name of ["write_file", "read_file", "delete_file"])
    expect((await call(name, { path, content: "x" })).isError).toBe(true);
});

test("no link leads out of the folder, to other runs neither", async () => {
  const { call, folder, storageDir } = openTools();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(storageDir, "theirs.txt"), "theirs");
  symlinkSync(join(storageDir, "theirs.txt"), join(folder, "link.txt"));
  symlinkSync(storageDir, join(folder, "out"));
  for (const path of ["link.txt", "out/theirs.txt"]) {
    expect((await call("read_file", { path })).text).not.toContain("theirs\n");
    expect(await call("read_file", { path })).toMatchObject({ isError: true });
    expect(await call("write_file", { path, content: "mine" })).toMatchObject({ isError: true });
  }
  expect(readFileSync(join(storageDir, "theirs.txt"), "utf8")).toBe("theirs");
});

test("a file that is too large is refused", async () => {
  const result = await openTools().call("write_file", { path: "large", content: "x".repeat(6 * 1024 * 1024) });
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining("5242880 bytes") });
});

test("files that come with the task are there, unless they have been changed", async () => {
  const { offer, call } = openTools();
  await offer(["files"], "run-1", { "in/a.txt": "given" });
  expect((await call("read_file", { path: "in/a.txt" })).text).toBe("given");
  await call("write_file", { path: "in/a.txt", content: "changed" });
  await offer(["files"], "run-1", { "in/a.txt": "given" });
  expect((await call("read_file", { path: "in/a.txt" })).text).toBe("changed");
});

test("a command works in the folder of the run, with its files, and what it leaves lasts", async () => {
  needs("bwrap");
  const { call } = openTools();
  await call("write_file", { path: "in/a.txt", content: "3\n1\n2\n" });
  const sorted = await call("bash", {
    command: "sort in/a.txt | tee in/out.txt && echo more >> in/a.txt && mkdir made && pwd > made/where",
  });
  expect(sorted).toMatchObject({ isError: false, text: "1\n2\n3\n[exit code 0]" });
  expect((await call("read_file", { path: "in/out.txt" })).text).toBe("1\n2\n3\n");
  expect((await call("read_file", { path: "in/a.txt" })).text).toBe("3\n1\n2\nmore\n");
  await call("write_file", { path: "made/by-file-tool", content: "x" });
  expect((await call("bash", { command: "rm made/by-file-tool && ls made" })).text).toBe("where\n[exit code 0]");
});

test("a command that fails says how, and one that takes too long is stopped", async () => {
  needs("bwrap");
  const { call } = openTools();
  const failed = await call("bash", { command: "echo to stderr >&2; exit 3" });
  expect(failed).toMatchObject({ isError: true, text: "to stderr\n[exit code 3]" });
  const slow = await call("bash", { command: "echo begun; sleep 30", timeout_seconds: 1 });
  expect(slow).toMatchObject({ isError: true, text: "begun\n[stopped: it took longer than 1 s]" });
});

test("a command sees neither the network nor other runs nor what is beside the folder", async () => {
  needs("bwrap");
  const url = await serve((_, answer) => answer.end("reached"));
  const { call, storageDir } = openTools();
  writeFileSync(join(storageDir, "theirs.txt"), "theirs");
  const port = new URL(url).port;
  const script = `cat ${storageDir}/theirs.txt; (exec 3<>/dev/tcp/127.0.0.1/${port}) && echo reached; env; true`;
  const { text } = await call("bash", { command: script });
  expect(text).toContain("No such file or directory");
  expect(text).not.toMatch(/^theirs$|^reached$/m);
  expect(text).toContain("PAWL_IDEMPOTENCY_KEY=key-1");
});

test("where artifacts are kept elsewhere, each is there when the call ends, and a run goes on with them on another machine", async () => {
  needs("bwrap");
  const kept = new MemoryFileStorage();
  const pathsOf = async () =>
    (await kept.list("artifacts/run-1/")).map(({ path }) => path.slice("artifacts/run-1/files/".length));
  const textOf = async (path: string) =>
    Buffer.from((await kept.read(`artifacts/run-1/files/${path}`)) ?? "").toString();
  const [one, other] = [openTools(undefined, kept), openTools(undefined, kept)];
  await one.offer(["files"], "run-1", { "given.txt": "given" });
  await one.call("write_file", { path: "notes/a.txt", content: "one" });
  expect(await pathsOf()).toEqual(["given.txt", "notes/a.txt"]);
  expect((await other.call("read_file", { path: "notes/a.txt" })).text).toBe("one");
  expect(
    (
      await other.call("bash", {
        command: "cat given.txt > b; echo two, longer > notes/a.txt; rm given.txt; touch 'x\\\\y'",
      })
    ).isError,
  ).toBe(false);
  expect(await pathsOf()).toEqual(["b", "notes/a.txt"]);
  expect(await textOf("notes/a.txt")).toBe("two, longer\n");
  expect((await one.call("list_files", {})).text).toBe("b (5 bytes)\nnotes/a.txt (12 bytes)");
  expect((await one.call("read_file", { path: "notes/a.txt" })).text).toBe("two, longer\n");
  await one.call("delete_file", { path: "b" });
  expect(await pathsOf()).toEqual(["notes/a.txt"]);
});

test("a call waits for a storage that fails, and no longer than it may", async () => {
  const memory = new MemoryFileStorage();
  let left = 1;
  const unavailable = () => new PawlError("STORAGE_UNAVAILABLE", { message: "It fails." });
  const kept: FileStorage = Object.assign(Object.create(memory) as FileStorage, {
    read: (path: string) => memory.read(path),
    list: (prefix: string) => memory.list(prefix),
    write: async (path: string, content: string | Uint8Array) => {
      left -= 1;
      if (left >= 0) throw unavailable();
      await memory.write(path, content);
    },
  });
  const { call, offer } = openTools(undefined, kept);
  expect((await call("write_file", { path: "a", content: "x" })).isError).toBe(false);
  expect(await memory.list("")).toHaveLength(1);
  left = 1_000;
  const tools = await offer(["files"]);
  const write = tools.find(({ name }) => name === "write_file") as AgentTool;
  const stopped = AbortSignal.timeout(100);
  await expect(write.call({ path: "b", content: "x" }, { idempotencyKey: "k" }, stopped)).rejects.toMatchObject({
    code: "STORAGE_UNAVAILABLE",
  });
});
