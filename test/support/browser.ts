import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { isInstalled, needs, programOf } from "./needs.ts";

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/**
 * A real Chromium for the tests of a file. What it returns opens a page of its own, closed with its test. A page on which a script
 * fails, or that asks another origin for anything, fails its test.
 */
export function useBrowser(): (url: string, options?: BrowserContextOptions) => Promise<Page> {
  let browser: Browser;
  needs("chromium");
  beforeAll(async () => {
    if (!isInstalled("chromium")) return;
    // Each launch has an empty profile of its own.
    browser = await chromium.launch({ executablePath: programOf("chromium"), headless: true, args: FLAGS });
  });
  afterAll(() => browser?.close());
  return async (url, options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on("pageerror", (error) => troubles.push(String(error)));
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) troubles.push(message.text());
    });
    page.on("request", (request) => {
      if (/^https?:/.test(request.url()) && new URL(request.url()).hostname !== new URL(url).hostname)
        troubles.push(request.url());
    });
    onTestFinished(async () => {
      await context.close();
      expect(troubles).toEqual([]);
    });
    await page.goto(url);
    return page;
  };
}

/** Keeps a picture of the page where `PAWL_SCREENSHOTS` names a folder. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["PAWL_SCREENSHOTS"];
  if (folder === undefined || folder === "") return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
