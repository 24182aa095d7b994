import { useEffect } from "react";
import { useLocation } from "wouter";
import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/problem.tsx";

/** Sends the person to the issuer of a server's tokens, in this tab: its key is there when they are back. */
export function LogIn({ server }: { readonly server: string }) {
  const begin = useDo("POST /mcp-servers/{name}/login");
  const go = () =>
    begin.mutate({ name: server, page: location.origin }, { onSuccess: ({ address }) => location.assign(address) });
  return (
    <div className="grid justify-items-start gap-2">
      <Button kind="main" isBusy={begin.isPending || begin.isSuccess} onClick={go}>
        Log in
      </Button>
      {begin.error !== null && <Problem error={begin.error} />}
    </div>
  );
}

/** Takes what the person came back with, once: the address is the page's own again before anything else. */
export function FinishLogin() {
  const [, navigate] = useLocation();
  const finish = useDo("POST /mcp-servers/login");
  const check = useDo("GET /mcp-servers");
  const { mutate } = finish;
  useEffect(() => {
    const { state, code, error, iss } = Object.fromEntries(new URLSearchParams(location.search));
    if (state === undefined) return;
    navigate("/agents?tab=servers", { replace: true });
    mutate(
      { state, ...(code && { code }), ...(error && { error }), ...(iss && { iss }) },
      {
        onSuccess({ name }) {
          navigate(`/agents?${new URLSearchParams({ tab: "servers", name })}`, { replace: true });
          check.mutate({ check: true });
        },
      },
    );
  }, [mutate, navigate, check.mutate]);
  if (finish.error === null) return null;
  return (
    <Dialog title="The login has failed" onClose={finish.reset}>
      <Problem error={finish.error} />
    </Dialog>
  );
}
