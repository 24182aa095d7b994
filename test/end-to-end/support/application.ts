import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder with files, removed when the test ends. */
export function application(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "pawl-app-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** One step, `answer`, that is asked `{input.question}`. */
export const QUESTION = `
name: question
steps:
  - id: answer
    prompt: "{input.question}"
`;

/** One step, `draft`, and a person who looks at it. */
export const REVIEW = `
name: review
steps:
  - id: draft
    prompt: Write something.
  - id: look
    type: approval
    depends_on: [draft]
    approval_config:
      message: Is it good?
      show_data: steps.draft.output
      allow_edit: true
`;

/** Every agent answers at once: 42. */
export const AT_ONCE = `
steps:
  answer: {reply: "42", delay_ms: 0, cost_usd: 0.01}
  draft: {reply: "A draft.", delay_ms: 0, cost_usd: 0.01}
`;

/** The first try never answers; whoever tries again is answered at once. */
export const SLOW_ONCE = `
steps:
  answer:
    - {hang: true}
    - {reply: "42", delay_ms: 0, cost_usd: 0.01}
`;
