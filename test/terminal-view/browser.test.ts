import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openTerminal } from "../end-to-end/terminals/open-terminals.ts";
import { isInstalled, needs, programOf } from "../support/needs.ts";
import { liveView } from "./live-view.ts";

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

let browser: Browser;

needs("chromium");

beforeAll(async () => {
  if (!isInstalled("chromium")) return;
  // Each launch has an empty profile of its own.
  browser = await chromium.launch({ executablePath: programOf("chromium"), headless: true, args: FLAGS });
});

afterAll(() => browser?.close());

test("a person watches a shell in the browser, and cannot type", async () => {
  const { terminals, urlOf } = await liveView();
  const { session_id, send } = await openTerminal(terminals);
  const page = await openPage(urlOf(session_id));

  await send("printf 'sum \\\\e[1;32m%s\\\\e[0m \\\\e[38;2;240;98;146mrose\\\\e[0m\\\\n' $((6 * 7))\n");

  await sees(page, "sum 42 rose");
  expect(await page.locator("#mode").textContent()).toBe("view only");
  await page.keyboard.type("echo typed");
  await send("echo after\n");
  await sees(page, "after");
  expect(await shown(page)).not.toContain("typed");
  expect(await page.locator("#kill").isVisible()).toBe(false);
});

test("where it is allowed, what is typed into the page reaches the program, and rules hold for it", async () => {
  const { terminals, urlOf } = await liveView({ canType: true }, { level: "high" });
  const { session_id, wait } = await openTerminal(terminals);
  const page = await openPage(urlOf(session_id));
  await sees(page, "bash$");

  await page.keyboard.type("expr 40 + 2; read -p 'what: ' w && echo got=$w\n");
  await wait("what: ");
  await page.keyboard.type("x\n");

  expect((await wait("got=x")).match_text).toBe("got=x");
  await sees(page, "42");
  await page.keyboard.type("sudo ls");
  await page.locator("#notice").waitFor({ state: "visible" });
  expect(await page.locator("#notice").textContent()).toMatch(/^Security violation/);
});

test("the token leaves the address at once, and the page has it still: opened again, and on the way to others", async () => {
  const { terminals, listUrl, token, base } = await liveView({ token: "a secret, with ümlauts %41 & signs" });
  const { session_id } = await openTerminal(terminals);
  const asked: string[] = [];
  const page = await openPage(listUrl, { asked: (url) => asked.push(url) });
  await page.locator("tbody tr").waitFor();
  expect(page.url()).toBe(new URL("/terminals", base).href);
  await page.reload();
  await page.locator("td.program a").click();
  await page.locator("#state.live").waitFor();
  expect(page.url()).toBe(new URL(`/terminals/${session_id}`, base).href);
  await page.reload();
  await page.locator("#state.live").waitFor();
  await page.locator("#back").click();
  await page.locator("tbody tr").waitFor();
  const bearing = asked.filter((url) => url.includes(encodeURIComponent(token).slice(0, 8)) || url.includes("token="));
  expect(bearing).toHaveLength(1);
  const stranger = await openPage(new URL("/terminals", base).href);
  await stranger.locator("#notice").waitFor({ state: "visible" });
  expect(await stranger.locator("tbody tr").count()).toBe(0);
});

test("a question of a program to its terminal is answered once, however many look on", async () => {
  const { terminals, urlOf } = await liveView({ canType: true });
  const { session_id, send, wait } = await openTerminal(terminals);
  const pages = await Promise.all([openPage(urlOf(session_id)), openPage(urlOf(session_id))]);
  for (const page of pages) await sees(page, "bash$");

  await send("printf '\\\\e[c\\\\e[6n'; read -t 1 -rn 99 -s x; printf %q \"$x\" | tr -cd c | wc -c\n");

  expect((await wait("^\\d+$")).match_text).toBe("1");
});

test("the list shows names from outside as text, and ends a session where that is allowed", async () => {
  const { terminals, listUrl } = await liveView({ canType: true });
  const evil = "bash --norc -i -s '<script>window.hurt=1</script>'";
  const { session_id, send } = await openTerminal(terminals, evil);
  await send("printf '\\\\e]0;<img src=x onerror=window.hurt=1>\\\\a'\n");
  const page = await openPage(listUrl);

  await page.locator("tbody tr").waitFor();
  expect(await page.locator("td.program a").textContent()).toBe(evil);
  expect(await page.locator("td.program small").textContent()).toBe("<img src=x onerror=window.hurt=1>");
  await page.locator("td.program a").click();
  await page.locator("#state.live").waitFor();
  expect(await page.locator("#title").textContent()).toBe("<img src=x onerror=window.hurt=1>");
  await page.locator("#back").click();
  page.once("dialog", (dialog) => void dialog.accept());
  await page.locator("td button.danger").click();
  await page.locator("#empty").waitFor();

  expect(terminals.find(session_id)).toBeUndefined();
  expect(await page.evaluate("window.hurt")).toBeUndefined();
});

test("the page says how the program has ended, and keeps its screen", async () => {
  const { terminals, urlOf } = await liveView();
  const { session_id, send } = await openTerminal(terminals);
  const page = await openPage(urlOf(session_id));
  await sees(page, "bash$");

  await send("echo last words; exit 3\n");

  await page.locator("#state", { hasText: "ended, exit 3" }).waitFor();
  await sees(page, "last words");
});

test("a page that is opened in the middle of a full-screen program shows it whole, in any window", async () => {
  const { terminals, urlOf } = await liveView({ canType: true });
  const { session_id, wait } = await openTerminal(terminals, "vim");
  await wait("~");
  const page = await openPage(urlOf(session_id), { viewport: { width: 700, height: 420 } });

  await sees(page, "~");
  await page.keyboard.type("iinserted words");
  await sees(page, "inserted words");
  const screen = await page.locator(".xterm-screen").boundingBox();
  const session = terminals.find(session_id)?.screen;

  expect((screen?.x ?? -1) >= 0 && (screen?.x ?? 0) + (screen?.width ?? 999) <= 700).toBe(true);
  expect((screen?.y ?? 0) + (screen?.height ?? 999)).toBeLessThanOrEqual(420);
  expect({ columns: session?.columns, rows: session?.rows }).toEqual({ columns: 120, rows: 30 });
});

/** A page; what its policy forbids, or a script that throws, fails the test. */
interface Opening {
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Hears every address that the page asks for. */
  asked?(url: string): void;
}

/** An address without the token is answered with 401, and the page that may have it. */
const WITHOUT_TOKEN = /status of 401/;

async function openPage(url: string, { viewport = { width: 1280, height: 800 }, asked }: Opening = {}): Promise<Page> {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("request", (request) => asked?.(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error" && !WITHOUT_TOKEN.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  return page;
}

async function shown(page: Page): Promise<string> {
  return (await page.locator(".xterm-rows > div").allTextContents()).join("\n").replaceAll("\u00a0", " ");
}

async function sees(page: Page, text: string): Promise<void> {
  await expect.poll(() => shown(page)).toContain(text);
}
