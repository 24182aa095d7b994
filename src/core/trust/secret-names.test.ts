import { expect, test } from "vitest";
import { describeCommand } from "./secret-names.ts";

test.each([
  ["npx -y @x/server-github /srv/keys", "npx -y @x/server-github /srv/keys"],
  ["run --api-key abc --fast", "run --api-key [redacted] --fast"],
  ["run --token=abc -v", "run --token=[redacted] -v"],
  ["GITHUB_TOKEN=abc server", "GITHUB_TOKEN=[redacted] server"],
])("%s is shown as %s", (written, shown) => {
  expect(describeCommand(written.split(" "))).toBe(shown);
});

test("a header is shown by its name", () => {
  expect(describeCommand(["mcp-remote", "--header", "Authorization: Bearer abc"])).toBe(
    "mcp-remote --header Authorization: [redacted]",
  );
});
