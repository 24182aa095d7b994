import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { driveAll, openOwner } from "./data-directory.ts";
import { startChild } from "./start-child.ts";

test("of two processes that want the same data directory one owns it, and the other is told who does", async () => {
  const dataDir = temporaryFolder();
  const first = startChild(dataDir, { hold: true });
  await first.said;

  expect(() => openOwner(dataDir)).toThrow(
    expect.objectContaining({ code: "DATA_LOCKED", message: expect.stringContaining(`Process ${first.pid} `) }),
  );
  await expect(startChild(dataDir, {}).ended).rejects.toThrow("DATA_LOCKED");

  first.kill();
  await first.ended;
  const owner = openOwner(dataDir);
  expect(await driveAll(owner, ["run-1"])).toMatchObject([{ status: "partial" }]);
  await owner.close();
});
