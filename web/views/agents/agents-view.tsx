import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { ListAndDetail } from "../../parts/list-and-detail.tsx";
import { ListPane } from "../../parts/list-pane.tsx";
import { Empty } from "../../parts/loading.tsx";
import { useRowKeys } from "../../parts/row-keys.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { TwoLineRow } from "../../parts/two-line-row.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";
import { AgentDetail } from "./agent-detail.tsx";
import { CheckServers } from "./check-servers.tsx";
import { FinishLogin } from "./log-in.tsx";
import { ServerDetail } from "./server-detail.tsx";
import { useServers } from "./use-servers.ts";

/** The application's agents, and the MCP servers whose tools they have. */
export function AgentsView() {
  const [tab, setTab] = useInAddress("tab", "agents");
  const [name, setName] = useInAddress("name");
  const agents = useCall("GET /agents", {});
  const servers = useServers();
  const isAgents = tab !== "servers";
  const shown = (isAgents ? agents.data?.items : servers.data?.items) ?? [];
  const at = useRowKeys({
    count: shown.length,
    onOpen: (index) => setName(shown[index]?.name ?? ""),
    onClose: () => setName(""),
  });
  const server = isAgents ? undefined : servers.data?.items.find((each) => each.name === name);
  const detail =
    name === "" ? undefined : isAgents ? (
      <AgentDetail key={name} name={name} />
    ) : (
      server && <ServerDetail key={name} server={server} />
    );
  return (
    <>
      <ViewBar title="Agents" actions={!isAgents && <CheckServers />}>
        <Tabs
          label="Agents"
          tabs={[
            ["agents", "Agents", agents.data?.items.length ?? 0],
            ["servers", "MCP servers", servers.data?.items.length ?? 0],
          ]}
          value={tab}
          onPick={(picked) => {
            setName("");
            setTab(picked);
          }}
        />
      </ViewBar>
      <FinishLogin />
      {isAgents && <BrokenFiles files={agents.data?.broken ?? []} />}
      <ListAndDetail
        title={name}
        onClose={() => setName("")}
        {...(detail && { detail })}
        list={
          isAgents ? (
            <AgentList at={at} name={name} onPick={setName} />
          ) : (
            <ServerList at={at} name={name} onPick={setName} />
          )
        }
      />
    </>
  );
}

interface ListProps {
  readonly at: number;
  readonly name: string;
  readonly onPick: (name: string) => void;
}

const NO_MORE = () => undefined;

function AgentList({ at, name: picked, onPick }: ListProps) {
  const { data, error, isPending } = useCall("GET /agents", {});
  return (
    <ListPane
      label="Agents"
      list={{ items: data?.items ?? [], error, isPending, more: NO_MORE }}
      at={at}
      height={52}
      keyOf={({ name }) => name}
      row={({ name, description, model, clients, origin }) => (
        <TwoLineRow
          sign="agent"
          isPicked={name === picked}
          onPick={() => onPick(name)}
          first={{
            title: name,
            left: <span className="font-medium">{name}</span>,
            right: model ?? "the configured model",
          }}
          second={{
            title: description ?? "",
            left: description ?? origin,
            right: clients === null ? "all servers" : clients.length === 0 ? "no servers" : clients.join(", "),
          }}
        />
      )}
      empty={
        <Empty title="The application has no agents.">
          Write them into <code className="font-mono text-xs">agents.json</code>, or into{" "}
          <code className="font-mono text-xs">.claude/agents</code>. Steps with a prompt of their own need none.
        </Empty>
      }
    />
  );
}

function ServerList({ at, name: picked, onPick }: ListProps) {
  const { data, error, isPending } = useServers();
  return (
    <ListPane
      label="MCP servers"
      list={{ items: data?.items ?? [], error, isPending, more: NO_MORE }}
      at={at}
      height={52}
      keyOf={({ name }) => name}
      row={({ name, state, error: failure, tools, reached, calls_in_flight: calls }) => (
        <TwoLineRow
          sign={state}
          isPicked={name === picked}
          onPick={() => onPick(name)}
          first={{
            title: name,
            left: <span className="font-medium">{name}</span>,
            right: calls > 0 ? `${calls} ${calls === 1 ? "call" : "calls"} under way` : state,
          }}
          second={{
            title: (state === "failed" ? failure : reached) ?? "",
            left:
              state === "failed" ? (
                <span className="text-bad">{failure}</span>
              ) : (
                (reached ?? "its entry cannot be used")
              ),
            right: tools === null ? "" : `${tools.length} ${tools.length === 1 ? "tool" : "tools"}`,
          }}
        />
      )}
      empty={
        <Empty title="No MCP server is known.">
          Name them in <code className="font-mono text-xs">.mcp.json</code> of the application, or under{" "}
          <code className="font-mono text-xs">mcp.servers</code> in pawl.yaml: their tools are there for agents.
        </Empty>
      }
    />
  );
}

function BrokenFiles({ files }: { readonly files: readonly string[] }) {
  if (files.length === 0) return null;
  return (
    <p role="alert" className="border-b border-line bg-warn/8 px-3 py-1.5 text-sm">
      <span className="text-warn">{files.join(", ")} cannot be used.</span> See what is wrong:{" "}
      <code className="font-mono text-xs">pawl agents validate</code>
    </p>
  );
}
