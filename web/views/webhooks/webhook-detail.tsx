import type { OutputOf } from "pawl/client";
import { useAgainAt } from "../../data/use-again-at.ts";
import { useCall, useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { RunLink } from "../../parts/run-link.tsx";
import { Status } from "../../parts/status.tsx";
import { LongText } from "../../parts/value-view.tsx";
import { Id, Time, toDuration } from "../../parts/values.tsx";

type Webhook = OutputOf<"GET /webhooks/{id}">;

/** A message to one receiver, with each try and what was answered, and a button that sends it again. */
export function WebhookDetail({ id }: { readonly id: string }) {
  const query = useCall("GET /webhooks/{id}", { id });
  const { data: webhook, error } = query;
  useAgainAt(query, [webhook?.next_attempt_at ?? null]);
  const resend = useDo("POST /webhooks/{id}/resend");
  if (webhook === undefined) return error === null ? <Loading what="the delivery" /> : <Problem error={error} />;
  return (
    <div className="grid gap-4">
      <div>
        <Button kind="main" isBusy={resend.isPending} onClick={() => resend.mutate({ id })}>
          Send it again
        </Button>
        <p className="mt-1 text-xs text-soft">
          The same bytes with the same id, whatever became of it: a receiver that has taken it can tell.
        </p>
      </div>
      {resend.data !== undefined && (
        <p role="status" className="text-ok">
          {resend.data.note ?? "It is sent again now."}
        </p>
      )}
      {resend.error !== null && <Problem error={resend.error} />}
      {webhook.error !== null && <Problem error={webhook.error} />}
      <WebhookFacts webhook={webhook} />
      <Tries tries={webhook.attempts} />
    </div>
  );
}

const CHANNELS = { webhook: "a server", slack: "a channel of Slack", email: "people, by e-mail" } as const;

function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  const { run_id: run, workflow_name: workflow, next_attempt_at: next, completed_at: end, tenant_id: tenant } = webhook;
  return (
    <Facts
      facts={[
        ["Status", <Status key="status" status={webhook.status} />],
        ["Tells of", webhook.event],
        ["To", `${CHANNELS[webhook.channel]}: ${webhook.url}`],
        run === null ? ["Workflow", workflow] : ["Run", <RunLink key="run" id={run} workflow={workflow} />],
        ["Made", <Time key="made" at={webhook.created_at} />],
        ...(next === null ? [] : [["Next try", <Time key="next" at={next} />] as const]),
        ...(end === null ? [] : [["Ended", <Time key="end" at={end} />] as const]),
        ...(tenant === null ? [] : [["Tenant", tenant] as const]),
        ["Id", <Id key="id" id={webhook.webhook_id} whole />],
      ]}
    />
  );
}

function Tries({ tries }: { readonly tries: Webhook["attempts"] }) {
  return (
    <section aria-labelledby="tries">
      <h3 id="tries" className="mb-1 font-semibold">
        Tries
      </h3>
      {tries.length === 0 && <p className="text-soft">None yet.</p>}
      <ol className="divide-y divide-line/60 border-y border-line/60">
        {tries.map(({ at, duration_seconds: seconds, status, error, excerpt }) => (
          <li key={at} className="py-1.5">
            <div className="flex flex-wrap gap-x-3">
              <Time at={at} />
              <span className={status !== null && status < 300 ? "text-ok" : "text-bad"}>
                {status === null ? "no answer" : `HTTP ${status}`}
              </span>
              <span className="text-soft">{toDuration(seconds)}</span>
            </div>
            {error !== null && <p className="whitespace-pre-wrap break-words text-bad">{error}</p>}
            {excerpt !== null && excerpt !== "" && <LongText text={excerpt} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
