import { cpus } from "node:os";
import type { Browser } from "playwright-core";
import { findTool } from "../../test/support/needs.ts";
import { benchAgentText } from "./agent-text.ts";
import { benchFanOutOnPage } from "./fan-out.ts";
import type { Figure } from "./figure.ts";
import { benchFirstLoad } from "./first-load.ts";
import { benchHourOnPage } from "./hour.ts";
import { benchManyRunsOnPage } from "./many-runs.ts";
import { launchBrowser } from "./measured-page.ts";

/** `node bench/web/main.ts [NAME ...]`: the pages in Debian's Chromium against a real server. Wants `npm run build`. */
const SCENARIOS: Record<string, (browser: Browser) => Promise<Figure[]>> = {
  "first-load": benchFirstLoad,
  "many-runs": benchManyRunsOnPage,
  "fan-out": benchFanOutOnPage,
  "agent-text": benchAgentText,
  hour: benchHourOnPage,
};

const chromium = findTool("chromium");
if (chromium === undefined) {
  console.log("The pages are not measured: there is no chromium.");
  process.exit(0);
}

const wanted = process.argv.slice(2);
console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}\n`);
console.log("| what | measured | wanted | |");
console.log("|---|---|---|---|");
const browser = await launchBrowser(chromium);
try {
  for (const [name, bench] of Object.entries(SCENARIOS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    for (const figure of await bench(browser)) console.log(toRow(figure));
  }
} finally {
  await browser.close();
}

function toRow({ name, measured, unit, atMost, note = "" }: Figure): string {
  const asked = atMost === undefined ? "" : `at most ${atMost} ${unit}, ${measured <= atMost ? "met" : "missed"}`;
  const digits = unit === "MB" || measured < 100 ? 1 : 0;
  return `| ${name} | ${unit === "rows" ? measured : measured.toFixed(digits)} ${unit} | ${asked} | ${note} |`;
}
