import { useQueryClient } from "@tanstack/react-query";
import type { ApiError } from "pawl/client";
import { useState } from "react";
import { useServer } from "../../data/server.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Check, Choice, TextField } from "../../parts/fields.tsx";
import { Problem } from "../../parts/problem.tsx";
import type { MadeKey } from "./new-key.tsx";

const SCOPES = ["read", "run", "write", "admin"] as const;
type Scope = (typeof SCOPES)[number];

interface KeyFormProps {
  /** There is no other yet. */
  readonly isFirst: boolean;
  readonly onClose: () => void;
  readonly onMade: (key: MadeKey) => void;
}

/** A key is made. Where the tab has none it takes the new one, as the server wants one from now on. */
export function KeyForm({ isFirst, onClose, onMade }: KeyFormProps) {
  const { client, keys } = useServer();
  const queries = useQueryClient();
  const isOpenServer = isFirst && keys.key === undefined;
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>(isOpenServer ? "admin" : "run");
  const [tenant, setTenant] = useState("");
  const [cost, setCost] = useState("");
  const [grant, setGrant] = useState("");
  const [days, setDays] = useState("");
  const [tellsContext, setTellsContext] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const isCostWrong = cost.trim() !== "" && !(Number(cost) > 0);
  const make = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { key } = await client.call("POST /keys", {
        name: name.trim(),
        scopes: [scope],
        tells_context: tellsContext,
        ...(tenant.trim() === "" ? {} : { tenant_id: tenant.trim() }),
        ...(cost.trim() === "" ? {} : { max_cost_usd: Number(cost) }),
        ...(grant.trim() === "" ? {} : { grant: grant.trim() }),
        ...(days === "" ? {} : { expires_in_days: Number(days) }),
      });
      const isTaken = keys.key === undefined;
      if (isTaken) keys.set(key);
      else void queries.invalidateQueries();
      onMade({ name: name.trim(), key, isTaken });
    } catch (failure) {
      setError(failure as ApiError);
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New key"
      onClose={onClose}
      actions={
        <Button kind="main" isBusy={isBusy} disabled={name.trim() === "" || isCostWrong} onClick={() => void make()}>
          Make it
        </Button>
      }
    >
      <div className="grid gap-3">
        {isOpenServer && (
          <p className="rounded border border-warn/50 px-3 py-2 text-warn">
            This server has no keys yet. From the first one on every request needs a key: make one with the scope admin
            first, or nobody can make others from here. This tab will use it.
          </p>
        )}
        <TextField
          label="Who it is for"
          autoFocus
          maxLength={200}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <Choice
          label="Scope"
          value={scope}
          choices={[
            ["read", "read: see everything"],
            ["run", "run: also start and answer runs"],
            ["write", "write: also change definitions and schedules"],
            ["admin", "admin: also manage keys and budgets"],
          ]}
          onPick={(value) => setScope(SCOPES.find((each) => each === value) ?? "run")}
        />
        <TextField
          label="Grant"
          placeholder="as for texts that are sent"
          value={grant}
          note="What texts may reach that come with it: terminals, variables:API_*, servers:github, commands, addresses:10.0.0.0/8, code:network, separated by commas; or everything, or nothing."
          onChange={({ target }) => setGrant(target.value)}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Tenant"
            placeholder="everybody"
            note="It sees and starts runs of this tenant only."
            value={tenant}
            onChange={({ target }) => setTenant(target.value)}
          />
          <TextField
            label="A run of it costs at most, in US dollars"
            inputMode="decimal"
            placeholder="no limit"
            value={cost}
            error={isCostWrong ? "A number above 0." : undefined}
            onChange={({ target }) => setCost(target.value)}
          />
        </div>
        <Choice
          label="Expires"
          value={days}
          choices={[
            ["", "never"],
            ["1", "in a day"],
            ["7", "in 7 days"],
            ["30", "in 30 days"],
            ["90", "in 90 days"],
            ["365", "in 365 days"],
          ]}
          onPick={setDays}
        />
        <Check
          label="Believe what its requests say of who asks (userInfo, sessionId, configuration)"
          isOn={tellsContext}
          onChange={setTellsContext}
        />
        {error !== undefined && <Problem error={error} />}
      </div>
    </Dialog>
  );
}
