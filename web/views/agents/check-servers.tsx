import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";

/** Connects the configured servers and lists their tools: the page then shows how they are. */
export function CheckServers() {
  const check = useDo("GET /mcp-servers");
  return (
    <>
      <Button
        kind="main"
        isBusy={check.isPending}
        title="Connects those that are configured, and starts their programs, for at most 10 s"
        onClick={() => check.mutate({ check: true })}
      >
        {check.isPending ? "Connecting …" : "Check them"}
      </Button>
      {check.error !== null && (
        <Dialog title="They cannot be checked" onClose={check.reset}>
          <Problem error={check.error} />
        </Dialog>
      )}
    </>
  );
}
