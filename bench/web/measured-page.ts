import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];

export function launchBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: FLAGS });
}

/** Notes the time of each frame, when a row of a list is first seen, and when the text of a model is. */
const WATCHER = `(() => {
  const row = Promise.withResolvers();
  const seen = (globalThis.seen = { frames: [], row: row.promise, texts: {} });
  const tick = (at) => { seen.frames.push(at); requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  let hasRow = false;
  const look = () => {
    if (!hasRow && document.querySelector('[role="list"] [role="listitem"]') !== null) {
      hasRow = true;
      requestAnimationFrame(() => setTimeout(() => row.resolve(performance.now())));
    }
    const pane = document.querySelector("[data-step]");
    for (const [text] of pane?.textContent.matchAll(/word-\\d+\\./g) ?? []) seen.texts[text] ??= Date.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
})()`;

/** A page of its own in a real browser that tells how it fares. */
export class MeasuredPage {
  readonly page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.page = page;
    this.#session = session;
  }

  static async open(browser: Browser, url: string): Promise<MeasuredPage> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.on("pageerror", (error) => console.error(error));
    await page.addInitScript(WATCHER);
    const session = await context.newCDPSession(page);
    await session.send("Performance.enable");
    await page.goto(url);
    return new MeasuredPage(page, session);
  }

  /** From navigation until rows of a list are on the screen. */
  rowMs(): Promise<number> {
    return this.page.evaluate<number>("seen.row");
  }

  /** When each word of a model was in the step that is looked at. */
  texts(): Promise<Readonly<Record<string, number>>> {
    return this.page.evaluate("seen.texts");
  }

  /** How long each frame took from now until `work` has ended. With `BENCH_PAGE_PROFILE` it also prints what kept the page busy. */
  async frameTimes(work: () => Promise<unknown>): Promise<readonly number[]> {
    await this.page.evaluate("seen.frames.length = 0");
    if (process.env["BENCH_PAGE_PROFILE"] === undefined) await work();
    else console.error((await this.#profile(work)).join("\n"));
    const frames = await this.page.evaluate<number[]>("seen.frames");
    return frames.slice(1).map((at, index) => at - (frames[index] ?? at));
  }

  /** What the page's script holds when everything that nobody needs has been collected. */
  async heapMb(): Promise<number> {
    await this.#session.send("HeapProfiler.collectGarbage");
    const { metrics } = await this.#session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? Number.NaN) / 1e6;
  }

  close(): Promise<void> {
    return this.page.context().close();
  }

  /** The functions with most time of their own. */
  async #profile(work: () => Promise<unknown>): Promise<readonly string[]> {
    await this.#session.send("Profiler.enable");
    await this.#session.send("Profiler.start");
    await work();
    const { profile } = await this.#session.send("Profiler.stop");
    const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
    const spent = new Map<string, number>();
    for (const [index, sample] of (profile.samples ?? []).entries()) {
      const frame = names.get(sample);
      const name = `${frame?.functionName} ${frame?.url.split("/").at(-1)}:${frame?.lineNumber}:${frame?.columnNumber}`;
      spent.set(name, (spent.get(name) ?? 0) + (profile.timeDeltas?.[index] ?? 0) / 1_000);
    }
    const most = [...spent].sort(([, a], [, b]) => b - a).slice(0, 25);
    return most.map(([name, ms]) => `${ms.toFixed(0)} ms ${name}`);
  }
}
