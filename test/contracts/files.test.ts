import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FileBlobs } from "../../src/storage/files/file-blobs.ts";
import { LocalFileStorage } from "../../src/storage/files/local-file-storage.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import { needs } from "../support/needs.ts";
import { describeBlobsContract } from "./blobs.contract.ts";
import { describeFileStorageContract } from "./file-storage.contract.ts";
import { temporaryFolder } from "./temporary-folder.ts";

describeBlobsContract("memory", { open: () => new MemoryBlobs() });
describeBlobsContract("files", { open: (folder) => new FileBlobs(join(folder, "blobs")) });
describeFileStorageContract("memory", { open: () => new MemoryFileStorage() });
describeFileStorageContract("files", { open: (folder) => new LocalFileStorage(join(folder, "storage")) });

const REFUSED = { code: "STORAGE_PATH_INVALID" };

test.each(["truncated", "changed"])("a %s blob is BLOB_DAMAGED, never wrong content", async (how) => {
  const folder = temporaryFolder();
  const blobs = new FileBlobs(folder);
  const sha256 = await blobs.put("content");
  const path = join(folder, sha256.slice(0, 2), sha256.slice(2));

  if (how === "truncated") truncateSync(path, 3);
  else writeFileSync(path, "CONTENT");

  await expect(blobs.get(sha256)).rejects.toMatchObject({
    code: "BLOB_DAMAGED",
    message: expect.stringContaining(path),
  });
});

test("putting the content of a truncated blob again repairs it", async () => {
  const folder = temporaryFolder();
  const blobs = new FileBlobs(folder);
  const sha256 = await blobs.put("content");
  truncateSync(join(folder, sha256.slice(0, 2), sha256.slice(2)), 3);

  await blobs.put("content");

  expect(Buffer.from(await blobs.get(sha256)).toString()).toBe("content");
});

test("a finished write leaves nothing beside its blob", async () => {
  const folder = temporaryFolder();
  await new FileBlobs(folder).put("content");
  expect(readdirSync(join(folder, "incoming"))).toEqual([]);
});

test("a folder that cannot be written is a typed error with the path", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "blobs"), "a file where a folder should be");

  const putting = new FileBlobs(join(folder, "blobs")).put("x");

  await expect(putting).rejects.toMatchObject({ code: "JOURNAL_IO", message: expect.stringContaining(folder) });
});

function storageWithLinks(): { readonly storage: LocalFileStorage; readonly outside: string } {
  const folder = temporaryFolder();
  const outside = join(folder, "outside");
  const inside = join(folder, "storage");
  mkdirSync(outside);
  mkdirSync(join(inside, "real"), { recursive: true });
  writeFileSync(join(outside, "secret"), "secret");
  writeFileSync(join(inside, "real", "file"), "mine");
  symlinkSync(outside, join(inside, "out"));
  symlinkSync(join(outside, "secret"), join(inside, "secret"));
  symlinkSync(join(outside, "not there"), join(inside, "dangling"));
  symlinkSync("..", join(inside, "up"));
  symlinkSync("real", join(inside, "within"));
  return { storage: new LocalFileStorage(inside), outside };
}

test.each([
  "out/secret",
  "secret",
  "dangling",
  "dangling/x",
  "up/outside/secret",
  "out",
  "within/../../outside/secret",
])("%s leads out of the storage and is refused", async (path) => {
  const { storage, outside } = storageWithLinks();

  await expect(storage.read(path)).rejects.toMatchObject(REFUSED);
  await expect(storage.write(path, "x")).rejects.toMatchObject(REFUSED);
  await expect(storage.remove(path)).rejects.toMatchObject(REFUSED);
  expect(readdirSync(outside)).toEqual(["secret"]);
});

test("a link that stays in the storage may be used", async () => {
  const { storage } = storageWithLinks();
  await storage.write("within/other", "x");
  expect(await storage.read("real/other")).toBeDefined();
});

// Commands of an agent make links in the folder of their run, which is an artifact of it.
test.each(["artifacts/run/files", "tenants/a", ""])("no link in %j leads to what is another's", async (from) => {
  const root = join(temporaryFolder(), "storage");
  const owned = ["tenants/b", "artifacts/other", "tenants/a-2"];
  for (const folder of [...owned, from, "shared"]) mkdirSync(join(root, folder), { recursive: true });
  for (const folder of [...owned, "shared"]) writeFileSync(join(root, folder, "secret"), "secret");
  const storage = new LocalFileStorage(root);
  const targets = [...owned, "tenants", "artifacts", ...(from === "" ? [] : ["shared"])];
  for (const [index, target] of targets.entries()) {
    symlinkSync(join(root, target), join(root, from, `link-${index}`));
    const path = [from, `link-${index}`, target.includes("/") ? "secret" : "b/secret"].filter(Boolean).join("/");
    await expect(storage.read(path), path).rejects.toMatchObject(REFUSED);
    await expect(storage.write(path, "x"), path).rejects.toMatchObject(REFUSED);
    await expect(storage.list(`${path}/`), path).rejects.toMatchObject(REFUSED);
  }
});

test("a link that takes a file's place in that very moment shows nothing of another", async () => {
  needs("python3");
  const root = join(temporaryFolder(), "storage");
  const [own, other] = [join(root, "artifacts/run/files"), join(root, "tenants/b")];
  for (const folder of [own, other]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(own, "mine"), "mine");
  writeFileSync(join(other, "secret"), "secret");
  const swap = `
import os, sys
os.chdir(sys.argv[1])
while True:
    os.link("mine", "next"); os.rename("next", "x")
    os.symlink(sys.argv[2], "next"); os.rename("next", "x")
`;
  const swapping = spawn("python3", ["-c", swap, own, join(other, "secret")], { stdio: "ignore" });
  onTestFinished(() => void swapping.kill("SIGKILL"));
  const storage = new LocalFileStorage(root);
  await expect.poll(() => existsSync(join(own, "x"))).toBe(true);
  const seen = new Set<string>();
  for (let tries = 0; tries < 3_000; tries += 1) {
    const content = await storage.read("artifacts/run/files/x").catch(() => undefined);
    if (content !== undefined) seen.add(Buffer.from(content).toString());
  }

  expect([...seen]).toEqual(["mine"]);
});

test("what is no file is not there, and nobody waits for it", async () => {
  needs("python3");
  const folder = temporaryFolder();
  const make = `
import os, socket, sys
os.chdir(sys.argv[1])
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
`;
  expect(spawnSync("python3", ["-c", make, folder]).status).toBe(0);
  const storage = new LocalFileStorage(folder);
  mkdirSync(join(folder, "folder"));
  for (const path of ["pipe", "socket", "folder"]) {
    expect(await storage.read(path)).toBeUndefined();
    expect(await storage.readRange(path, { from: 0, to: 9 })).toEqual(new Uint8Array());
  }
});

test("links are not listed, and a listing does not follow them", async () => {
  const { storage } = storageWithLinks();
  expect((await storage.list("")).map(({ path }) => path)).toEqual(["real/file"]);
  await expect(storage.list("out/")).rejects.toMatchObject(REFUSED);
});

test("readers of a file that is rewritten see one version or another", async () => {
  const storage = new LocalFileStorage(temporaryFolder());
  const versions = ["a", "b"].map((letter) => letter.repeat(100_000));
  await storage.write("file", versions[0] ?? "");

  const writing = Array.from({ length: 10 }, (_, n) => storage.write("file", versions[n % 2] ?? ""));
  const read = await Promise.all(Array.from({ length: 50 }, () => storage.read("file")));
  await Promise.all(writing);

  expect(read.every((content) => versions.includes(Buffer.from(content ?? []).toString()))).toBe(true);
});
