import { lazy, Suspense } from "react";
import { useParams } from "wouter";
import { Loading } from "../../parts/loading.tsx";
import { WorkflowList } from "./workflow-list.tsx";

const WorkflowPage = lazy(async () => ({ default: (await import("./workflow-page.tsx")).WorkflowPage }));

/** All workflows, or the one that the address names, with its text and its graph. */
export function WorkflowsView() {
  const name = decode(useParams()["*"] ?? "");
  if (name === "") return <WorkflowList />;
  return (
    <Suspense fallback={<Loading what="the editor" />}>
      <WorkflowPage key={name} name={name} />
    </Suspense>
  );
}

function decode(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
