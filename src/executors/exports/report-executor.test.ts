import { expect, test } from "vitest";
import { agentTask } from "../../../test/fakes/sandstorm/agent-task.ts";
import { MemoryFileStorage } from "../../../test/support/memory/memory-file-storage.ts";
import { programOf } from "../../../test/support/needs.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { renderReport, toMarkdown } from "./render-report.ts";
import { createReportExecutor } from "./report-executor.ts";

const NEVER = new AbortController().signal;
const HOSTILE = `
# Findings
<script>alert(1)</script> <img src=x onerror=alert(2)>
[click](javascript:alert(3)) [data](data:text/html,x) [ok](https://example.com/?a="b") <https://example.org>
![pixel](https://evil.example/track.gif) ![](data:image/svg+xml,x)
[a]: javascript:alert(4)
[a]

<iframe src="https://evil.example"></iframe>

\`\`\`html"><script>alert(5)</script>
</code></pre><script>alert(6)</script>
\`\`\`

| a | b |
|---|---|
| <b>x</b> | y |
`;

async function report(output: Json, more: JsonObject = {}, chromium?: string) {
  const files = new MemoryFileStorage();
  const input = { output, step: "summary", directory: "reports", title: "Weekly <report>", format: "html", ...more };
  const task = { ...agentTask({}, { files, runId: "r1" }), input };
  const executor = createReportExecutor({ mask: (text) => text, chromium: () => chromium });
  const outcome = await executor.run(task, NEVER);
  if (outcome.status !== "succeeded") throw new Error(outcome.message);
  return { output: outcome.output, produced: outcome.files ?? [], files, logged: task.logged };
}

test("a report is a page in the storage, and an artifact of the run", async () => {
  const { output, produced, files } = await report("Hello **you**.", { language: "pt-BR", date: "2026-01-02" });
  expect(output).toEqual({ path: "reports/summary-r1.html", format: "html" });
  const page = Buffer.from((await files.read("reports/summary-r1.html")) ?? "").toString();
  expect(produced).toEqual([{ name: "summary-r1.html", content: Buffer.from(page) }]);
  expect(page).toContain("<p>Hello <strong>you</strong>.</p>");
  expect(page).toContain('<html lang="pt-BR">');
  expect(page).toContain("<h1>Weekly &lt;report&gt;</h1>");
  expect(page).toContain("2026-01-02");
});

test("nothing that a model writes runs in a report, or asks for anything from outside", () => {
  const page = renderReport({ title: "x", markdown: HOSTILE, language: "en", facts: [] });
  const body = page.slice(page.indexOf("<main>"));
  const tags = [...body.matchAll(/<\/?([a-z0-9]+)/gi)].map(([, name]) => name?.toLowerCase());
  const allowed = ["main", "h1", "p", "a", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "body", "html"];
  expect(tags.filter((name) => !allowed.includes(name ?? ""))).toEqual([]);
  expect(body).not.toMatch(/<[^>]+\son\w+=/i);
  expect([...body.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual([
    "https://example.com/?a=%22b%22",
    "https://example.org",
    "https://evil.example/track.gif",
  ]);
  expect(page).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[^']+';/);
});

test("what cannot be read as Markdown is shown as it is", () => {
  for (const markdown of [">".repeat(50_000), `${"- ".repeat(20_000)}x`, "x".repeat(600_000)]) {
    const page = renderReport({ title: "x", markdown, language: "en", facts: [] });
    expect(page).toContain("</html>");
  }
});

test("data becomes a text for people", () => {
  expect(toMarkdown({ total_usd: 12.5, paid: true, note: null, items: [{ name: "A|B", n: 1 }, { name: "C" }] })).toBe(
    "- **Total usd:** 12.5\n- **Paid:** true\n- **Note:** –\n\n## Items\n\n" +
      "| Name | N |\n| --- | --- |\n| A\\|B | 1 |\n| C |  |\n",
  );
  expect(toMarkdown(["a", 1])).toBe("- a\n- 1\n");
  expect(toMarkdown({ summary: "One.\n\nTwo." })).toBe("## Summary\n\nOne.\n\nTwo.\n");
  expect(toMarkdown([{ deep: { list: [[1]] } }])).toContain("### Deep\n\n#### List\n\n##### 1\n\n- 1");
});

test("Markdown stays Markdown, and nothing is no report", async () => {
  const { produced, output } = await report("Hello.", { format: "markdown" });
  expect(output).toEqual({ path: "reports/summary-r1.md", format: "markdown" });
  expect(produced.map(({ content }) => Buffer.from(content).toString())).toEqual(["# Weekly <report>\n\nHello.\n"]);
  expect((await report(null)).output).toEqual({ path: null });
});

test("who asks for a PDF where nothing can print gets the page, and is told", async () => {
  const without = await report("Hello.", { format: "pdf" });
  expect(without.output).toMatchObject({ path: "reports/summary-r1.html", note: expect.stringContaining("Chromium") });
  expect(without.logged).toMatchObject([{ type: "report" }]);
  const broken = await report("Hello.", { format: "pdf" }, "/bin/false");
  expect(broken.output).toMatchObject({ format: "html", note: expect.stringContaining("could not print") });
  const missing = await report("Hello.", { format: "pdf" }, "/nowhere/chromium");
  expect(missing.output).toMatchObject({ format: "html", note: expect.stringContaining("ENOENT") });
});

test("a real Chromium prints the page", async () => {
  const { output, produced } = await report("# Hello\n\nA report.", { format: "pdf" }, programOf("chromium"));
  expect(output).toEqual({ path: "reports/summary-r1.pdf", format: "pdf" });
  expect(
    Buffer.from(produced[0]?.content ?? [])
      .subarray(0, 5)
      .toString(),
  ).toBe("%PDF-");
});
