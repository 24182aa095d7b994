import { type ApiError, type InputOf, parseExact } from "pawl/client";
import { useState } from "react";
import { useLocation } from "wouter";
import { useServer } from "../../data/server.tsx";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";

type Asked = InputOf<"POST /workflows/run">[0];

/** Templates that run with simulated agents alone, each showing something else. */
const THINGS = [
  {
    template: "lead-enrichment",
    title: "A fan-out over companies",
    why: "Companies are read, looked up and scored side by side, and the scores become a file.",
  },
  {
    template: "content-pipeline",
    title: "A run that asks you",
    why: "It drafts a text and waits for a person: approve it in Approvals.",
  },
  {
    template: "support-triage",
    title: "Several steps, and a judge",
    why: "Tickets are sorted and answered. What is sent is yours to say: change an answer before.",
  },
] as const;

/** What a fresh server shows: three things to try, each one click, with agents that are simulated and cost nothing. */
export function FirstPage() {
  const { client } = useServer();
  const [, go] = useLocation();
  const [busy, setBusy] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const start = async (name: string) => {
    setBusy(name);
    setError(undefined);
    try {
      const { workflow, input, files } = await client.call("GET /templates/{name}", { name });
      const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? "";
      const asked: Asked = { workflow: textOf(workflow), input: parseExact(textOf(input)), agent: "simulated" };
      const { run_id } = await client.call("POST /workflows/run", asked);
      go(`/runs/${run_id}`);
    } catch (failure) {
      setError(failure as ApiError);
      setBusy(undefined);
    }
  };
  return (
    <div className="mx-auto w-full max-w-4xl overflow-auto px-4 py-10">
      <h2 className="text-lg font-semibold">Nothing has run here yet</h2>
      <p className="mt-1 text-soft">
        Three things to try. Their agents are simulated: nothing is sent anywhere, and nothing is paid.
      </p>
      <ul className="mt-5 grid gap-3 md:grid-cols-3">
        {THINGS.map(({ template, title, why }) => (
          <li key={template} className="flex flex-col rounded-lg border border-line bg-surface p-4">
            <h3 className="font-semibold">{title}</h3>
            <p className="mt-1 flex-1 text-soft">{why}</p>
            <div className="mt-3">
              <Button kind="main" isBusy={busy === template} onClick={() => void start(template)}>
                {busy === template ? "Starting …" : "Try it"}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {error && (
        <div className="mt-4">
          <Problem error={error} />
        </div>
      )}
      <p className="mt-6 text-soft">
        Your own workflows stand in the folder <code className="font-mono text-xs">workflows/</code> of the application,
        or are saved in the view <em>Workflows</em>. From a shell:{" "}
        <code className="font-mono text-xs">pawl run FILE</code>.
      </p>
    </div>
  );
}
