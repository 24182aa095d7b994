import { useState } from "react";
import { useDo } from "../../data/use-call.ts";
import type { ItemOf } from "../../data/use-list.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Id, Time, toUsdText } from "../../parts/values.tsx";

type Key = ItemOf<"GET /keys">;

/** A key without what opens anything: its scopes, its grant in words, and a button that revokes it. */
export function KeyDetail({ of }: { readonly of: Key }) {
  const { key_id: id, name, scopes, tenant_id: tenant, max_cost_usd: cost, grant, may, may_not: mayNot } = of;
  const revoke = useDo("DELETE /keys/{id}");
  const [isAsking, setAsking] = useState(false);
  return (
    <div className="grid gap-4">
      {of.revoked_at === null && (
        <div>
          <Button kind="danger" isBusy={revoke.isPending} onClick={() => setAsking(true)}>
            Revoke
          </Button>
        </div>
      )}
      {revoke.error !== null && <Problem error={revoke.error} />}
      <Facts
        facts={[
          ["Scopes", scopes.join(", ")],
          ["Tenant", tenant ?? "of everybody"],
          ["A run of it costs at most", cost === null ? "no limit" : toUsdText(cost)],
          ["Grant", <Id key="grant" id={grant} whole />],
          ["Says who asks", of.tells_context ? "yes, and is believed" : "no"],
          ["Made", <Time key="made" at={of.created_at} />],
          ["Expires", <Time key="expires" at={of.expires_at} none="never" />],
          ...(of.revoked_at === null ? [] : [["Revoked", <Time key="revoked" at={of.revoked_at} />] as const]),
          ["Id", <Id key="id" id={id} whole />],
        ]}
      />
      <Sentences title="Texts that come with it may" lines={may} sign="✓" tone="text-ok" />
      <Sentences title="and may not" lines={mayNot} sign="✕" tone="text-bad" />
      {isAsking && (
        <AskFirst
          title={`Revoke the key of ${name}?`}
          yes="Revoke"
          onClose={() => setAsking(false)}
          onYes={() => {
            setAsking(false);
            revoke.mutate({ id });
          }}
        >
          From now on it opens nothing, and it cannot be made valid again. Runs that it has started go on.
        </AskFirst>
      )}
    </div>
  );
}

interface SentencesProps {
  readonly title: string;
  readonly lines: readonly string[];
  readonly sign: string;
  readonly tone: string;
}

function Sentences({ title, lines, sign, tone }: SentencesProps) {
  if (lines.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="mb-1 font-semibold">{title}</h3>
      <ul className="grid gap-0.5">
        {lines.map((line) => (
          <li key={line} className="flex gap-2">
            <span aria-hidden="true" className={tone}>
              {sign}
            </span>
            <span className="min-w-0 break-words">{line}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
