import { hash } from "node:crypto";
import MarkdownIt from "markdown-it";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

export interface ReportPage {
  readonly title: string;
  /** Untrusted Markdown. */
  readonly markdown: string;
  readonly language: string;
  /** The line below the title, such as the name of the workflow. */
  readonly facts: readonly string[];
}

/** A longer text, or one with more brackets, is shown as it is written: parsing it would block everything else. */
const MAX_CHARS = 200_000;
const MAX_BRACKETS = 5_000;

/** A page for reading and printing that loads nothing and runs nothing: HTML is shown as text, links lead to web and mail addresses only. */
export function renderReport({ title, markdown, language, facts }: ReportPage): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="${escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title)}</h1>
<p>${facts.map(escapeHtml).join(" · ")}</p>
</header>
<main>
${renderBody(markdown)}</main>
</body>
</html>
`;
}

function renderBody(markdown: string): string {
  const brackets = markdown.split("[").length - 1;
  return markdown.length > MAX_CHARS || brackets > MAX_BRACKETS ? toPlain(markdown) : newReader().render(markdown);
}

function toPlain(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>\n`;
}

/** Raw HTML is text (`html: false`), and nothing becomes a link that was not written as one. */
function newReader(): InstanceType<typeof MarkdownIt> {
  const reader = new MarkdownIt({ html: false, linkify: false });
  reader.validateLink = isSafe;
  const { link_open: openLink } = reader.renderer.rules;
  reader.renderer.rules.link_open = (tokens, index, options, env, self) => {
    tokens[index]?.attrSet("rel", "noopener noreferrer nofollow");
    return openLink === undefined
      ? self.renderToken(tokens, index, options)
      : openLink(tokens, index, options, env, self);
  };
  reader.renderer.rules.image = (tokens, index) => {
    const { content = "", attrGet } = tokens[index] ?? {};
    const source = String(attrGet?.call(tokens[index], "src") ?? "");
    const name = escapeHtml(content === "" ? "image" : `image: ${content}`);
    return `<a href="${escapeHtml(source)}" rel="noopener noreferrer nofollow">${name}</a>`;
  };
  return reader;
}

function isSafe(href: string): boolean {
  const url = URL.parse(href);
  return url !== null && ["http:", "https:", "mailto:"].includes(url.protocol);
}

function escapeHtml(text: string): string {
  const signs: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return text.replaceAll(/[&<>"']/g, (sign) => signs[sign] ?? sign);
}

const STYLE = `
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 46rem; padding: 3rem 1.5rem 4rem; color: #1d2025; background: #fff;
  font: 1rem/1.6 system-ui, "Segoe UI", "Helvetica Neue", "Noto Sans", sans-serif; overflow-wrap: break-word; hyphens: auto; }
header { border-bottom: 2px solid #1d2025; margin-bottom: 2rem; }
header p { color: #5a616b; font-size: .85rem; margin: .2rem 0 .8rem; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 2rem 0 .6rem; break-after: avoid; text-wrap: balance; hyphens: manual; }
h1 { font-size: 1.9rem; } header h1 { margin: 0; } h2 { font-size: 1.35rem; } h3 { font-size: 1.12rem; } h4, h5, h6 { font-size: 1rem; }
p, ul, ol { margin: .6rem 0; } li { margin: .2rem 0; }
a { color: #0b5394; }
blockquote { border-left: 3px solid #c5cad1; color: #454b54; margin: 1rem 0; padding: .1rem 1rem; }
code, pre { font: .88em/1.5 ui-monospace, "SFMono-Regular", "DejaVu Sans Mono", monospace; background: #f3f4f6; border-radius: 4px; hyphens: manual; }
code { padding: .1em .3em; } pre { padding: .8rem 1rem; white-space: pre-wrap; } pre code { padding: 0; background: none; font-size: 1em; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #d9dde3; padding: .4rem .6rem; text-align: left; vertical-align: top; }
th { border-bottom-color: #1d2025; }
hr { border: 0; border-top: 1px solid #d9dde3; margin: 2rem 0; }
@page { size: A4; margin: 20mm 18mm 22mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  tr, blockquote, pre { break-inside: avoid; } thead { display: table-header-group; }
  a { color: inherit; } main a[href^="http"]::after { content: " (" attr(href) ")"; font-size: .85em; color: #5a616b; }
}
`;

const DEEPEST_HEADING = 6;
const MOST_COLUMNS = 8;
const SHORT = 200;

/** An output as a text for people: a text as it is, objects as parts with headings, lists of flat objects as tables. */
export function toMarkdown(output: Json): string {
  return `${toPart(output, 2).trim()}\n`;
}

function toPart(value: Json, depth: number): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return toList(value, depth);
  if (isJsonObject(value)) return toSections(value, depth);
  return toShort(value);
}

function toList(list: readonly Json[], depth: number): string {
  if (list.every(isShort)) return list.map((entry) => `- ${toShort(entry)}`).join("\n");
  if (list.every(isJsonObject)) {
    const columns = [...new Set(list.flatMap((row) => Object.keys(row)))];
    const isFlat = list.every((row) => Object.values(row).every(isShort));
    if (isFlat && columns.length <= MOST_COLUMNS) return toTable(list, columns);
  }
  return list.map((entry, index) => section(`${index + 1}`, entry, depth)).join("\n\n");
}

function toSections(value: JsonObject, depth: number): string {
  const entries = Object.entries(value);
  const short = entries.filter(([, entry]) => isShort(entry));
  const long = entries.filter(([, entry]) => !isShort(entry));
  const facts = short.map(([name, entry]) => `- **${toLabel(name)}:** ${toShort(entry)}`).join("\n");
  const parts = long.map(([name, entry]) => section(toLabel(name), entry, depth));
  return [facts, ...parts].filter((part) => part !== "").join("\n\n");
}

function section(title: string, value: Json, depth: number): string {
  // Deeper than headings go, structure is shown as what it is.
  if (depth > DEEPEST_HEADING) return `${"```"}json\n${writeExact(value, 2)}\n${"```"}`;
  return `${"#".repeat(depth)} ${title}\n\n${toPart(value, depth + 1)}`;
}

function toTable(rows: readonly JsonObject[], columns: readonly string[]): string {
  const cells = rows.map((row) => columns.map((column) => (Object.hasOwn(row, column) ? toShort(row[column]) : "")));
  const lines = [columns.map(toLabel), columns.map(() => "---"), ...cells];
  return lines.map((line) => `| ${line.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`).join("\n");
}

/** Fits on a line, and is no structure. */
function isShort(value: Json): boolean {
  if (typeof value === "string") return value.length <= SHORT && !value.includes("\n");
  return value === null || typeof value !== "object";
}

function toShort(value: Json | undefined): string {
  return value === null || value === undefined ? "–" : String(value).replaceAll(/\s+/g, " ").trim();
}

function toLabel(name: string): string {
  const words = name.replaceAll(/[_\s-]+/g, " ").trim();
  return words === "" ? "–" : words.charAt(0).toUpperCase() + words.slice(1);
}
