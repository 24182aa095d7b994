import { Link } from "wouter";
import { Id } from "./values.tsx";

/** The run that something is about: its workflow, which leads to it, and its id. */
export function RunLink({ id, workflow }: { readonly id: string; readonly workflow: string }) {
  return (
    <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
      <Link href={`/runs/${id}`} className="break-all text-accent underline">
        {workflow}
      </Link>
      <Id id={id} />
    </span>
  );
}
