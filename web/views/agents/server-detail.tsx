import { useState } from "react";
import { TextField } from "../../parts/fields.tsx";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { LongText } from "../../parts/value-view.tsx";
import { Id, Time } from "../../parts/values.tsx";
import { LogIn } from "./log-in.tsx";
import type { McpServer } from "./use-servers.ts";

/** An MCP server: how it is, how it is reached, and its tools in its own words. */
export function ServerDetail({ server }: { readonly server: McpServer }) {
  const { state, error, origin, next_try_at: nextTry } = server;
  return (
    <div className="grid gap-4">
      {error !== null && server.wants_login && (
        <Problem error={{ code: "MCP_LOGIN_NEEDED", message: error }}>
          <LogIn server={server.name} />
        </Problem>
      )}
      {error !== null && !server.wants_login && (
        <Problem
          error={{
            code: state === "failed" ? "It has failed" : "Its last failure, which is past",
            message: error,
            remedy: state === "failed" ? `Correct it in ${origin}, or take it out; then check it here.` : null,
          }}
        />
      )}
      <Facts
        facts={[
          ["State", <Status key="state" status={state} />],
          ...(nextTry === null ? [] : [["Is tried again", <Time key="next" at={nextTry} />] as const]),
          ["Calls under way", server.calls_in_flight],
          ["Connected anew", server.restarts === 0 ? "never" : `${server.restarts} times`],
          ["Transport", server.transport],
          [
            "Reached by",
            server.reached === null ? "its entry cannot be used" : <Id key="by" id={server.reached} whole />,
          ],
          ["Configured in", origin],
        ]}
      />
      <Tools tools={server.tools} />
    </div>
  );
}

/** With more of them they are looked for. */
const MANY = 8;

function Tools({ tools }: { readonly tools: McpServer["tools"] }) {
  const [wanted, setWanted] = useState("");
  if (tools === null) return <p className="text-soft">Its tools are known when it is connected: check it.</p>;
  const shown = tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted.toLowerCase()),
  );
  return (
    <section aria-labelledby="tools">
      <div className="mb-1 flex items-center gap-3">
        <h3 id="tools" className="font-semibold">
          {tools.length === 1 ? "1 tool" : `${tools.length} tools`}
        </h3>
        {tools.length > MANY && (
          <TextField
            label="Find a tool"
            hidesLabel
            type="search"
            placeholder="find a tool"
            value={wanted}
            onChange={({ target }) => setWanted(target.value)}
          />
        )}
      </div>
      <ul className="divide-y divide-line/60 border-y border-line/60">
        {shown.map(({ name, description }) => (
          <li key={name} className="py-1.5">
            <Id id={name} whole />
            {description === "" ? (
              <p className="text-soft">It says nothing of itself.</p>
            ) : (
              <LongText text={description} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
