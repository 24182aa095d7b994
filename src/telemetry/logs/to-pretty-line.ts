/** `2026-01-02T03:04:05.678Z INFO  run finished run_id=0193... status=completed`, from the line as JSON. */
export function toPrettyLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${toValue(value)}`);
  return [String(time), String(level).toUpperCase().padEnd(5), withoutControls(String(msg)), ...pairs].join(" ");
}

function toValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[\x21-\x7e]+$/.test(text) && !/["=]/.test(text) ? text : JSON.stringify(text);
}

/** What comes from elsewhere must not move the cursor of whoever reads it. Line breaks stay: problems are shown with their lines. */
function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
