import { readFile } from "node:fs/promises";

interface Asset {
  readonly url: URL;
  readonly type: string;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
/** From here and from the built file it is the same way up. */
const PAGES = new URL("../../../web/terminals/", import.meta.url);

/** Everything that is served as it is. No path is ever made of what a request says. */
const ASSETS: Readonly<Record<string, () => Asset>> = {
  "list.js": () => ({ url: new URL("list.js", PAGES), type: SCRIPT }),
  "session.js": () => ({ url: new URL("session.js", PAGES), type: SCRIPT }),
  "style.css": () => ({ url: new URL("style.css", PAGES), type: STYLE }),
  "icon.svg": () => ({ url: new URL("icon.svg", PAGES), type: "image/svg+xml" }),
  "xterm.js": () => ({ url: new URL(import.meta.resolve("@xterm/xterm/lib/xterm.mjs")), type: SCRIPT }),
  "xterm.css": () => ({ url: new URL(import.meta.resolve("@xterm/xterm/css/xterm.css")), type: STYLE }),
};

/** Undefined: there is none of this name. */
export async function readAsset(name: string): Promise<{ readonly body: Buffer; readonly type: string } | undefined> {
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name]?.() : undefined;
  return asset && { body: await readFile(asset.url), type: asset.type };
}

/** One of the two pages. The nonce lets its script, and nobody else, add styles. */
export async function readPage(name: "list" | "session", nonce: string): Promise<string> {
  const html = await readFile(new URL(`${name}.html`, PAGES), "utf8");
  return html.replace("{{nonce}}", nonce);
}
