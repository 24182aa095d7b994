import { expect, test } from "vitest";
import { showUrl } from "./show-receiver.ts";

test.each([
  ["https://example.org/hook", "https://example.org/hook"],
  ["https://user:pass@example.org:8443/a?x=1#frag", "https://[redacted]@example.org:8443/a?x=[redacted]"],
  ["https://example.org/?key=secret&plain", "https://example.org/?key=[redacted]&[redacted]"],
  [`\${CALLBACK_URL}`, `\${CALLBACK_URL}`],
  [`https://example.org/?key=\${HOOK_KEY}`, `https://example.org/?key=\${HOOK_KEY}`],
  ["https://example.org/hidden", "https://example.org/***"],
])("%s is shown as %s", (url, shown) => {
  expect(showUrl(url, (text) => text.replace("hidden", "***"))).toBe(shown);
});
