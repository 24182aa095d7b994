import { Suspense } from "react";
import { useNamed } from "../../data/use-address.ts";
import { Loading } from "../../parts/loading.tsx";
import { lazyView } from "../../parts/view-guard.tsx";
import { WorkflowList } from "./workflow-list.tsx";

const WorkflowPage = lazyView(async () => ({ default: (await import("./workflow-page.tsx")).WorkflowPage }));

/** All workflows, or the one that the address names, with its text and its graph. */
export function WorkflowsView() {
  const name = useNamed();
  if (name === "") return <WorkflowList />;
  return (
    <Suspense fallback={<Loading what="the editor" />}>
      <WorkflowPage key={name} name={name} />
    </Suspense>
  );
}
