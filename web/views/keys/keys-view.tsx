import { useState } from "react";
import { useInAddress } from "../../data/use-address.ts";
import { type ItemOf, useList } from "../../data/use-list.ts";
import { useNow } from "../../data/use-now.ts";
import { Button } from "../../parts/button.tsx";
import { useKeys } from "../../parts/keys.ts";
import { ListAndDetail } from "../../parts/list-and-detail.tsx";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { Time } from "../../parts/values.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { KeyDetail } from "./key-detail.tsx";
import { KeyForm } from "./key-form.tsx";
import { type MadeKey, NewKey } from "./new-key.tsx";

type Key = ItemOf<"GET /keys">;

/** Who may use the service: keys, what they open, and what texts may reach that come with them. */
export function KeysView() {
  const list = useList("GET /keys", {}, { isNumbered: true });
  const { items, isSuccess } = list;
  const [id, setId] = useInAddress("id");
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const at = useRowKeys({
    count: items.length,
    onOpen: (index) => setId(items[index]?.key_id ?? ""),
    onClose: () => setId(""),
  });
  useKeys({ n: () => setMaking(true) });
  const picked = items.find(({ key_id }) => key_id === id);
  return (
    <>
      <ViewBar
        title="Keys"
        actions={
          <Button kind="main" hint="n" onClick={() => setMaking(true)}>
            New key
          </Button>
        }
      />
      <ListAndDetail
        title={picked?.name}
        onClose={() => setId("")}
        {...(picked && { detail: <KeyDetail key={id} of={picked} /> })}
        list={
          <ListPane
            label="Keys"
            list={list}
            height={52}
            at={at}
            keyOf={({ key_id }) => key_id}
            row={(each) => <KeyRow of={each} isPicked={each === picked} onPick={setId} />}
            empty={
              <Empty title="There are no keys.">
                Whoever is on the server's machine may use it, or has the one key of its settings. Make a key for each
                program and person, with what it may do; from the first one on every request needs a key.
              </Empty>
            }
          />
        }
      />
      {isMaking && (
        <KeyForm
          isFirst={isSuccess && items.length === 0}
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
          }}
        />
      )}
      {made !== undefined && <NewKey made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

interface KeyRowProps {
  readonly of: Key;
  readonly isPicked: boolean;
  readonly onPick: (id: string) => void;
}

function KeyRow({ of, isPicked, onPick }: KeyRowProps) {
  const { key_id: id, name, scopes, tenant_id: tenant, grant, created_at: made, expires_at: expires } = of;
  const now = useNow(expires !== null, 30_000);
  const state =
    of.revoked_at !== null ? "revoked" : expires !== null && Date.parse(expires) <= now ? "expired" : "valid";
  return (
    <TwoLineRow
      sign={state}
      isPicked={isPicked}
      onPick={() => onPick(id)}
      first={{
        title: name,
        left: (
          <>
            <span className={state === "valid" ? "font-medium" : "text-soft line-through"}>{name}</span>
            {tenant !== null && <span className="text-soft"> of the tenant {tenant}</span>}
          </>
        ),
        right:
          state === "valid" ? (
            <>
              made <Time at={made} />
            </>
          ) : (
            state
          ),
      }}
      second={{
        title: grant,
        left: `${scopes.join(", ")} · grants ${grant}`,
        right: state === "valid" && expires !== null && (
          <>
            expires <Time at={expires} />
          </>
        ),
      }}
    />
  );
}
