import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openTerminal } from "../end-to-end/terminals/open-terminals.ts";
import { useBrowser } from "../support/browser.ts";
import { liveView } from "./live-view.ts";

const open = useBrowser();

test("a person watches a shell in the browser, and cannot type", async () => {
  const { terminals, urlOf } = await liveView();
  const { session_id, send } = await openTerminal(terminals);
  const page = await open(urlOf(session_id));

  await send("printf 'sum \\\\e[1;32m%s\\\\e[0m \\\\e[38;2;240;98;146mrose\\\\e[0m\\\\n' $((6 * 7))\n");

  await sees(page, "sum 42 rose");
  await page.getByText("Looking only.").waitFor();
  await page.keyboard.type("echo typed");
  await send("echo after\n");
  await sees(page, "after");
  expect(await shown(page)).not.toContain("typed");
});

test("where it is allowed, what is typed into the page reaches the program, and rules hold for it", async () => {
  const { terminals, urlOf } = await liveView({ canType: true }, { level: "high" });
  const { session_id, wait } = await openTerminal(terminals);
  const page = await open(urlOf(session_id));
  await page.getByText("What you type goes to the program").waitFor();

  await page.keyboard.type("expr 40 + 2; read -p 'what: ' w && echo got=$w\n");
  await wait("what: ");
  await page.keyboard.type("x\n");

  expect((await wait("got=x")).match_text).toBe("got=x");
  await sees(page, "42");
  await page.keyboard.type("sudo ls");
  await page.getByRole("alert").getByText("Security violation").waitFor();
});

test("the token leaves the address at once, and the page has it still: opened again, and on the way to others", async () => {
  const { terminals, listUrl, token, base } = await liveView({ token: "a secret, with ümlauts %41 & 'signs'" });
  const { session_id } = await openTerminal(terminals);
  const asked: string[] = [];
  const page = await open(base.href);
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(listUrl);
  const list = page.getByRole("list", { name: "Open terminals" });
  await list.getByRole("link", { name: "bash" }).waitFor();
  expect(page.url()).toBe(new URL("/ui/terminals", base).href);
  expect(await page.getByRole("navigation", { name: "Views" }).getByRole("link").allTextContents()).toEqual([
    "pawl",
    "Terminals",
  ]);
  await page.reload();
  await list.getByRole("link", { name: "bash" }).click();
  await page.getByText("● live").waitFor();
  expect(page.url()).toBe(new URL(`/ui/terminals/${session_id}`, base).href);
  await page.reload();
  await page.getByText("● live").waitFor();
  const bearing = asked.filter((url) => url.includes(token.slice(0, 8)) || url.includes("token="));
  expect(bearing).toHaveLength(1);
  const stranger = await open(new URL("/ui/terminals", base).href);
  await stranger.getByLabel("Key", { exact: true }).waitFor();
});

test("a question of a program to its terminal is answered once, however many look on", async () => {
  const { terminals, urlOf } = await liveView({ canType: true });
  const { session_id, send, wait } = await openTerminal(terminals);
  const pages = await Promise.all([open(urlOf(session_id)), open(urlOf(session_id))]);
  for (const page of pages) await sees(page, "bash$");

  await send("printf '\\\\e[c\\\\e[6n'; read -t 1 -rn 99 -s x; printf %q \"$x\" | tr -cd c | wc -c\n");

  expect((await wait("^\\d+$")).match_text).toBe("1");
});

test("the list shows names from outside as text, is fresh by itself, and a session is ended where that is allowed", async () => {
  const { terminals, listUrl } = await liveView({ canType: true });
  const page = await open(listUrl);
  await page.getByText("No terminal is open.").waitFor();
  const evil = "bash --norc -i -s '<script>window.hurt=1</script>'";
  const { session_id, send } = await openTerminal(terminals, evil);
  await send("printf '\\\\e]0;<img src=x onerror=window.hurt=1>\\\\a'\n");
  const link = page.getByRole("list", { name: "Open terminals" }).getByRole("link", { name: "bash" });
  await link.getByText(evil).waitFor();
  await link.getByText("<img src=x onerror=window.hurt=1>").waitFor();
  await link.click();
  await page.getByText("● live").waitFor();
  await page.getByRole("button", { name: "End it" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End it" }).click();
  await page.getByText("■ ended").waitFor();

  expect(terminals.find(session_id)).toBeUndefined();
  expect(await page.evaluate("window.hurt")).toBeUndefined();
});

test("the page says how the program has ended, and keeps its screen", async () => {
  const { terminals, urlOf } = await liveView();
  const { session_id, send } = await openTerminal(terminals);
  const page = await open(urlOf(session_id));
  await sees(page, "bash$");

  await send("echo last words; exit 3\n");

  await page.getByText("■ ended with 3").waitFor();
  await sees(page, "last words");
});

test("a page that is opened in the middle of a full-screen program shows it whole, in any window", async () => {
  const { terminals, urlOf } = await liveView({ canType: true });
  const { session_id, wait } = await openTerminal(terminals, "vim");
  await wait("~");
  const page = await open(urlOf(session_id), { viewport: { width: 900, height: 480 } });

  await sees(page, "~");
  await page.getByText("What you type goes to the program").waitFor();
  await page.keyboard.type("iinserted words");
  await sees(page, "inserted words");
  const screen = await page.locator(".xterm-screen").boundingBox();
  const session = terminals.find(session_id)?.screen;

  expect((screen?.x ?? -1) >= 0 && (screen?.x ?? 0) + (screen?.width ?? 999) <= 900).toBe(true);
  expect((screen?.y ?? 0) + (screen?.height ?? 999)).toBeLessThanOrEqual(480);
  expect({ columns: session?.columns, rows: session?.rows }).toEqual({ columns: 120, rows: 30 });
});

async function shown(page: Page): Promise<string> {
  return (await page.locator(".xterm-rows > div").allTextContents()).join("\n").replaceAll("\u00a0", " ");
}

async function sees(page: Page, text: string): Promise<void> {
  await expect.poll(() => shown(page)).toContain(text);
}
