import { useRef } from "react";
import { Link } from "wouter";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { beginningOf, isDialect } from "./dialects.ts";
import { Workbench } from "./workbench.tsx";

/** A workflow as the server has it, or a new one whose dialect the address says. */
export function WorkflowPage({ name }: { readonly name: string }) {
  const [fresh, setFresh] = useInAddress("new");
  const { data, error } = useCall("GET /workflows/{name}", { name }, { enabled: fresh === "" });
  // Once it stands it stays, with what can be undone, also while a new one is read for the first time.
  const stands = useRef(false);
  stands.current ||= fresh !== "" || data !== undefined;
  if (error !== null && !stands.current) {
    return (
      <div className="grid gap-3 p-4">
        <Problem error={error} />
        <Link href="/workflows" className="text-accent underline">
          All workflows
        </Link>
      </div>
    );
  }
  if (!stands.current) return <Loading what="the workflow" />;
  return (
    <Workbench
      name={name}
      workflow={data}
      beginning={isDialect(fresh) ? beginningOf(fresh, name) : ""}
      onSaved={() => setFresh("")}
    />
  );
}
