import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";

const PROGRAM = fileURLToPath(new URL("../typescript/shop-program.ts", import.meta.url));
const ORDERS = 12;
/** In each of ten folders. With more of them the engine lets its suspects wait for up to a minute. */
const KILLS = 4;
/** Functions that may have ended and not be on record when a kill comes. All orders are under way, and a commit takes some milliseconds. */
const UNRECORDED = 20;

test.each([...Array(10).keys()])(
  "a program that is killed four times loses nothing, does nothing twice that was recorded, and undoes what it must: %i",
  async (round) => {
    const folder = temporaryFolder();
    const notes = join(folder, "notes");
    const linesOf = () => (existsSync(notes) ? readFileSync(notes, "utf8").split("\n").filter(Boolean) : []);
    const start = () =>
      spawn(process.execPath, [PROGRAM, join(folder, "data"), notes, String(ORDERS)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
    let killed = 0;
    for (; killed < KILLS; killed += 1) {
      const child = start();
      const exited = once(child, "exit");
      const before = linesOf().length;
      // Some of the work is done in each life; the last lives may find none left.
      const more = 3 + (((round * KILLS + killed) * 37) % 50);
      await expect
        .poll(() => linesOf().length >= before + more || child.exitCode !== null, { interval: 1, timeout: 60_000 })
        .toBe(true);
      if (child.exitCode !== null) break;
      child.kill("SIGKILL");
      await exited;
    }
    const said = await text(start().stdout);
    const ends = Array.from({ length: ORDERS }, (_, id) => (id % 2 === 1 ? "ODD" : "3"));
    expect(said).toContain(`ended ${ends.join(" ")}\n`);
    const lines = linesOf();
    const ended = lines.filter((line) => line.startsWith("end ")).map((line) => line.slice(4));
    const parts = ["reserve", "list", "pack-0", "pack-1", "pack-2", "charge", "round-0", "round-1", "round-2", "odd"];
    const wanted = ends.flatMap((end, id) =>
      [...parts, ...(end === "ODD" ? ["refund", "restock"] : [])].map((part) => `${id} ${part}`),
    );
    expect(new Set(ended)).toEqual(new Set(wanted));
    // Backwards: the money before the stock.
    for (const [id, end] of ends.entries())
      if (end === "ODD") expect(ended.indexOf(`${id} refund`)).toBeLessThan(ended.indexOf(`${id} restock`));
    expect(killed).toBeGreaterThan(0);
    // What had ended is called again only where its record was not written yet when the kill came: the last few milliseconds of a life.
    const over = new Set<string>();
    const again = lines.filter((line) => {
      const [is, ...what] = line.split(" ");
      if (is === "end") over.add(what.join(" "));
      return is === "begin" && over.has(what.join(" "));
    });
    console.log(`${killed} kills, ${wanted.length} functions, ${again.length} of them called again after their end`);
    expect(again.length).toBeLessThanOrEqual(killed * UNRECORDED);
  },
);
