import type { Context } from "hono";
import { isPawlError, PawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { answerApproval, findApproval, findOpenApproval } from "../../../operations/approvals/answer-approval.ts";
import { openApprovalLink } from "../../../operations/approvals/approval-link.ts";
import type { OpenApproval } from "../../../operations/approvals/describe-run-approvals.ts";
import { parseJson } from "../../../operations/parse-json.ts";
import { decodeUtf8 } from "../../../ports/decode-utf8.ts";
import { statusOfError } from "../answer-error.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { readBody } from "../read-body.ts";

const MAX_BYTES = 100_000;

/**
 * An address that was sent to a person: `GET` shows the one question that it is for and changes nothing, as programs that preview links
 * ask for it too; `POST` answers it, as the holder of the key that the address was made for.
 */
export async function answerLink(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  await parts.authorize(c, "anybody");
  try {
    const { id, key } = await openApprovalLink(parts.app, c.req.param("token") ?? "");
    c.set("key", key);
    const app = parts.appFor(c);
    if (c.req.method !== "POST") return toPage(formOf(await findOpenApproval(app, id), key.name));
    const fields = new URLSearchParams(decodeUtf8(await readBody(c.req.raw, MAX_BYTES), "keep") ?? "");
    const answer = fields.get("answer");
    if (answer !== "approve" && answer !== "reject")
      throw new PawlError("REQUEST_INVALID", { message: "The form says neither yes nor no." });
    const edited = answer === "approve" ? fields.get("edited") : null;
    const missing = await answerApproval(app, await findApproval(app, id), {
      answer,
      by: key.name,
      ...(fields.get("comment") ? { comment: fields.get("comment") ?? "" } : {}),
      ...(edited === null ? {} : { edited: parseJson(edited, "What you have made of it") }),
    });
    const more = missing === 0 ? "" : ` ${missing} more must approve.`;
    return toPage(`<p>Recorded: ${answer === "approve" ? "you have approved" : "you have rejected"}.${more}</p>`);
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return toPage(
      `<p>${escapeHtml(error.message)}</p><p>${escapeHtml(error.remedy)}</p>`,
      statusOfError(error.code, "envelope"),
    );
  }
}

function formOf(
  { workflow_name: workflow, message, shown, terms, allow_edit: mayEdit }: OpenApproval,
  name: string,
): string {
  const data = escapeHtml(writeExact(shown, 2));
  return `<h1>${escapeHtml(message)}</h1>
<p>The workflow “${escapeHtml(workflow)}” asks ${escapeHtml(name)}.${terms === null ? "" : ` It is ${escapeHtml(terms)}.`}</p>
<form method="post">
${mayEdit ? `<p><label>You may change it:<br><textarea name="edited" rows="12" cols="80">${data}</textarea></label></p>` : `<pre>${data}</pre>`}
<p><label>Comment<br><input name="comment" size="60" maxlength="10000"></label></p>
<p><button name="answer" value="approve">Approve</button> <button name="answer" value="reject">Reject</button></p>
</form>`;
}

/** No script runs in it, and nothing is loaded. */
function toPage(body: string, status = 200): Response {
  const style =
    "body{font:16px system-ui;max-width:48rem;margin:3rem auto;padding:0 1rem}pre,textarea{white-space:pre-wrap;overflow-wrap:anywhere;width:100%}button{font:inherit;padding:.4rem 1rem}";
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Approval</title><style>${style}</style>${body}</html>`;
  return new Response(html, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      // Without any a browser would not say from where the form comes.
      "referrer-policy": "same-origin",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
