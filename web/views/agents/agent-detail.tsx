import { Link } from "wouter";
import { useCall } from "../../data/use-call.ts";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ValueView } from "../../parts/value-view.tsx";
import { Id } from "../../parts/values.tsx";

/** An agent as it would run: each setting with the place that it comes from, and the servers whose tools it may have. */
export function AgentDetail({ name }: { readonly name: string }) {
  const { data, error } = useCall("GET /agents/{name}", { name });
  if (error !== null && data === undefined) return <Problem error={error} />;
  if (data === undefined || data.name !== name) return <Loading what="the agent" />;
  const { description, origin, settings, servers } = data;
  return (
    <div className="grid gap-4">
      <Facts
        facts={[
          ...(description === null ? [] : [["Description", description] as const]),
          ["Name", <Id key="name" id={name} whole />],
          ["Written in", origin],
        ]}
      />
      <section aria-labelledby="agent-settings">
        <h3 id="agent-settings" className="mb-1 font-semibold">
          What it runs with
        </h3>
        <ul className="divide-y divide-line/60 border-y border-line/60">
          {settings.map(({ setting, value, origin: from }) => (
            <li key={setting} className="grid grid-cols-[9rem_minmax(0,1fr)] gap-x-3 gap-y-0.5 py-1.5">
              <span className="break-words font-mono text-xs text-soft">{setting}</span>
              <div className="min-w-0">
                {value === null ? (
                  <span className="text-soft">not set</span>
                ) : (
                  <ValueView label={setting} value={value} />
                )}
                <p className="break-words text-xs text-soft">{from === "default" ? "by default" : `from ${from}`}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="agent-servers">
        <h3 id="agent-servers" className="mb-1 font-semibold">
          MCP servers whose tools it may have
        </h3>
        {servers.length === 0 ? (
          <p className="text-soft">None.</p>
        ) : (
          <ul className="divide-y divide-line/60 border-y border-line/60">
            {servers.map((server) => (
              <li key={server.name} className="py-1.5">
                <Link
                  href={`/agents?tab=servers&name=${encodeURIComponent(server.name)}`}
                  className="text-accent underline"
                >
                  {server.name}
                </Link>{" "}
                <span className="break-words font-mono text-xs text-soft">{server.reached}</span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}
