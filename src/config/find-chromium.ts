import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Config } from "./load-config.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
const PLACES = ["/usr/bin", "/usr/local/bin", "/snap/bin"];

/** The browser that prints reports: the configured one, else the first that is installed. Undefined if there is none. */
export function findChromium({ settings, env }: Pick<Config, "settings" | "env">): string | undefined {
  const { chromium } = settings.reports;
  if (chromium === "off") return undefined;
  const names = chromium === undefined ? NAMES : [chromium];
  const folders = [...(env("PATH") ?? "").split(delimiter).filter((folder) => folder !== ""), ...PLACES];
  const candidates = names.flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))));
  return candidates.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
