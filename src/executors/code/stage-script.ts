import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Visible } from "../sandbox/sandbox.ts";
import type { LocatedScript } from "./locate-script.ts";

/** A script as a process finds it, with its neighbours around it. */
export interface StagedScript {
  readonly path: string;
  /** The folder that the script's name is relative to. */
  readonly root: string;
  readonly cwd: string;
  readonly visible: readonly Visible[];
  /** The next call finds it in the same place. */
  readonly isLasting: boolean;
  /** Says the application's folder where a text names the place of a copy. */
  toOriginal(text: string): string;
  close(): Promise<void>;
}

// These may hold keys.
const WITHHELD = ["pawl.yaml", "agents.json"];

/** Lets a script run in its place if the file is the pinned one, else in a folder with links to everything and the pinned text. */
export async function stageScript(script: LocatedScript, hidden: readonly string[]): Promise<StagedScript> {
  const { folder, path, text } = script;
  const application: Visible[] = folder === undefined ? [] : [{ kind: "entries", path: folder, without: WITHHELD }];
  const masks = folder === undefined ? [] : await masksIn(folder, hidden);
  if (folder !== undefined && path !== undefined) {
    // The text itself as well: the file may change at any moment, or be readable for its owner only.
    const visible: Visible[] = [...application, ...masks, { kind: "text", path, text }];
    return {
      path,
      root: folder,
      cwd: folder,
      visible,
      isLasting: true,
      toOriginal: (said) => said,
      close: async () => undefined,
    };
  }

  const root = await realpath(await mkdtemp(join(tmpdir(), "pawl-script-")));
  await copyAround(script, root);
  return {
    path: join(root, script.name),
    root,
    cwd: folder ?? root,
    isLasting: false,
    visible: [...application, ...masks, { kind: "entries", path: root }],
    toOriginal: (said) => (folder === undefined ? said.replaceAll(`${root}/`, "") : said.replaceAll(root, folder)),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

async function masksIn(folder: string, hidden: readonly string[]): Promise<Visible[]> {
  const places = await Promise.all(hidden.map((place) => realpath(place).catch(() => place)));
  return places.filter((path) => path.startsWith(`${folder}/`)).map((path) => ({ kind: "hidden", path }));
}

async function copyAround({ name, text, folder, others }: LocatedScript, root: string): Promise<void> {
  if (folder === undefined) {
    for (const [other, otherText] of Object.entries(others)) await write(join(root, other), otherText);
  } else {
    await linkAround(name.split("/"), folder, root);
  }
  await write(join(root, name), text);
}

/** Folders on the way to the script are made anew; everything beside them is a link. */
async function linkAround([first = "", ...rest]: readonly string[], from: string, to: string): Promise<void> {
  const names = await readdir(from).catch(() => []);
  for (const name of names) if (name !== first) await symlink(join(from, name), join(to, name));
  if (rest.length === 0) return;
  await mkdir(join(to, first));
  await linkAround(rest, join(from, first), join(to, first));
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
